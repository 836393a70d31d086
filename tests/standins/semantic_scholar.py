"""Semantic Scholar's Graph API: https://api.semanticscholar.org/api-docs/graph.

Does not search: it gives the papers it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "s2-test-0123456789"
KNOWN = {"title", "abstract", "year", "publicationDate", "externalIds", "url", "citationCount"}
KNOWN |= {"openAccessPdf", "authors.name", "tldr"}


def paper(number: int, **more: Any) -> dict[str, Any]:
    """One paper with all its fields; give others, or None, to change it."""
    return {
        "paperId": f"{number:040x}",
        "title": f"Tides {number}",
        "abstract": "We study tides.",
        "year": 2021,
        "publicationDate": "2021-05-04",
        "externalIds": {"DOI": f"10.1234/tt.{number}", "CorpusId": number},
        "url": f"https://www.semanticscholar.org/paper/{number:040x}",
        "citationCount": 7,
        "openAccessPdf": {"url": "https://ocean.example/t.pdf", "status": "GREEN"},
        "authors": [{"authorId": "1", "name": "A. Writer"}, {"authorId": None, "name": "B. Other"}],
        "tldr": {"model": "tldr@v2.0.0", "text": "Tides are cheap."},
        **more,
    }


class SemanticScholarServer(StandIn):
    """Gives its papers to searches, and to citations and references of the one paper it knows."""

    def __init__(self, papers: Iterable[dict[str, Any]] = (), *, key: str = KEY, known: str = "") -> None:
        super().__init__()
        self.papers = list(papers)
        self.key = key
        self.known = known

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key and these parameters."""
        if seen.headers.get("x-api-key", self.key) != self.key:
            return json_answer({"message": "Forbidden"}, 403)
        wanted = seen.params["fields"].split(",")
        is_search = seen.route == "/graph/v1/paper/search"
        if unknown := sorted(set(wanted) - (KNOWN if is_search else KNOWN - {"tldr"})):
            return json_answer({"error": f"Unrecognized or unsupported fields: [{', '.join(unknown)}]"}, 400)
        limit = int(seen.params["limit"])
        if not 1 <= limit <= (100 if is_search else 1000):
            return json_answer({"error": "Limit is out of bounds"}, 400)
        fields = {"paperId", *(name.partition(".")[0] for name in wanted)}
        shown = [{k: v for k, v in p.items() if k in fields} for p in self.papers[:limit]]
        return self._found(shown) if is_search else self._linked(seen.route, shown)

    def _found(self, shown: list[dict[str, Any]]) -> Answer:
        if not shown:
            return json_answer({"total": 0, "offset": 0})
        return json_answer({"total": len(self.papers), "offset": 0, "data": shown})

    def _linked(self, route: str, shown: list[dict[str, Any]]) -> Answer:
        paper_id, _, what = route.removeprefix("/graph/v1/paper/").rpartition("/")
        if paper_id != self.known:
            return json_answer({"error": f"Paper with id {paper_id} not found"}, 404)
        name = {"citations": "citingPaper", "references": "citedPaper"}[what]
        return json_answer({"offset": 0, "data": [{"contexts": [], name: p} for p in shown]})

"""OpenAlex's `GET /works`: https://developers.openalex.org/guides/searching.

Does not search: it gives the works it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "oa-test-0123456789"
FILTERS = {"from_publication_date", "to_publication_date", "language", "doi", "cites", "cited_by"}


def inverted(text: str) -> dict[str, list[int]]:
    """An abstract as OpenAlex keeps it."""
    index: dict[str, list[int]] = {}
    for place, word in enumerate(text.split()):
        index.setdefault(word, []).append(place)
    return index


def work(number: int, **more: Any) -> dict[str, Any]:
    """One work with all its fields; give others, or None, to change it."""
    return {
        "id": f"https://openalex.org/W{number}",
        "doi": f"https://doi.org/10.1234/tt.{number}",
        "display_name": f"Tides {number}",
        "title": f"Tides {number}",
        "relevance_score": 812.3,
        "publication_year": 2021,
        "publication_date": "2021-05-04",
        "language": "en",
        "cited_by_count": 7,
        "primary_location": {"landing_page_url": f"https://doi.org/10.1234/tt.{number}", "pdf_url": None},
        "best_oa_location": None,
        "open_access": {"is_oa": False, "oa_status": "closed", "oa_url": None},
        "authorships": [{"author_position": "first", "author": {"display_name": "A. Writer"}}],
        "abstract_inverted_index": inverted("Tides drive turbines; so Tides matter."),
        "is_retracted": False,
        **more,
    }


class OpenAlexServer(StandIn):
    """Gives `rounds` of works, one a request, the last one for ever; a single work by its DOI."""

    def __init__(self, *rounds: Iterable[dict[str, Any]], key: str = KEY) -> None:
        super().__init__()
        self.rounds = [list(works) for works in rounds] or [[]]
        self.key = key

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key and these parameters."""
        if seen.route.startswith("/works/doi:"):
            known = [w for works in self.rounds for w in works]
            name = f"https://doi.org/{unquote(seen.route.removeprefix('/works/doi:'))}"
            found = next((w for w in known if w["doi"] == name), None)
            return json_answer({"id": found["id"]}) if found else json_answer({"error": "Not found"}, 404)
        if seen.route != "/works":
            return Answer(404, {"content-type": "text/html"}, b"<h1>Not Found</h1>")
        if seen.headers.get("authorization", f"Bearer {self.key}") != f"Bearer {self.key}":
            return json_answer({"error": "Unauthorized", "message": "API key not found"}, 401)
        params = seen.params
        filters = [f.partition(":")[0] for f in params.get("filter", "").split(",") if f]
        if unknown := set(filters) - FILTERS:
            return _bad(f"Unknown filter field: {unknown}")
        if not 1 <= int(params["per_page"]) <= 100:
            return _bad("per_page must be between 1 and 100")
        works = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
        wanted = params["select"].split(",")
        shown = [{k: w.get(k) for k in wanted} for w in works[: int(params["per_page"])]]
        about = {"meta": {"count": len(works), "page": 1}, "results": shown}
        return json_answer(about, headers={"X-RateLimit-Remaining-USD": "0.979"})


def _bad(message: str) -> Answer:
    return json_answer({"error": "Invalid query parameters error.", "message": message}, 400)

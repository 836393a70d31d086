"""Europe PMC's `GET /search`: https://europepmc.org/RestfulWebService.

Does not search: it gives the papers it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer


def paper(number: int, **more: Any) -> dict[str, Any]:
    """One paper with all its fields; what is None is left out."""
    place = {"availability": "Open access", "documentStyle": "pdf", "url": "https://ocean.example/t.pdf"}
    fields = {
        "id": str(number),
        "source": "MED",
        "pmid": str(number),
        "pmcid": f"PMC{number}",
        "doi": f"10.1234/tt.{number}",
        "title": "Tides and <i>turbines</i>.",
        "authorString": "Writer A, Other B.",
        "pubYear": "2021",
        "firstPublicationDate": "2021-05-04",
        "isOpenAccess": "Y",
        "citedByCount": 7,
        "abstractText": "<h4>Background</h4>We study CO<sub>2</sub>.",
        "fullTextUrlList": {"fullTextUrl": [{"documentStyle": "html", "url": "https://x.example"}, place]},
        **more,
    }
    return {name: value for name, value in fields.items() if value is not None}


class EuropePmcServer(StandIn):
    """Gives `rounds` of papers, one a request, the last one for ever."""

    def __init__(self, *rounds: Iterable[dict[str, Any]]) -> None:
        super().__init__()
        self.rounds = [list(papers) for papers in rounds] or [[]]

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to these parameters."""
        if seen.route != "/europepmc/webservices/rest/search":
            return Answer(404, {"content-type": "text/html"}, b"<h1>Not found</h1>")
        if seen.params["format"] != "json":
            return Answer(200, {"content-type": "application/xml"}, b"<responseWrapper/>")
        if seen.params["query"].count("(") != seen.params["query"].count(")"):
            return json_answer({"version": "6.9"})
        hidden = set() if seen.params["resultType"] == "core" else {"abstractText", "fullTextUrlList"}
        papers = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
        page = papers[: int(seen.params["pageSize"])]
        shown = [{k: v for k, v in row.items() if k not in hidden} for row in page]
        request = {"queryString": seen.params["query"], "resultType": seen.params["resultType"]}
        counts = {"version": "6.9", "hitCount": len(papers), "request": request}
        return json_answer({**counts, "resultList": {"result": shown}})

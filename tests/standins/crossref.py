"""Crossref's `GET /works`: https://api.crossref.org/swagger-ui/index.html.

Does not search: it gives the works it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

PARAMS = {"query", "rows", "select", "filter", "mailto"}
FIELDS = {"DOI", "title", "author", "issued", "published", "abstract", "link", "license"}
FIELDS |= {"is-referenced-by-count", "updated-by"}


def work(number: int, **more: Any) -> dict[str, Any]:
    """One work with all its fields; what is None is left out."""
    fields = {
        "DOI": f"10.1234/tt.{number}",
        "title": [f"Tides {number}"],
        "author": [{"given": "Ann", "family": "Writer", "sequence": "first", "affiliation": []}],
        "issued": {"date-parts": [[2021]]},
        "published": {"date-parts": [[2021, 5, 4]]},
        "is-referenced-by-count": 7,
        "abstract": "<jats:title>Abstract</jats:title><jats:p>We study CO<jats:sub>2</jats:sub>.</jats:p>",
        "link": [{"URL": "https://ocean.example/t.pdf", "content-type": "application/pdf"}],
        "license": [{"URL": "https://creativecommons.org/licenses/by/4.0/", "content-version": "vor"}],
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return {name: value for name, value in fields.items() if value is not None}


def failure(kind: str, message: str) -> Answer:
    """A validation failure as Crossref writes it."""
    said = [{"type": kind, "value": "x", "message": message}]
    return json_answer({"status": "failed", "message-type": "validation-failure", "message": said}, 400)


class CrossrefServer(StandIn):
    """Gives its works, as many rows as are asked for."""

    def __init__(self, works: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__()
        self.works = list(works)

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to these parameters."""
        if seen.route != "/works":
            return Answer(404, {"content-type": "text/plain"}, b"Resource not found.")
        if unknown := set(seen.params) - PARAMS:
            return failure("parameter-not-allowed", f"Parameter {unknown} not allowed")
        if unknown := set(seen.params["select"].split(",")) - FIELDS:
            return failure("parameter-not-allowed", f"Select {unknown} not allowed")
        wanted = {f.removeprefix("doi:") for f in seen.params.get("filter", "").split(",") if "doi:" in f}
        found = [work for work in self.works if not wanted or work["DOI"].lower() in wanted]
        shown = found[: int(seen.params["rows"])]
        message = {"total-results": len(self.works), "items-per-page": 20, "items": shown}
        return json_answer({"status": "ok", "message-type": "work-list", "message": message})

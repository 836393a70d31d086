"""Wikipedia's `GET /w/api.php`, in every language: https://www.mediawiki.org/wiki/API:Search.

Does not search: it gives the articles it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer


def article(title: str, snippet: str = "Words.", timestamp: str = "2026-10-01T00:00:00Z") -> dict[str, Any]:
    """One article as the search lists it."""
    return {"ns": 0, "title": title, "pageid": 1, "size": 9, "snippet": snippet, "timestamp": timestamp}


def failure(code: str, info: str = "Something.") -> Answer:
    """An error as the action API writes it: a 200."""
    content = {"error": {"code": code, "info": info}, "servedby": "mw1"}
    return json_answer(content, 200, {"mediawiki-api-error": code})


class WikipediaServer(StandIn):
    """Gives `rounds` of articles, one a request, the last one for ever; the path begins with a language."""

    def __init__(self, *rounds: Iterable[dict[str, Any]]) -> None:
        super().__init__()
        self.rounds = [list(articles) for articles in rounds] or [[]]

    @property
    def template(self) -> str:
        """The address with a place for the language."""
        return self.url + "/{language}"

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to these parameters."""
        if not seen.route.endswith("/w/api.php"):
            return Answer(404, {"content-type": "text/html"}, b"<h1>Not Found</h1>")
        if "python" in seen.headers.get("user-agent", "python").lower():
            return Answer(403, {"content-type": "text/plain"}, b"Please respect our robot policy.")
        params = seen.params
        if len(params["srsearch"]) > 300:
            return failure("cirrussearch-query-too-long", "Search request is too long.")
        if not 1 <= int(params["srlimit"]) <= 500:
            return failure("badinteger")
        articles = self.rounds.pop(0) if len(self.rounds) > 1 else self.rounds[0]
        shown = articles[: int(params["srlimit"])]
        found = {"searchinfo": {"totalhits": len(articles)}, "search": shown}
        return json_answer({"batchcomplete": True, "query": found})

"""Brave's `GET /res/v1/web/search`, `/res/v1/news/search` and `/res/v1/images/search`.

https://api-dashboard.search.brave.com/app/documentation. Does not search: it gives the results it was made
with, page by page.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "brave-test-0123456789"
LIMITS = {"X-RateLimit-Limit": "1, 15000", "X-RateLimit-Remaining": "0, 14523"}
MOST = {"/res/v1/web/search": 20, "/res/v1/news/search": 50, "/res/v1/images/search": 200}


def result(url: str, title: str = "Title", description: str = "Words", **more: Any) -> dict[str, Any]:
    """One result as Brave writes it."""
    return {"type": "search_result", "title": title, "url": url, "description": description, **more}


def failure(status: int, code: str, detail: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """An error as Brave writes it: 422 key or query, 402 and 429 quota, 429 rate."""
    error = {"id": "9d0e", "status": status, "code": code, "detail": detail, "meta": {}}
    return json_answer({"type": "ErrorResponse", "error": error, "time": 1790000000}, status, headers)


class BraveServer(StandIn):
    """Gives `results`; for the web, the block that holds them is missing when there are none."""

    def __init__(self, results: Iterable[dict[str, Any]] = (), *, key: str = KEY) -> None:
        super().__init__()
        self.results = list(results)
        self.key = key

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key and these parameters."""
        if seen.method != "GET" or seen.route not in MOST:
            return json_answer({"type": "ErrorResponse"}, 404)
        if seen.headers.get("x-subscription-token") != self.key:
            return failure(422, "SUBSCRIPTION_TOKEN_INVALID", "The provided subscription token is invalid.")
        asked = seen.params
        words, count, page = asked.get("q", ""), int(asked.get("count", 20)), int(asked.get("offset", 0))
        is_good = 0 < len(words) <= 400 and len(words.split()) <= 50
        if not is_good or not 0 < count <= MOST[seen.route] or not 0 <= page <= 9:
            return failure(422, "VALIDATION", "Unable to validate request parameter(s)")
        shown = self.results[page * count : (page + 1) * count]
        about = {"original": words, "more_results_available": len(self.results) > (page + 1) * count}
        if not seen.route.endswith("web/search"):
            return json_answer(
                {"type": seen.route.split("/")[3], "query": about, "results": shown}, headers=LIMITS
            )
        web = {"web": {"type": "search", "results": shown}} if shown else {}
        return json_answer({"type": "search", "query": about, "mixed": {"main": []}, **web}, headers=LIMITS)

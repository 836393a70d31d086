"""Exa's `POST /search`: https://exa.ai/docs/reference/search.

Does not search: it gives the results it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "exa-test-0123456789"


def result(url: str, **more: Any) -> dict[str, Any]:
    """One result as Exa writes it; what a page does not tell is null or missing."""
    return {"id": url, "url": url, "title": None, "score": 0.41, "image": None, **more}


def failure(status: int, tag: str, said: str = "") -> Answer:
    """An error as Exa writes it: 400 and 422 request, 401 key, 402 credits."""
    return json_answer({"requestId": "b594", "error": said, "tag": tag}, status)


class ExaServer(StandIn):
    """Gives `results`, each with only the kinds of contents that were asked for."""

    def __init__(self, results: Iterable[dict[str, Any]] = (), *, key: str = KEY) -> None:
        super().__init__()
        self.results = list(results)
        self.key = key

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key and this body."""
        if seen.method != "POST" or seen.route != "/search":
            return failure(404, "NOT_FOUND")
        if seen.headers.get("x-api-key") != self.key:
            return failure(401, "INVALID_API_KEY", "Invalid API key")
        asked = seen.json
        if not asked["query"].strip():
            return failure(400, "INVALID_REQUEST_BODY", "query must not be empty")
        if not 0 < asked.get("numResults", 10) <= 100:
            return failure(400, "NUM_RESULTS_EXCEEDED", "too many results")
        hidden = {"text", "highlights", "summary"} - set(asked.get("contents", {}))
        shown = [{k: v for k, v in row.items() if k not in hidden} for row in self.results]
        answer = {"requestId": "b594", "resolvedSearchType": "neural", "searchTime": 812.4}
        found = shown[: asked.get("numResults", 10)]
        return json_answer({**answer, "results": found, "costDollars": {"total": 0.007}})

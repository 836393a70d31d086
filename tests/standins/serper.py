"""Serper's `POST /search`, `/news`, `/scholar` and `/images`: https://serper.dev.

Does not search: it gives the results it was made with, in their order.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "serper-test-0123456789"
ARRAYS = {"/search": "organic", "/news": "news", "/scholar": "organic", "/images": "images"}


def result(link: str, title: str = "Title", snippet: str | None = "Snippet", **more: Any) -> dict[str, Any]:
    """One result as Serper writes it."""
    return {"title": title, "link": link, "snippet": snippet, "position": 1, **more}


def failure(status: int, said: str) -> Answer:
    """An error as Serper writes it: 403 key, 400 query or credits, 429 rate."""
    return json_answer({"message": said, "statusCode": status}, status)


class SerperServer(StandIn):
    """Gives `results`; the array that holds them is missing when there are none."""

    def __init__(self, results: Iterable[dict[str, Any]] = (), *, key: str = KEY) -> None:
        super().__init__()
        self.results = list(results)
        self.key = key

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key and this body."""
        if seen.route == "/account":
            return json_answer({"balance": 2500, "rateLimit": 50})
        if seen.method != "POST" or seen.route not in ARRAYS:
            return failure(404, "Not found.")
        if seen.headers.get("x-api-key") != self.key:
            return failure(403, "Unauthorized.")
        asked = seen.json
        if not asked["q"].strip():
            return failure(400, "Missing query parameter")
        shown = self.results[: asked.get("num", 10)]
        answer: dict[str, Any] = {"searchParameters": {"type": "search", "engine": "google", **asked}}
        answer |= {ARRAYS[seen.route]: shown} if shown else {}
        return json_answer({**answer, "relatedSearches": [{"query": "tides"}], "credits": 1})

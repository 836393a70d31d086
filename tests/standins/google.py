"""Google's `GET /customsearch/v1`: https://developers.google.com/custom-search/v1/overview.

Does not search: it gives the items it was made with, page by page.
"""

from collections.abc import Iterable
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "google-test-0123456789"
ENGINE = "0123456789abcdef0"


def item(link: str, title: str = "Title", snippet: str = "Snippet", **more: Any) -> dict[str, Any]:
    """One item as Google writes it."""
    return {"kind": "customsearch#result", "title": title, "link": link, "snippet": snippet, **more}


def failure(status: int, said: str, reason: str, *, detail: str = "") -> Answer:
    """An error as Google writes it: 400 key or query, 403 forbidden or rate, 429 rate or day."""
    error: dict[str, Any] = {"code": status, "message": said, "errors": [{"message": said, "reason": reason}]}
    return json_answer({"error": error | ({"details": [{"reason": detail}]} if detail else {})}, status)


class GoogleServer(StandIn):
    """Gives `items`; the array is missing when there are none."""

    def __init__(self, items: Iterable[dict[str, Any]] = (), *, key: str = KEY) -> None:
        super().__init__()
        self.items = list(items)
        self.key = key

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key, this engine and these parameters."""
        if seen.route != "/customsearch/v1":
            return failure(404, "Not Found", "notFound")
        asked = seen.params
        if (seen.headers.get("x-goog-api-key") or asked.get("key")) != self.key:
            said = "API key not valid. Please pass a valid API key."
            return failure(400, said, "badRequest", detail="API_KEY_INVALID")
        start, size = int(asked.get("start", 1)), int(asked.get("num", 10))
        is_good = asked.get("cx") == ENGINE and asked.get("q") and 1 <= size <= 10
        if not is_good or start < 1 or start + size > 101:
            return failure(400, "Request contains an invalid argument.", "badRequest")
        shown = self.items[start - 1 : start - 1 + size]
        about = {"searchTime": 0.21, "totalResults": str(len(self.items))}
        found = {"items": shown} if shown else {}
        return json_answer({"kind": "customsearch#search", "searchInformation": about, **found})

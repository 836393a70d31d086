"""Tavily's `POST /search`: https://docs.tavily.com/documentation/api-reference/endpoint/search.

Does not search: it gives the results it was made with, in their order.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from standins.server import Answer, Seen, StandIn, json_answer

KEY = "tvly-test-0123456789"


def result(url: str, title: str = "Title", content: str = "Content", **more: Any) -> dict[str, Any]:
    """One result as Tavily writes it; `published_date` is only sent for news."""
    return {"url": url, "title": title, "content": content, "score": 0.9, "raw_content": None, **more}


def failure(status: int, said: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """An error as Tavily writes it: 401 key, 429 rate, 432 plan, 433 pay-as-you-go, 5xx."""
    return json_answer({"detail": {"error": said}}, status, headers)


class TavilyServer(StandIn):
    """Gives `failures` first, one a request, and then `results`."""

    def __init__(
        self, results: Iterable[dict[str, Any]] = (), failures: Iterable[Answer] = (), *, key: str = KEY
    ) -> None:
        super().__init__()
        self.results = list(results)
        self.failures = list(failures)
        self.key = key

    @property
    def searches(self) -> list[Seen]:
        """The requests for a search, without those for what is left of the plan."""
        return [seen for seen in self.records if seen.route == "/search"]

    def answer_to(self, seen: Seen) -> Answer:
        """What the API would say to this key and this body."""
        if self.failures:
            return self.failures.pop(0)
        if seen.route == "/usage":
            plan = {"current_plan": "Bootstrap", "plan_usage": 500, "plan_limit": 15000}
            return json_answer({"key": {"usage": 150, "limit": 1000}, "account": plan})
        if seen.method != "POST" or seen.route != "/search":
            return json_answer({"detail": "Not Found"}, 404)
        if seen.headers.get("authorization") != f"Bearer {self.key}":
            return failure(401, "Unauthorized: missing or invalid API key.")
        body = seen.json
        if len(body["query"]) > 400:
            return failure(400, "Query is too long. Max query length is 400 characters.")
        hidden = set() if body.get("topic") == "news" else {"published_date"}
        found = [{k: v for k, v in row.items() if k not in hidden} for row in self.results]
        extras: dict[str, Any] = {
            "answer": None,
            "follow_up_questions": None,
            "images": [],
            "response_time": 0.87,
        }
        shown = found[: min(body.get("max_results", 5), 20)]
        return json_answer({"query": body["query"], "results": shown, "request_id": "0b6c", **extras})

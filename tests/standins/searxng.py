"""SearXNG's `GET /search`: https://docs.searxng.org/dev/search_api.html.

Does not search: it gives the results it was made with, ten a page.
"""

import threading
from collections.abc import Iterable, Sequence
from typing import Any

from standins.commandline import PATIENCE_S
from standins.server import Answer, Seen, StandIn, json_answer

PAGE = 10


def result(url: str, title: str = "Title", content: str | None = "Words", **more: Any) -> dict[str, Any]:
    """One result as SearXNG writes it."""
    return {"url": url, "title": title, "content": content, "engine": "mojeek", "publishedDate": None, **more}


def page_for_people(status: int, heading: str) -> Answer:
    """HTML, as it answers when it is asked for a format that is not enabled."""
    return Answer(status, {"content-type": "text/html"}, f"<html><h1>{heading}</h1></html>".encode())


class SearxngServer(StandIn):
    """Gives `results`; `silent` are the engines that did not respond, `formats` those enabled."""

    def __init__(
        self,
        results: Iterable[dict[str, Any]] = (),
        *,
        silent: Sequence[Sequence[str]] = (),
        formats: Sequence[str] = ("html", "json"),
        under: str = "",
    ) -> None:
        super().__init__()
        self.results = list(results)
        self.silent = silent
        self.formats = formats
        self.under = under

    def answer_to(self, seen: Seen) -> Answer:
        """What an instance would say to these parameters."""
        asked = seen.params
        if seen.route != f"{self.under}/search":
            return page_for_people(404, "Page not found")
        if asked.get("format") not in self.formats:
            return page_for_people(403, "Forbidden")
        if not asked.get("q", "").strip():
            return json_answer({"error": "No query"}, 400)
        start = (int(asked.get("pageno", 1)) - 1) * PAGE
        shown = self.results[start : start + PAGE]
        extras: dict[str, Any] = {"answers": [], "corrections": [], "infoboxes": [], "suggestions": []}
        return json_answer(
            {"query": asked["q"], "results": shown, "unresponsive_engines": self.silent, **extras}
        )


class Thoughtful(SearxngServer):
    """Tells what it found when it is let go; a question in full, which a plan waits for, at once."""

    def __init__(self, results: Iterable[dict[str, Any]] = ()) -> None:
        super().__init__(results)
        self.go = threading.Event()

    def answer_to(self, seen: Seen) -> Answer:
        """The same, later."""
        if not seen.params.get("q", "").endswith("?"):
            self.go.wait(PATIENCE_S)
        return super().answer_to(seen)

"""Progress as calm lines on standard error.

Does not know how events come about.
"""

import sys
from collections.abc import Callable
from typing import Any

from fathom.ids import short_id
from fathom.progress import Kind, Progress

_SHORT = 76


class Screen:
    """Says what a run is doing, one line a step."""

    def __init__(self, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._pages = 0
        self._expected = 0
        self._claims = 0

    def begin(self, run_id: str) -> None:
        """The first line: how to come back."""
        name = short_id(run_id)
        self._line(f"run {name}; if it stops, go on with: fathom resume {name}")

    def tell(self, event: Progress) -> None:
        """One event, as a line if it is worth one."""
        teller = _TELLERS.get(event.kind)
        if teller:
            words = teller(self, event.payload)
            if words:
                self._line(f"[{event.elapsed_s:6.1f} s] round {event.round}/{event.limit}  {words}")

    def _line(self, words: str) -> None:
        if not self._is_quiet:
            print(words, file=sys.stderr, flush=True)

    def planned(self, payload: dict[str, Any]) -> str:
        """The plan."""
        asked = "; ".join(payload["queries"])
        return f"plan: sub-questions {len(payload['questions'])}; searching: {_short(asked)}"

    def searched(self, payload: dict[str, Any]) -> str:
        """One search."""
        lost = (
            f" (lost: {_short(payload['lost'][0]['why'])})" if payload["lost"] and not payload["hits"] else ""
        )
        return f"found {payload['hits']} for: {_short(payload['query'])}{lost}"

    def chosen(self, payload: dict[str, Any]) -> str:
        """The round's pages."""
        self._pages, self._expected, self._claims = 0, len(payload["pages"]), 0
        return f"reading {self._expected} pages"

    def fetched(self, payload: dict[str, Any]) -> str:
        """A page that could not be read; one that could is told when it was understood."""
        if payload["title"]:
            return ""
        self._pages += 1
        return f"{self._pages}/{self._expected} not readable: {_short(payload['lost'][0]['why'])}"

    def analysed(self, payload: dict[str, Any]) -> str:
        """A page that was read."""
        self._pages += 1
        self._claims += payload["claims"]
        of = f"/{self._expected}" if self._expected else ""
        return f"{self._pages}{of} read, {self._claims} claims so far in this round"

    def judged(self, payload: dict[str, Any]) -> str:
        """The verdict on the round."""
        end = f"; enough: {payload['stop']} ({payload['because']})" if payload["stop"] else "; going on"
        return f"{payload['claims']} claims, score {payload['overall']:.2f}{end}"

    def outlined(self, payload: dict[str, Any]) -> str:
        """The report begins."""
        return f"writing {len(payload['sections'])} sections"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


_TELLERS: dict[Kind, Callable[[Screen, dict[str, Any]], str]] = {
    "plan generated": Screen.planned,
    "search completed": Screen.searched,
    "extraction started": Screen.chosen,
    "content extracted": Screen.fetched,
    "analysis completed": Screen.analysed,
    "sufficiency evaluated": Screen.judged,
    "report started": Screen.outlined,
}

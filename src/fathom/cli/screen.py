"""Progress as calm lines on standard error.

Does not know how events come about.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fathom.ids import short_id
from fathom.progress import Kind, Progress
from fathom.report.words import counted

_SHORT = 76


@dataclass
class _Count:
    """How far the reading of a round is, in the whole run or in one branch."""

    expected: int = 0
    pages: int = 0
    claims: int = 0

    @property
    def of(self) -> str:
        """Of how many; an update also reads the pages of before, and nobody said how many those are."""
        return f"/{self.expected}" if self.pages <= self.expected else ""


class Screen:
    """Says what a run is doing, one line a step."""

    def __init__(self, is_quiet: bool = False) -> None:
        self._is_quiet = is_quiet
        self._counts: dict[str, _Count] = {}

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
                branch = f"{event.payload['branch']} " if "branch" in event.payload else ""
                self._line(f"[{event.elapsed_s:6.1f} s] {branch}round {event.round}/{event.limit}  {words}")

    def _count(self, payload: dict[str, Any]) -> "_Count":
        return self._counts.setdefault(payload.get("branch", ""), _Count())

    def _line(self, words: str) -> None:
        if not self._is_quiet:
            print(words, file=sys.stderr, flush=True)

    def sized(self, payload: dict[str, Any]) -> str:
        """The effort, and where branches will look."""
        where = "; ".join(f"{one['id']} {one['text']}" for one in payload["directions"])
        branches = f"; {_branches(payload['directions'])}: {_short(where)}" if where else ""
        return f"a {payload['kind']} ({payload['reason']}){branches}"

    def delivered(self, payload: dict[str, Any]) -> str:
        """A branch is back."""
        found = f"{counted(payload['claims'], 'claim')} of {counted(payload['pages'], 'page')}"
        return f"back with {found}: {_short(payload['text'])}"

    def planned(self, payload: dict[str, Any]) -> str:
        """The plan."""
        asked = "; ".join(payload["queries"])
        effort, tool = payload.get("effort") or {}, payload.get("tool") or {}
        way = ", ".join(word for word in (effort.get("kind", ""), tool.get("name", "")) if word)
        how = f" ({way})" if way else ""
        return f"plan{how}: sub-questions {len(payload['questions'])}; searching: {_short(asked)}"

    def searched(self, payload: dict[str, Any]) -> str:
        """One search."""
        lost = (
            f" (lost: {_short(payload['lost'][0]['why'])})" if payload["lost"] and not payload["hits"] else ""
        )
        return f"found {payload['hits']} for: {_short(payload['query'])}{lost}"

    def chosen(self, payload: dict[str, Any]) -> str:
        """The round's pages."""
        self._counts[payload.get("branch", "")] = _Count(len(payload["pages"]))
        return f"reading {counted(len(payload['pages']), 'page')}"

    def fetched(self, payload: dict[str, Any]) -> str:
        """A page that could not be read; one that could is told when it was understood."""
        if payload["title"]:
            return ""
        count = self._count(payload)
        count.pages += 1
        return f"{count.pages}{count.of} not readable: {_short(payload['lost'][0]['why'])}"

    def analysed(self, payload: dict[str, Any]) -> str:
        """A page that was read."""
        count = self._count(payload)
        count.pages += 1
        count.claims += payload["claims"]
        return f"{count.pages}{count.of} read, {counted(count.claims, 'claim')} so far in this round"

    def judged(self, payload: dict[str, Any]) -> str:
        """The verdict on the round."""
        end = f"; enough: {payload['stop']} ({payload['because']})" if payload["stop"] else "; going on"
        return f"{counted(payload['claims'], 'claim')}, score {payload['overall']:.2f}{end}"

    def outlined(self, payload: dict[str, Any]) -> str:
        """The report begins."""
        return f"writing {counted(len(payload['sections']), 'section')}"


def _branches(directions: list[Any]) -> str:
    return "1 branch" if len(directions) == 1 else f"{len(directions)} branches"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"


_TELLERS: dict[Kind, Callable[[Screen, dict[str, Any]], str]] = {
    "effort sized": Screen.sized,
    "plan generated": Screen.planned,
    "branch completed": Screen.delivered,
    "search completed": Screen.searched,
    "extraction started": Screen.chosen,
    "content extracted": Screen.fetched,
    "analysis completed": Screen.analysed,
    "sufficiency evaluated": Screen.judged,
    "report started": Screen.outlined,
}

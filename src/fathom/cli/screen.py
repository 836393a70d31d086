"""Progress as calm lines on standard error.

Does not know how events come about.
"""

import sys
from dataclasses import dataclass

from fathom.events import (
    AnalysisCompleted,
    BranchCompleted,
    ContentExtracted,
    EffortSized,
    ExtractionStarted,
    PlanGenerated,
    Progress,
    ReportStarted,
    SearchCompleted,
    SufficiencyEvaluated,
)
from fathom.ids import short_id
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
        words = self._words(event)
        if words:
            branch = f"{event.branch} " if event.branch else ""
            self._line(f"[{event.elapsed_s:6.1f} s] {branch}round {event.round}/{event.limit}  {words}")

    def _words(self, event: Progress) -> str:
        match event.payload:
            case EffortSized() as sized:
                return _sized(sized)
            case BranchCompleted(direction=direction):
                found = f"{counted(direction.claims, 'claim')} of {counted(direction.pages, 'page')}"
                return f"back with {found}: {_short(direction.text)}"
            case PlanGenerated() as plan:
                return _planned(plan)
            case SearchCompleted(query=query, hits=hits, lost=lost):
                loss = f" (lost: {_short(lost[0].why)})" if lost and not hits else ""
                return f"found {hits} for: {_short(query)}{loss}"
            case ExtractionStarted(pages=pages):
                self._counts[event.branch] = _Count(len(pages))
                return f"reading {counted(len(pages), 'page')}"
            case ContentExtracted() | AnalysisCompleted():
                return self._read(event.payload, self._counts.setdefault(event.branch, _Count()))
            case SufficiencyEvaluated(judgement=judged):
                end = f"; enough: {judged.stop} ({judged.because})" if judged.stop else "; going on"
                return f"{counted(judged.claims, 'claim')}, score {judged.overall:.2f}{end}"
            case ReportStarted(sections=sections):
                return f"writing {counted(len(sections), 'section')}"
            case _:
                return ""

    def _read(self, page: ContentExtracted | AnalysisCompleted, count: _Count) -> str:
        """A page that could not be read, or was understood; in between there is nothing to tell."""
        if isinstance(page, ContentExtracted):
            if page.chars or not page.lost:
                return ""
            count.pages += 1
            return f"{count.pages}{count.of} not readable: {_short(page.lost[0].why)}"
        count.pages += 1
        count.claims += page.claims
        return f"{count.pages}{count.of} read, {counted(count.claims, 'claim')} so far in this round"

    def _line(self, words: str) -> None:
        if not self._is_quiet:
            print(words, file=sys.stderr, flush=True)


def _sized(sized: EffortSized) -> str:
    """The effort, and where branches will look."""
    where = "; ".join(f"{one.id} {one.text}" for one in sized.directions)
    branches = f"; {_branches(len(sized.directions))}: {_short(where)}" if where else ""
    return f"a {sized.effort.kind} ({sized.effort.reason}){branches}"


def _planned(plan: PlanGenerated) -> str:
    """The plan."""
    way = ", ".join([*([plan.effort.kind] if plan.effort else []), *([plan.tool.name] if plan.tool else [])])
    how = f" ({way})" if way else ""
    asked = _short("; ".join(plan.queries))
    return f"plan{how}: sub-questions {len(plan.questions)}; searching: {asked}"


def _branches(count: int) -> str:
    return "1 branch" if count == 1 else f"{count} branches"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHORT else line[: _SHORT - 1] + "…"

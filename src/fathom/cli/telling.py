"""What an event says to a person, in one line.

Does not know where the line is shown.
"""

from dataclasses import dataclass

from fathom.cli.amounts import saved
from fathom.cli.cells import cut, plain
from fathom.events import (
    AnalysisCompleted,
    BranchCompleted,
    Completed,
    ContentExtracted,
    EffortSized,
    ExtractionStarted,
    PlanGenerated,
    Progress,
    ReportStarted,
    SearchCompleted,
    SufficiencyEvaluated,
)
from fathom.report.messages import format_count

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


class Telling:
    """Puts the events of a run into words; it remembers how far the reading of a round is."""

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    def line(self, event: Progress) -> str:
        """One event in words; nothing if it is not worth a line."""
        words = self._words(event)
        branch = f"{event.branch} " if event.branch else ""
        return (
            f"[{event.elapsed_s:6.1f} s] {branch}round {event.round}/{event.limit}  {words}" if words else ""
        )

    def _words(self, event: Progress) -> str:
        match event.payload:
            case EffortSized() as sized:
                return _sized(sized)
            case BranchCompleted(direction=direction):
                found = (
                    f"{format_count(direction.claims, 'claim')} of {format_count(direction.pages, 'page')}"
                )
                return f"back with {found}: {_short(direction.text)}"
            case PlanGenerated() as plan:
                return _planned(plan)
            case SearchCompleted(query=query, hits=hits, lost=lost):
                failure = f" (lost: {_short(lost[0].why)})" if lost and not hits else ""
                return f"found {hits} for: {_short(query)}{failure}"
            case ExtractionStarted(pages=pages):
                self._counts[event.branch] = _Count(len(pages))
                return f"reading {format_count(len(pages), 'page')}"
            case ContentExtracted() | AnalysisCompleted():
                return self._read(event.payload, self._counts.setdefault(event.branch, _Count()))
            case SufficiencyEvaluated(judgement=judged):
                ending = "the end" if judged.is_by_words else "enough"
                end = f"; {ending}: {judged.stop} ({judged.because})" if judged.stop else "; going on"
                return f"{format_count(judged.claims, 'claim')}, score {judged.overall:.2f}{end}"
            case ReportStarted(sections=sections):
                return f"writing {format_count(len(sections), 'section')}"
            case Completed():
                return saved(event.spent).removeprefix("; ")
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
        return f"{count.pages}{count.of} read, {format_count(count.claims, 'claim')} so far in this round"


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
    doing = f"searching: {asked}" if asked else "looking first at what is at hand"
    return f"plan{how}: sub-questions {len(plan.questions)}; {doing}"


def _branches(count: int) -> str:
    return "1 branch" if count == 1 else f"{count} branches"


def _short(text: str) -> str:
    return cut(plain(text), _SHORT)

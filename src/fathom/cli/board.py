"""What is known of a run that is being watched: each event in words, and all of them together.

Does not know where it is shown, or how it is drawn.
"""

from collections import deque
from dataclasses import dataclass, field

from fathom.cli.text import count_of, cut, describe_savings, plain
from fathom.events import (
    AnalysisCompleted,
    AnalysisStarted,
    BranchCompleted,
    Checkpoint,
    Completed,
    ContentExtracted,
    EffortSized,
    ExtractionStarted,
    KeyFinding,
    PlanGenerated,
    Progress,
    ReportDraft,
    ReportSection,
    ReportStarted,
    ReportWritten,
    RoundCompleted,
    SearchCompleted,
    SearchStarted,
    Spent,
    Started,
    SufficiencyEvaluated,
)
from fathom.state import RunState

_SHORT_CELLS = 76


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


class EventWords:
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
                return _describe_effort(sized)
            case BranchCompleted(direction=direction):
                found = f"{count_of(direction.claims, 'claim')} of {count_of(direction.pages, 'page')}"
                onward = f"; next: {_short('; '.join(direction.leads))}" if direction.leads else ""
                return f"back with {found}: {_short(direction.text)}{onward}"
            case PlanGenerated() as plan:
                return _describe_plan(plan)
            case SearchCompleted(query=query, hits=hits, lost=lost):
                failure = f" (lost: {_short(lost[0].why)})" if lost and not hits else ""
                return f"found {hits} for: {_short(query)}{failure}"
            case ExtractionStarted(pages=pages):
                self._counts[event.branch] = _Count(len(pages))
                return f"reading {count_of(len(pages), 'page')}"
            case ContentExtracted() | AnalysisCompleted():
                return self._describe_page(event.payload, self._counts.setdefault(event.branch, _Count()))
            case SufficiencyEvaluated(judgement=judged):
                ending = "the end" if judged.is_by_words else "enough"
                end = f"; {ending}: {judged.stop} ({judged.because})" if judged.stop else "; going on"
                return f"{count_of(judged.claims, 'claim')}, score {judged.overall:.2f}{end}"
            case ReportStarted(sections=sections):
                return f"writing {count_of(len(sections), 'section')}"
            case Completed():
                return describe_savings(event.spent).removeprefix("; ")
            case _:
                return ""

    def _describe_page(self, page: ContentExtracted | AnalysisCompleted, count: _Count) -> str:
        """A page that was read, or could not be, or whose claims were verified."""
        if isinstance(page, AnalysisCompleted):
            count.claims += page.claims
            return f"{count_of(page.claims, 'claim')} in: {_short(page.title)}; {count.claims} in this round"
        count.pages += 1
        if page.lost and not page.chars:
            return f"{count.pages}{count.of} not readable: {_short(page.lost[0].why)}"
        return f"{count.pages}{count.of} read: {_short(page.title or page.address)}"


def _describe_effort(sized: EffortSized) -> str:
    """The effort, and where branches will look."""
    where = "; ".join(f"{one.id} {one.text}" for one in sized.directions)
    branches = f"; {_branches(len(sized.directions))}: {_short(where)}" if where else ""
    rounds = count_of(sized.effort.rounds, "round")
    return f"a {sized.effort.kind} ({sized.effort.reason}): at most {rounds}{branches}"


def _describe_plan(plan: PlanGenerated) -> str:
    """The plan."""
    way = ", ".join([*([plan.effort.kind] if plan.effort else []), *([plan.tool.name] if plan.tool else [])])
    how = f" ({way})" if way else ""
    asked = _short("; ".join(plan.queries))
    doing = f"searching: {asked}" if asked else "looking first at what is at hand"
    return f"plan{how}: sub-questions {len(plan.questions)}; {doing}"


def _branches(count: int) -> str:
    return "1 branch" if count == 1 else f"{count} branches"


def _short(text: str) -> str:
    return cut(plain(text), _SHORT_CELLS)


_LATELY = 100


@dataclass
class Entry:
    """One thing in hand: a search, a page, a section. What came of it stands at the end of its line."""

    title: str
    is_done: bool = False
    is_lost: bool = False
    outcome: str = ""


@dataclass
class Board:
    """A run as a person watches it."""

    run_id: str = ""
    question: str = ""
    stage: str = "beginning"
    way: str = ""  # the kind of question and the thinking tool of this round
    round: int = 1
    limit: int = 1
    score: float | None = None
    threshold: float = 0.8
    spent: Spent = field(default_factory=Spent)
    verified: int = 0
    refused: int = 0
    pages_read: int = 0
    elapsed_s: float = 0.0
    searches: dict[str, Entry] = field(default_factory=dict)
    pages: dict[str, Entry] = field(default_factory=dict)
    sections: dict[str, Entry] = field(default_factory=dict)
    findings: list[KeyFinding] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    lately: deque[str] = field(default_factory=lambda: deque(maxlen=_LATELY))
    _earlier_s: float = 0.0
    _words: EventWords = field(default_factory=EventWords)

    @property
    def is_writing(self) -> bool:
        """Whether the looking is over and the report is in hand."""
        return bool(self.sections)

    def recall(self, state: RunState, findings: list[KeyFinding]) -> None:
        """What a run knew before anybody watched it."""
        claims, judgements = state.get("claims", []), state.get("judgements", [])
        self.verified, self.pages_read = len(claims), len(state.get("pages", []))
        if judgements:
            self.score, self.gaps = judgements[-1].overall, [gap.description for gap in judgements[-1].gaps]
        self.findings = findings

    def tell(self, event: Progress) -> None:
        """Take in one event."""
        self.spent = event.spent
        if isinstance(event.payload, Started):
            self._earlier_s = self.elapsed_s  # the run goes on after a pause or an answer
        self.elapsed_s = self._earlier_s + event.elapsed_s
        if not event.branch:
            self.round, self.limit = event.round, event.limit
        if line := self._words.line(event):
            self.lately.append(line)
        self._note_start(event)
        self._note_page(event)
        self._note_end(event)
        if self.stage == "reading" and all(page.is_done for page in self.pages.values()):
            self.stage = "weighing what was read"

    def _note_start(self, event: Progress) -> None:
        match event.payload:
            case Started(question=question, run_config=run_config, is_resumed=is_resumed):
                self.question, self.threshold = question, run_config.threshold
                self.stage = "going on" if is_resumed else "planning"
            case PlanGenerated(effort=effort, tool=tool):
                kinds = [effort.kind if effort else "", tool.name if tool else ""]
                self.way = ", ".join(kind for kind in kinds if kind) or self.way
                if not event.branch:
                    self.searches, self.pages, self.sections = {}, {}, {}
                    self.stage = "searching"
            case ReportStarted(sections=sections):
                self.sections = {title: Entry(title) for title in sections}
                self.stage = "writing"
            case _:
                return

    def _note_page(self, event: Progress) -> None:
        branch = event.branch
        match event.payload:
            case SearchStarted(query=query):
                self.searches[f"{branch} {query}"] = Entry(query)
                self.stage = "searching"
            case SearchCompleted(query=query, hits=hits, lost=lost):
                outcome = f"lost: {lost[0].why}" if lost and not hits else f"{hits} found"
                is_lost = bool(lost) and not hits
                self.searches[f"{branch} {query}"] = Entry(query, True, is_lost, outcome)
            case ExtractionStarted(pages=pages):
                self.pages |= {page.address: Entry(page.title or page.address) for page in pages}
                self.stage = "reading"
            case ContentExtracted(title=title, address=address, chars=chars, lost=lost):
                is_lost = bool(lost) and not chars
                outcome = f"lost: {lost[0].why}" if is_lost else "read"
                self.pages_read += not is_lost
                self._page(title, address, Entry(title or address, is_lost, is_lost, outcome))
            case AnalysisStarted(title=title, address=address):
                self._page(title, address, Entry(title or address, outcome="drawing claims"))
            case AnalysisCompleted(title=title, address=address, claims=claims, rejected=rejected):
                self.verified, self.refused = self.verified + claims, self.refused + rejected
                self._page(title, address, Entry(title or address, True, False, _claims(claims, rejected)))
            case _:
                return

    def _page(self, title: str, address: str, entry: Entry) -> None:
        """The page's own line; one that was found under another name keeps the name it was chosen by."""
        known = self.pages.get(address)
        entry.title = known.title if known and not title else entry.title
        self.pages[address] = entry

    def _note_end(self, event: Progress) -> None:
        match event.payload:
            case SufficiencyEvaluated(judgement=judged, threshold=threshold) if not event.branch:
                self.score, self.threshold = judged.overall, threshold
                self.verified = judged.claims
                self.stage = "outlining the report" if judged.stop else "planning the next round"
            case RoundCompleted(findings=findings, gaps=gaps) if not event.branch:
                self.findings, self.gaps = findings, gaps
            case ReportDraft(title=title, text=text, is_whole=is_whole) if title in self.sections:
                words = f"{len(text.split())} words so far"
                self.sections[title] = Entry(title, outcome="written, being checked" if is_whole else words)
            case ReportSection(title=title, sentences=sentences):
                count = len(sentences)
                outcome = f"{count} sentence{'' if count == 1 else 's'}"
                self.sections[title] = Entry(title, True, outcome=outcome)
            case ReportWritten(status=status):
                self.stage = f"report written, {status}"
            case Checkpoint(why=why) if event.is_last:
                self.stage = {"review": "waiting for you", "paused": "paused"}.get(why, "stopped")
            case Completed():
                self.stage = "done"
            case _:
                return


def _claims(claims: int, rejected: int) -> str:
    kept = f"{claims} claim{'' if claims == 1 else 's'}"
    return f"{kept}, {rejected} refused" if rejected else kept

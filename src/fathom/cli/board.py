"""A run as a person watches it: each event as a line, and all of them as one board.

Does not know where it is shown, or how it is drawn.
"""

from collections import deque
from dataclasses import dataclass, field

from fathom import events
from fathom.cli.text import cut, describe_savings, plain
from fathom.events import KeyFinding, Progress, Spent
from fathom.state import ENOUGH, Direction, Failure, Judgement, RunState
from fathom.text.messages import ENGLISH, Messages, messages_for

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

    def __init__(self, messages: Messages = ENGLISH) -> None:
        self._counts: dict[str, _Count] = {}
        self.messages = messages  # of the run's language, from its first event on
        self._thing = "claims"  # or passages, where no model draws and judges them

    def line(self, event: Progress) -> str:
        """One event in words; nothing if it is not worth a line."""
        if isinstance(event.payload, events.Started):
            self.messages = messages_for(event.payload.question, event.payload.run_config.language)
        if isinstance(event.payload, events.EffortSized) and event.payload.is_by_words:
            self._thing = "passages"
        words = self._words(event)
        branch = f"{event.branch} " if event.branch else ""
        place = self.messages("live.round", round=event.round, limit=event.limit)
        return f"[{event.elapsed_s:6.1f} s] {branch}{place}  {words}" if words else ""

    def _words(self, event: Progress) -> str:
        say = self.messages
        match event.payload:
            case events.EffortSized() as sized:
                return self._describe_effort(sized, event.limit)
            case events.BranchCompleted(direction=direction):
                return self._describe_branch(direction)
            case events.PlanGenerated() as plan:
                return self._describe_plan(plan)
            case events.SearchCompleted(query=query, hits=hits, lost=lost):
                failure = (
                    say("live.search_lost", why=_short(say.why_failed(lost[0]))) if lost and not hits else ""
                )
                return say("live.searched", count=hits, query=_short(query)) + failure
            case events.ExtractionStarted(pages=pages):
                self._counts[event.branch] = _Count(len(pages))
                return say("live.reading", pages=self._pages(len(pages)))
            case events.ContentExtracted() | events.AnalysisCompleted():
                return self._describe_page(event.payload, self._counts.setdefault(event.branch, _Count()))
            case events.SufficiencyEvaluated(judgement=judged):
                return self._describe_judgement(judged)
            case events.ReportStarted(sections=sections):
                return say("live.writing", count=len(sections))
            case events.Completed():
                return describe_savings(event.spent).removeprefix("; ")
            case _:
                return ""

    def count(self, count: int) -> str:
        """So many claims, or passages where no model draws and judges them."""
        return self.messages(f"live.{self._thing}", count=count)

    def _pages(self, count: int) -> str:
        return self.messages("live.pages", count=count)

    def _describe_branch(self, back: Direction) -> str:
        """What a branch brought, and where it would look next."""
        say = self.messages
        found = say("live.back", claims=self.count(back.claims), pages=self._pages(back.pages))
        onward = say("live.onward", leads=_short("; ".join(back.leads))) if back.leads else ""
        return f"{found}: {_short(back.text)}{onward}"

    def _describe_judgement(self, judged: Judgement) -> str:
        """What there is, and whether it goes on; a score only where a model judged."""
        say = self.messages
        rule = f"{say.name('rule', judged.stop)} ({say.because(judged)})"
        is_by_words = judged.is_by_words or self._thing == "passages"
        is_enough = judged.stop in ENOUGH and not is_by_words
        ending = say("live.enough" if is_enough else "live.end", why=rule) if judged.stop else ""
        score = "" if is_by_words else say("live.score", score=f"{judged.overall:.2f}")
        return f"{self.count(judged.claims)}{score}; {ending or say('live.going_on')}"

    def _describe_page(self, page: events.ContentExtracted | events.AnalysisCompleted, count: _Count) -> str:
        """A page that was read, or could not be, or whose claims were verified."""
        say = self.messages
        if isinstance(page, events.AnalysisCompleted):
            count.claims += page.claims
            return say(
                "live.drawn", claims=self.count(page.claims), title=_short(page.title), all=count.claims
            )
        count.pages += 1
        place = f"{count.pages}{count.of}"
        if page.lost and not page.chars:
            return say("live.unreadable", place=place, why=_short(say.why_failed(page.lost[0])))
        return say("live.read", place=place, title=_short(page.title or page.address))

    def _describe_effort(self, sized: events.EffortSized, limit: int) -> str:
        """The effort with the rounds it allows, and where branches will look."""
        say, effort = self.messages, sized.effort
        reasons = say.effort_reasons(effort.reasons)
        words = say(f"live.{effort.kind}", why=f" ({reasons})" if reasons else "", rounds=limit)
        where = "; ".join(f"{one.id} {one.text}" for one in sized.directions)
        branches = say("live.branches", count=len(sized.directions)) if where else ""
        return f"{words}{branches}: {_short(where)}" if where else words

    def _describe_plan(self, plan: events.PlanGenerated) -> str:
        say = self.messages
        way = _describe_way(plan, say)
        how = f" ({way})" if way else ""
        asked = _short("; ".join(plan.queries))
        doing = say("live.searching", queries=asked) if asked else say("live.at_hand")
        return say("live.plan", how=how, count=len(plan.questions)) + f"; {doing}"


def _describe_way(plan: events.PlanGenerated, say: Messages) -> str:
    """The kind of question and the thinking tool."""
    kinds = [say.name("kind", plan.effort.kind)] if plan.effort else []
    return ", ".join([*kinds, *([say.name("tool", plan.tool.name)] if plan.tool else [])])


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
    stage: str = "beginning"  # a key of the table `stage` in the message catalogue
    way: str = ""  # the kind of question and the thinking tool of this round
    round: int = 1
    limit: int = 1
    score: float | None = None
    threshold: float = 0.8
    is_by_words: bool = False  # no model is asked: passages are counted, and nothing is scored
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
    def messages(self) -> Messages:
        """The words of the run's language."""
        return self._words.messages

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
        if isinstance(event.payload, events.Started):
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
            self.stage = "weighing"

    def _note_start(self, event: Progress) -> None:
        match event.payload:
            case events.Started(question=question, run_config=run_config, is_resumed=is_resumed):
                self.question, self.threshold = question, run_config.threshold
                self.stage = "going on" if is_resumed else "planning"
            case events.EffortSized(is_by_words=True):
                self.is_by_words = True
            case events.PlanGenerated() as plan:
                self.way = _describe_way(plan, self.messages) or self.way
                if not event.branch:
                    self.searches, self.pages, self.sections = {}, {}, {}
                    self.stage = "searching"
            case events.ReportStarted(sections=sections):
                self.sections = {title: Entry(title) for title in sections}
                self.stage = "writing"
            case _:
                return

    def _note_page(self, event: Progress) -> None:
        branch, say = event.branch, self.messages
        match event.payload:
            case events.SearchStarted(query=query):
                self.searches[f"{branch} {query}"] = Entry(query)
                self.stage = "searching"
            case events.SearchCompleted(query=query, hits=hits, lost=lost):
                is_lost = bool(lost) and not hits
                outcome = self._lost(lost) if is_lost else say("view.hits", count=hits)
                self.searches[f"{branch} {query}"] = Entry(query, True, is_lost, outcome)
            case events.ExtractionStarted(pages=pages):
                self.pages |= {page.address: Entry(page.title or page.address) for page in pages}
                self.stage = "reading"
            case events.ContentExtracted(title=title, address=address, chars=chars, lost=lost):
                is_lost = bool(lost) and not chars
                outcome = self._lost(lost) if is_lost else say("view.read")
                self.pages_read += not is_lost
                self._page(title, address, Entry(title or address, is_lost, is_lost, outcome))
            case events.AnalysisStarted(title=title, address=address):
                self._page(title, address, Entry(title or address, outcome=say("view.drawing")))
            case events.AnalysisCompleted(title=title, address=address, claims=claims, rejected=rejected):
                self.verified, self.refused = self.verified + claims, self.refused + rejected
                self._page(
                    title, address, Entry(title or address, True, False, self._drawn(claims, rejected))
                )
            case _:
                return

    def _lost(self, lost: list[Failure]) -> str:
        return self.messages("view.lost", why=self.messages.why_failed(lost[0]))

    def _drawn(self, claims: int, rejected: int) -> str:
        refused = self.messages("view.refused", count=rejected) if rejected else ""
        return self._words.count(claims) + refused

    def _page(self, title: str, address: str, entry: Entry) -> None:
        """The page's own line; one that was found under another name keeps the name it was chosen by."""
        known = self.pages.get(address)
        entry.title = known.title if known and not title else entry.title
        self.pages[address] = entry

    def _note_end(self, event: Progress) -> None:
        say = self.messages
        match event.payload:
            case events.SufficiencyEvaluated(judgement=judged, threshold=threshold) if not event.branch:
                self.score, self.threshold = judged.overall, threshold
                self.verified = judged.claims
                self.stage = "outlining" if judged.stop else "planning next"
            case events.RoundCompleted(findings=findings, gaps=gaps) if not event.branch:
                self.findings, self.gaps = findings, gaps
            case events.ReportDraft(title=title, text=text, is_whole=is_whole) if title in self.sections:
                words = say("view.unchecked") if is_whole else say("view.words", count=len(text.split()))
                self.sections[title] = Entry(title, outcome=words)
            case events.ReportSection(title=title, sentences=sentences):
                outcome = say("view.sentences", count=len(sentences))
                self.sections[title] = Entry(title, True, outcome=outcome)
            case events.ReportWritten(status=status):
                self.stage = say("view.report_written", status=say.name("status", status))
            case events.Checkpoint(why=why) if event.is_last:
                self.stage = why if why in ("review", "paused") else "stopped"
            case events.Completed():
                self.stage = "done"
            case _:
                return

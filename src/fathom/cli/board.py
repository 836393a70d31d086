"""A run as a person watches it: all of its events as one board, and the picture of it.

Does not know terminals. The picture is a rich renderable with a fixed place for everything. Places depend on
the window size alone, so nothing jumps. Every line is a `Text` of safe characters, so no title can inject
markup or escape sequences.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.layout import Layout
from rich.text import Text

from fathom import events
from fathom.cli.text import clock, dollars, pad, plain, safe, thousands
from fathom.cli.watch import EventWords, describe_way
from fathom.events import KeyFinding, Progress, Spent
from fathom.state import Failure, RunState, short_id
from fathom.text.messages import Messages

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
                self.way = describe_way(plan, self.messages) or self.way
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


_WIDE = 120  # from this width on, two columns
_TALL = 21  # rows of a body that has a place for what happened lately
_LABEL = 9
_ASCII = str.maketrans("✓✗·━─┃…", "x!.#-|.")


@dataclass(frozen=True)
class Foot:
    """The last two lines: something to say, and the keys or what is being typed."""

    notice: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    typing: str | None = None


@dataclass(frozen=True)
class Frame:
    """One moment of a run, drawn to fill whatever size it is given."""

    board: Board
    elapsed_s: float
    foot: Foot

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw it: the figures above, what is in hand in the middle, the keys below."""
        width, height = options.max_width, options.height or options.max_height
        head, foot = self._head(width), self._foot_lines()
        if height < len(head) + len(foot) + 2:
            most = [head[0], head[2], *head[4:7]] if height > 3 else [head[2]]
            yield _Lines([*most, *[Text()] * height][: height - 1] + foot[-1:])
            return
        page = Layout()
        page.split_column(
            Layout(_Lines(head), size=len(head)),
            self._body(width, height - len(head) - len(foot)),
            Layout(_Lines(foot), size=len(foot)),
        )
        yield page

    def _head(self, width: int) -> list[Text]:
        board, say = self.board, self.board.messages
        question = Text.assemble(("Fathom  ", "cyan"), (plain(board.question), "bold"))
        stage = Text.assemble(
            (say("view.round", round=board.round, limit=board.limit), "bold"),
            (f"  {say.name('stage', board.stage)}", "cyan"),
            (f"  ({plain(board.way)})" if board.way else "", "dim"),
        )
        found = board.verified + board.refused
        refused = say("view.refused", count=board.refused) if board.refused else ""
        key = "view.none_yet" if not found else "view.hits" if board.is_by_words else "view.verified"
        label = say("view.passages" if board.is_by_words else "view.claims")
        return [
            _row(question, Text(short_id(board.run_id) if board.run_id else "", "dim"), width),
            Text("─" * width, "dim"),
            _row(stage, Text(clock(self.elapsed_s)), width),
            Text(),
            self._score(width),
            self._money(width),
            Text.assemble(
                pad(label, _LABEL) + say(key, count=found, verified=board.verified),
                (refused, "dim"),
                f"    {say('view.pages_read', count=board.pages_read)}",
            ),
            Text(),
        ]

    def _score(self, width: int) -> Text:
        score, enough, say = self.board.score, self.board.threshold, self.board.messages
        label = say("statistics.score")
        if self.board.is_by_words:
            return Text(pad(label, _LABEL) + say("view.no_score"), "dim")
        key = "view.not_judged" if score is None else "view.of"
        words = say(key, part=f"{score or 0:.2f}", all=f"{enough:.2f}")
        style = "green" if (score or 0) >= enough else "cyan"
        return _figure(label, score or 0.0, words, width, style, enough)

    def _money(self, width: int) -> Text:
        spent, say = self.board.spent, self.board.messages
        share = spent.usd / spent.budget_usd if spent.budget_usd else 0.0
        words = say("view.of", part=dollars(spent.usd), all=dollars(spent.budget_usd))
        tokens = {"tokens_in": thousands(spent.tokens_in), "tokens_out": thousands(spent.tokens_out)}
        calls = say("view.calls", count=spent.calls, **tokens) if spent.calls else say("view.no_calls")
        figure = _figure(say("view.spent"), share, words, width, "cyan")
        room = width - figure.cell_len - cell_len(calls)
        return _row(figure, Text(calls, "dim"), width) if room >= 2 else figure

    def _body(self, width: int, rows: int) -> Layout:
        board = self.board
        searches = Layout(_entries("searches", board.searches.values(), board.messages), ratio=4)
        reading = Layout(
            _entries("report", board.sections.values(), board.messages)
            if board.is_writing
            else _entries("pages", board.pages.values(), board.messages),
            ratio=5,
        )
        findings, lately = Layout(_findings(board), ratio=5), Layout(_lately(board), ratio=5)
        body = Layout()
        if width < _WIDE:
            lately.visible = rows >= _TALL
            body.split_column(searches, reading, findings, lately)
            return body
        searches.size, findings.size = max(3, min(9, rows // 3)), max(3, min(14, rows // 2))
        left, right = Layout(), Layout()
        left.split_column(searches, reading)
        right.split_column(findings, lately)
        body.split_row(left, Layout(" ", size=3), right)
        return body

    def _foot_lines(self) -> list[Text]:
        keys = (
            part for key, word in self.foot.keys for part in ((key, "bold reverse"), (f" {word}   ", "dim"))
        )
        last = Text.assemble(*keys) if self.foot.typing is None else Text(self.foot.typing)
        return [Text(plain(self.foot.notice), "cyan"), last]


@dataclass(frozen=True)
class _Lines:
    """Lines that are cut, never wrapped, with ASCII signs where a terminal has no others."""

    lines: Sequence[Text]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            if options.ascii_only:
                line.plain = line.plain.translate(_ASCII)
            line.truncate(options.max_width, overflow="ellipsis")
            line.no_wrap = True
        yield Group(*self.lines)


@dataclass(frozen=True)
class _Section:
    """A title with a rule behind it, and as many lines as the place has room for."""

    title: str
    count: str
    lines: Callable[[int, int], list[Text]]  # of so many rows and so many cells
    empty: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width, rows = options.max_width, (options.height or 1) - 1
        count = f" {self.count} " if self.count else " "
        rule = "─" * (width - cell_len(self.title) - cell_len(count))
        lines = self.lines(rows, width) or [Text(f"  {self.empty}", "dim")]
        yield _Lines([Text.assemble((self.title, "bold"), (count + rule, "dim")), *lines[:rows]])


def _entries(name: str, entries: Iterable[Entry], say: Messages) -> _Section:
    listed = list(entries)
    done = sum(entry.is_done for entry in listed)
    return _Section(
        say(f"view.{name}"),
        say("view.of", part=done, all=len(listed)) if listed else "",
        lambda rows, width: [_entry(e, width) for e in in_view(listed, rows)],
        say.name("view", f"no_{name}") if name != "report" else "",
    )


def _entry(entry: Entry, width: int) -> Text:
    sign, style = ("✗", "yellow") if entry.is_lost else ("✓", "green") if entry.is_done else ("·", "cyan")
    title = Text.assemble((f"  {sign} ", style), (plain(entry.title), "dim" if entry.is_done else ""))
    return _row(title, Text(plain(entry.outcome), "yellow" if entry.is_lost else "dim"), width)


def _findings(board: Board) -> _Section:
    say = board.messages

    def lines(_: int, width: int) -> list[Text]:
        found = [
            _row(
                Text.assemble(("  · ", "cyan"), plain(one.statement)),
                Text("" if board.is_by_words else f"{say.name('tag', one.tag)} {one.confidence:.2f}", "dim"),
                width,
            )
            for one in board.findings
        ]
        return [*found, *(Text.assemble(("  ? ", "yellow"), (plain(gap), "dim")) for gap in board.gaps)]

    count = say("view.last", count=len(board.findings)) if board.findings else ""
    return _Section(say("folder.found"), count, lines, say("view.no_findings"))


def _lately(board: Board) -> _Section:
    return _Section(
        board.messages("view.lately"),
        "",
        lambda rows, _: [Text(f"  {safe(line)}", "dim") for line in list(board.lately)[-rows:]],
    )


def _row(left: Text, right: Text, width: int) -> Text:
    """Two ends of a line; the left one keeps at least a third."""
    right.truncate(max(0, width - width // 3 - 2), overflow="ellipsis")
    gap = 2 if right.plain else 0
    left.truncate(width - right.cell_len - gap, overflow="ellipsis", pad=True)
    return left.append(" " * gap).append_text(right)


def _figure(label: str, share: float, words: str, width: int, style: str, mark: float | None = None) -> Text:
    """A bar that is full at 1, with a mark where enough is, and the same in words."""
    size = max(0, min(40 if width >= _WIDE else 20, width - _LABEL - 2 - cell_len(words)))
    full = round(min(1.0, max(0.0, share)) * size)
    bar = Text.assemble(("━" * full, style), ("─" * (size - full), "dim"))
    if mark is not None and size:
        place = min(size - 1, max(0, round(mark * size) - 1))
        bar = Text.assemble(bar[:place], ("┃", "bold"), bar[place + 1 :])
    return Text.assemble(pad(label, _LABEL), bar, f"  {words}")


def in_view(entries: list[Entry], rows: int) -> list[Entry]:
    """Choose so many entries and keep their order: those in hand first, then those that ended last."""
    in_hand = [n for n, entry in enumerate(entries) if not entry.is_done][: max(0, rows)]
    ended = [n for n, entry in enumerate(entries) if entry.is_done]
    rest = min(len(ended), max(0, rows - len(in_hand)))
    return [entries[n] for n in sorted([*in_hand, *ended[len(ended) - rest :]])]

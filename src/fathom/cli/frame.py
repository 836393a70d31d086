"""The picture of a run: a rich renderable with a fixed place for everything.

Does not know terminals. Places depend on the window size alone, so nothing jumps. Every line is a `Text` of
safe characters, so no title can inject markup or escape sequences.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.layout import Layout
from rich.text import Text

from fathom.cli.board import Board, Entry
from fathom.cli.text import clock, dollars, pad, plain, safe, thousands
from fathom.state import short_id
from fathom.text.messages import Messages

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

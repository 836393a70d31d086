"""One picture of a run: a fixed place for everything, at any size.

Does not know terminals: a board, a width and a height in, so many lines out. Where a line stands depends on
the size alone, never on what happens, so that the eye finds it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fathom.cli.amounts import dollars, thousands
from fathom.cli.board import Board, Entry
from fathom.cli.cells import plain
from fathom.cli.lines import BLANK, Glyphs, Line, Piece, bar, beside, fitted, heading, row
from fathom.ids import short_id
from fathom.report.words import counted

_BESIDE = 120  # from this width on, two columns
_LABEL = 9
_BAR = 20
_LONG_BAR = 40
_SEARCHES = 9  # rows beside each other: no more are of use
_FINDINGS = 14
_LOW = 3  # rows that have a place for what matters most and no more
_TALL = 21  # rows of a body that has a place for what happened lately


@dataclass(frozen=True)
class Foot:
    """The last two lines: something to say, and the keys or what is being typed."""

    notice: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    line: str | None = None  # what is being typed, if anything is
    prompt: str = ""


@dataclass(frozen=True)
class Frame:
    """Draws boards of one size."""

    width: int
    height: int
    glyphs: Glyphs = field(default_factory=Glyphs)

    def lines(self, board: Board, elapsed_s: float, foot: Foot) -> list[Line]:
        """Exactly `height` lines of exactly `width` cells."""
        head, feet = self._head(board, elapsed_s), self._feet(foot)
        if self.height < len(head) + len(feet):
            first = [head[0], head[2]] if self.height > _LOW else [head[2], head[0]]
            made = [*[*first, *head[4:7]][: max(1, self.height - 1)], feet[-1]][: self.height]
        else:
            made = [*head, *self._body(board, self.height - len(head) - len(feet)), *feet]
        made += [BLANK] * (self.height - len(made))
        return [fitted(line, self.width) for line in made]

    def _head(self, board: Board, elapsed_s: float) -> list[Line]:
        name = short_id(board.run_id) if board.run_id else ""
        question = [Piece("Fathom  ", "accent"), Piece(plain(board.question), "title")]
        way = f"  ({plain(board.way)})" if board.way else ""
        stage = [
            Piece(f"Round {board.round} of {board.limit}", "title"),
            Piece(f"  {board.stage}", "accent"),
            Piece(way, "dim"),
        ]
        return [
            row(question, [Piece(name, "dim")], self.width),
            (Piece(self.glyphs.rule * self.width, "dim"),),
            row(stage, [Piece(clock(elapsed_s))], self.width),
            BLANK,
            self._score(board),
            self._money(board),
            self._counts(board),
            BLANK,
        ]

    def _figure(
        self, label: str, share: float, words: str, more: str, mark: float | None, is_good: bool
    ) -> Line:
        longest = _LONG_BAR if self.width >= _BESIDE else _BAR
        size = max(0, min(longest, self.width - _LABEL - 2 - len(words)))
        drawn = bar(share, size, self.glyphs, mark, "good" if is_good else "accent")
        dim = [Piece(more, "dim")] if self.width >= _LABEL + size + len(words) + len(more) + 6 else []
        return row([Piece(f"{label:<{_LABEL}}"), *drawn, Piece(f"  {words}")], dim, self.width)

    def _score(self, board: Board) -> Line:
        score = board.score or 0.0
        words = (
            f"{score:.2f} of {board.threshold:.2f}"
            if board.score is not None
            else f"not judged yet, {board.threshold:.2f} is enough"
        )
        return self._figure("Score", score, words, "", board.threshold, score >= board.threshold)

    def _money(self, board: Board) -> Line:
        spent = board.spent
        share = spent.usd / spent.budget_usd if spent.budget_usd else 0.0
        words = f"{dollars(spent.usd)} of {dollars(spent.budget_usd)}"
        sort = " tokens" if self.width >= _BESIDE else ""
        tokens = f"{thousands(spent.tokens_in)}{sort} in, {thousands(spent.tokens_out)} out"
        more = f"{counted(spent.calls, 'call')}, {tokens}" if spent.calls else "no model was asked"
        return self._figure("Spent", share, words, more, None, False)

    def _counts(self, board: Board) -> Line:
        found = board.verified + board.refused
        pages = f"{board.pages_read} read"
        claims = f"{found} found, {board.verified} verified" if found else "none yet"
        refused = f", {board.refused} refused" if board.refused else ""
        return (
            Piece(f"{'Claims':<{_LABEL}}"),
            Piece(claims),
            Piece(refused, "dim"),
            Piece("    Pages  ", ""),
            Piece(pages),
        )

    def _body(self, board: Board, rows: int) -> list[Line]:
        """Searches, pages, findings, and what happened lately, each with its share of the rows."""
        if self.width >= _BESIDE:
            left, right = (self.width - 3) // 2, self.width - 3 - (self.width - 3) // 2
            searching = max(3, min(_SEARCHES, rows // 3))
            finding = max(3, min(_FINDINGS, rows // 2))
            one = [*self._searches(board, searching, left), *self._reading(board, rows - searching, left)]
            two = [*self._findings(board, finding, right), *self._lately(board, rows - finding, right)]
            return beside(one[:rows], two[:rows], self.width)
        lately = rows // 4 if rows >= _TALL else 0
        rest = rows - lately
        searching, reading = rest * 4 // 14, rest * 5 // 14
        parts = [
            *self._searches(board, searching, self.width),
            *self._reading(board, reading, self.width),
            *self._findings(board, rest - searching - reading, self.width),
            *self._lately(board, lately, self.width),
        ]
        return parts[:rows]

    def _searches(self, board: Board, rows: int, width: int) -> list[Line]:
        entries = list(board.searches.values())
        return self._part("Searches", entries, "the plan is being made", rows, width)

    def _reading(self, board: Board, rows: int, width: int) -> list[Line]:
        if board.is_writing:
            return self._part("Report", list(board.sections.values()), "", rows, width)
        return self._part("Pages", list(board.pages.values()), "none chosen yet", rows, width)

    def _part(self, title: str, entries: list[Entry], empty: str, rows: int, width: int) -> list[Line]:
        done = sum(entry.is_done for entry in entries)
        count = f"{done} of {len(entries)}" if entries else ""
        shown = [self._entry(entry, width) for entry in in_view(entries, rows - 1)]
        return _section(heading(title, count, width, self.glyphs), shown, empty, rows)

    def _entry(self, entry: Entry, width: int) -> Line:
        sign, style = (
            (self.glyphs.lost, "bad")
            if entry.is_lost
            else (self.glyphs.done, "good")
            if entry.is_done
            else (self.glyphs.open, "accent")
        )
        left = [Piece(f"  {sign} ", style), Piece(plain(entry.title), "dim" if entry.is_done else "")]  # type: ignore[arg-type]
        return row(left, [Piece(plain(entry.outcome), "bad" if entry.is_lost else "dim")], width)

    def _findings(self, board: Board, rows: int, width: int) -> list[Line]:
        title = heading(
            "Found", f"the last {len(board.findings)}" if board.findings else "", width, self.glyphs
        )
        shown = [
            row(
                [Piece(f"  {self.glyphs.open} ", "accent"), Piece(plain(one.statement))],
                [Piece(f"{one.tag} {one.confidence:.2f}", "dim")],
                width,
            )
            for one in board.findings
        ]
        if rows - 1 > len(shown):
            shown += [fitted([Piece("  ? ", "bad"), Piece(plain(gap), "dim")], width) for gap in board.gaps]
        return _section(title, shown[: rows - 1], "what is found is told when the round is judged", rows)

    def _lately(self, board: Board, rows: int, width: int) -> list[Line]:
        latest = list(board.lately)[-(rows - 1) :] if rows > 1 else []
        shown = [fitted([Piece(f"  {line}", "dim")], width) for line in latest]
        return _section(heading("Lately", "", width, self.glyphs), shown, "", rows)

    def _feet(self, foot: Foot) -> list[Line]:
        if foot.line is not None:
            last: Line = (Piece(foot.prompt, "title"), Piece(foot.line))
        else:
            last = tuple(
                piece for key, word in foot.keys for piece in (Piece(key, "key"), Piece(f" {word}   ", "dim"))
            )
        return [fitted([Piece(plain(foot.notice), "accent")], self.width), fitted(last, self.width)]


def _section(title: Line, shown: Sequence[Line], empty: str, rows: int) -> list[Line]:
    """A title and its lines, in exactly so many rows."""
    lines = list(shown) or [(Piece(f"  {empty}", "dim"),)]
    return [title, *lines, *[BLANK] * rows][:rows]


def in_view(entries: list[Entry], rows: int) -> list[Entry]:
    """So many entries, in their order: those in hand first, then those that ended last."""
    if len(entries) <= rows:
        return entries
    in_hand = [n for n, entry in enumerate(entries) if not entry.is_done][:rows]
    ended = [n for n, entry in enumerate(entries) if entry.is_done]
    rest = rows - len(in_hand)
    return [entries[n] for n in sorted([*in_hand, *(ended[-rest:] if rest > 0 else [])])]


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours when there are any."""
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"

"""Charts of a report's tables, as SVG: bars for a comparison, columns for a series over time.

Only figures that are quoted or recomputed are drawn, each with the words of its cell. Does not know where the
picture is shown. A table gets no chart when it is not certain that its figures can be compared.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape

from fathom.evidence.checks.figures import Figure, find_figures
from fathom.report.formats.markdown import DISPUTED
from fathom.report.layout import BlockLayout, PreparedReport, cited_numbers, lay_out_blocks
from fathom.state import Sentence
from fathom.text.normalization import one_line

_FEWEST, _MOST, _MOST_SERIES = 3, 16, 3
_PERIOD = re.compile(r"(?:\D{0,12})?\b(?:1[5-9]|20|21)\d\d(?!\d).{0,8}")
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_HAS_UNIT = re.compile(r"\([^()]+\)|[%$€£¥₩]")
_MINUS = re.compile(r"[-−–]\s?[$€£¥₩]?$")
_BESIDE = " ()+-−–~≈"
_LONGEST_CELL = 40
_FONT = "'Noto Sans CJK KR', 'Noto Sans KR', 'Malgun Gothic', 'Apple SD Gothic Neo', sans-serif"
_WIDE, _NARROW, _SIZE = 640.0, 340.0, 13.0


@dataclass(frozen=True)
class Point:
    """A figure of the table, drawn with the words of its cell."""

    value: float
    unit: tuple[str, str]  # its dimension, and the words beside it
    text: str
    cited: Sequence[int]


@dataclass(frozen=True)
class Series:
    """Figures of one thing; None where the table has none."""

    name: str
    points: Sequence[Point | None]

    @property
    def known(self) -> list[Point]:
        """The figures that are there."""
        return [point for point in self.points if point]


@dataclass(frozen=True)
class Chart:
    """Comparable figures under the same labels."""

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    is_over_time: bool

    @property
    def cited(self) -> list[int]:
        """The sources of its figures."""
        return sorted({number for series in self.series for point in series.known for number in point.cited})

    @property
    def description(self) -> str:
        """All it shows, in words, for those who do not see it."""
        told = [
            ": ".join(part for part in (series.name, label) if part) + f" {point.text}"
            for series in self.series
            for label, point in zip(self.labels, series.points, strict=True)
            if point
        ]
        return f"{self.title}. {'; '.join(told)}"


@dataclass(frozen=True)
class PlacedChart:
    """A chart, and the table that it stands below."""

    section: str
    block: int
    chart: Chart


def place_charts(report: PreparedReport) -> list[PlacedChart]:
    """Every chart of a report, with its place."""
    return [
        PlacedChart(section.id, section.blocks.index(layout.block), chart)
        for section in report.sections
        for layout in lay_out_blocks(section)
        if layout.block.kind == "table"
        for chart in charts_of(layout, report)
    ]


def charts_of(layout: BlockLayout, report: PreparedReport) -> Iterator[Chart]:
    """The chart of a table, if three or more of its figures can be compared."""
    rows = [row[1:] for row in layout.rows]
    labels = [one_line(" ".join(s.text for s in row[0])) for row in layout.rows]
    heads = [one_line(name) for name in layout.block.columns[1:]]
    if not all(labels) or not rows or len(heads) != len(rows[0]):
        return
    points = [[_point(cell, report) for cell in row] for row in rows]
    along = [Series(label, row) for label, row in zip(labels, points, strict=True)]
    down = [Series(head, column) for head, column in zip(heads, zip(*points, strict=True), strict=True)]
    ways = [(names, given, _are_periods(names)) for names, given in ((labels, down), (heads, along))]
    for names, given, is_over_time in sorted(ways, key=lambda way: not way[2]):
        chosen = _comparable(given, is_over_time=is_over_time)
        if chosen and len(names) <= _MOST:
            titles = [layout.block.title] if layout.block.title else []
            is_named = any(chosen[0].name.casefold() in title.casefold() for title in titles)
            titles += [chosen[0].name] if (len(chosen) == 1 and not is_named) or not titles else []
            yield Chart(one_line(" – ".join(filter(None, titles))), names, chosen, is_over_time)
            return


def _are_periods(names: Sequence[str]) -> bool:
    return all(_PERIOD.fullmatch(name) for name in names)


def _point(cell: Sequence[Sentence], report: PreparedReport) -> Point | None:
    if len(cell) != 1 or len(cell[0].text) > _LONGEST_CELL:
        return None
    sentence, text = cell[0], one_line(cell[0].text)
    found, cited = find_figures(text), cited_numbers(sentence, report.numbers)
    if len(found) != 1 or not cited or found[0].bound or found[0].code:
        return None
    figure = found[0]
    value = -figure.base if _MINUS.search(text[: figure.start]) else figure.base
    shown = text + DISPUTED if report.is_disputed(sentence) else text
    return Point(value, (figure.dimension, _beside(text, figure)), shown, cited)


def _beside(text: str, figure: Figure) -> str:
    return (text[: figure.start] + text[figure.end :]).strip(_BESIDE).casefold()


def _comparable(given: Sequence[Series], *, is_over_time: bool) -> list[Series]:
    """The first series with enough figures in one unit, and up to two more in the same unit."""
    chosen: list[Series] = []
    for series in given:
        known = series.known
        units = {point.unit for point in known}
        if len(known) < _FEWEST or len(units) != 1 or not any(point.value for point in known):
            continue
        has_unit = any(next(iter(units)))
        if all(_YEAR.fullmatch(point.text) for point in known):
            continue
        if not (has_unit or is_over_time or _HAS_UNIT.search(series.name)):
            continue
        if not chosen or (has_unit and units == {chosen[0].known[0].unit}):
            chosen.append(series)
    return chosen[:_MOST_SERIES]


@dataclass(frozen=True)
class _Canvas:
    """How wide a chart is drawn, and in which colours."""

    width: float
    words: str
    line: str
    bars: tuple[str, str, str]

    def box(self, x: float, y: float, width: float, height: float, colour: int) -> str:
        return (
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{max(height, 1):.1f}"'
            f' fill="{self.bars[colour]}"/>'
        )

    def rule(self, x1: float, y1: float, x2: float, y2: float) -> str:
        return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{self.line}"/>'


_LIGHT = _Canvas(_WIDE, "#333", "#999", ("#0b5866", "#8fb3cc", "#c9803b"))
_DARK = _Canvas(_WIDE, "#d7dcdf", "#74818a", ("#6fb6d9", "#35617d", "#d99a5b"))


def draw_chart(chart: Chart, *, is_narrow: bool = False, is_dark: bool = False) -> str:
    """The chart as one SVG element without style sheet, script or link; narrow for a phone."""
    canvas = replace(_DARK if is_dark else _LIGHT, width=_NARROW if is_narrow else _WIDE)
    slot = canvas.width / len(chart.labels)
    is_upright = (
        chart.is_over_time
        and len(chart.series) == 1
        and all(_wide(p.text) < slot - 4 for p in chart.series[0].known)
        and all(_wide(label) < slot - 4 for label in chart.labels)
    )
    height, shapes = _columns(chart, canvas) if is_upright else _bars(chart, canvas)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {canvas.width:.0f} {height:.0f}" role="img"'
        f' font-family="{_FONT}" font-size="{_SIZE:.0f}" fill="{canvas.words}">'
        f"<title>{escape(chart.description)}</title>{''.join(shapes)}</svg>"
    )


def _scale(chart: Chart) -> tuple[float, float]:
    values = [point.value for series in chart.series for point in series.known]
    return min(0.0, *values), max(0.0, *values)


def _columns(chart: Chart, canvas: _Canvas) -> tuple[float, Iterator[str]]:
    height, top, foot = 210.0, 24.0, 26.0
    low, high = _scale(chart)
    per_unit = (height - top - foot - (18 if low < 0 else 0)) / (high - low)
    zero, slot = top + high * per_unit, canvas.width / len(chart.labels)

    def shapes() -> Iterator[str]:
        width = min(slot * 0.6, 64.0)
        for place, (label, point) in enumerate(zip(chart.labels, chart.series[0].points, strict=True)):
            middle = slot * (place + 0.5)
            yield _text(middle, height - 8, label, "middle")
            if point:
                size = abs(point.value) * per_unit
                yield canvas.box(middle - width / 2, zero - (size if point.value > 0 else 0), width, size, 0)
                words = zero - size - 7 if point.value >= 0 else zero + size + 15
                yield _text(middle, words, point.text, "middle")
        yield canvas.rule(0, zero, canvas.width, zero)

    return height, shapes()


def _bars(chart: Chart, canvas: _Canvas) -> tuple[float, Iterator[str]]:
    count = len(chart.series)
    bar, gap, top = (20.0 if count == 1 else 16.0), 12.0, 0.0 if count == 1 else 30.0
    group = bar * count + gap
    height = top + group * len(chart.labels)
    longest = canvas.width * 0.36
    left = min(longest, max(_wide(label) for label in chart.labels)) + 12
    texts = max(_wide(point.text) for series in chart.series for point in series.known) + 8
    low, high = _scale(chart)
    room = canvas.width - left - texts - (texts if low < 0 else 0)
    per_unit = max(room, 80.0) / (high - low)
    zero = left + (texts if low < 0 else 0) - low * per_unit

    def shapes() -> Iterator[str]:
        if count > 1:
            place = left
            for n, series in enumerate(chart.series):
                yield canvas.box(place, 5, 12, 12, n)
                yield _text(place + 18, 15.5, series.name)
                place += _wide(series.name) + 42
        for row, label in enumerate(chart.labels):
            start = top + row * group + gap / 2
            yield _text(left - 12, start + bar * count / 2 + 4.5, _cut(label, longest), "end")
            for n, series in enumerate(chart.series):
                if point := series.points[row]:
                    size = abs(point.value) * per_unit
                    yield canvas.box(
                        zero - (0 if point.value > 0 else size), start + n * bar, size, bar - 2, n
                    )
                    is_left = point.value < 0
                    edge = zero - size - 6 if is_left else zero + size + 6
                    yield _text(edge, start + n * bar + bar / 2 + 3.5, point.text, "end" if is_left else "")
        yield canvas.rule(zero, top, zero, height)

    return height, shapes()


def _text(x: float, y: float, words: str, anchor: str = "") -> str:
    aligned = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{aligned}>{escape(words)}</text>'


def _wide(words: str) -> float:
    """About how wide the words are drawn."""
    return _SIZE * sum(1.0 if unicodedata.east_asian_width(sign) in "WF" else 0.6 for sign in words)


def _cut(label: str, room: float) -> str:
    """A label as far as there is room for it."""
    while _wide(label) > room:
        label = label[: -2 if label.endswith("…") else -1].rstrip() + "…"
    return label

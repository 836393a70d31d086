"""The quotable units of a document, which a reader can use as they stand: a paragraph, a list or one of its
items, a definition, a table or one of its rows, code with its lead-in, a short section.

Each knows the headings it stands under and what is needed to understand it alone: the sentence that leads
into its list, or the head of its table.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile
from typing import Literal

UnitKind = Literal["paragraph", "item", "definition", "row", "code", "list", "table", "section", "sections"]
_MAX_UNIT_CHARS = 5000  # a longer list or table is only quoted by its entries
_SECTION_CHARS = 1100
_SECTIONS_CHARS = 3000
_LEAD_IN_CHARS = 700

_BLOCK = re.compile(
    r"(?:(?P<fence>^`{3,})[^\n`]*$.*?^(?P=fence)$)|(?:^[^\n]+(?:\n[^\n]+)*)", re.DOTALL | re.MULTILINE
)
_HEADING = re.compile(r"(#{1,6}) (.+)")
_ITEM = re.compile(r"(?P<indent> *)(?P<mark>-|\(?[0-9A-Za-z]{1,9}[.)]) (?P<words>\S.*)")
_DEFINITION = re.compile(r"(?:`[^`]+`|[^\s.:][^.:]{0,80}): \S")
_LEADS_IN = re.compile(
    r"[:：]$|\b(?:following|as follows|these|below)\b|다음|아래|같다\.$|같습니다\.$", re.IGNORECASE
)
_ENTRY_LINE = re.compile(r" *(?:-|\(?\d{1,9}[.)]) \S")


@dataclass(frozen=True)
class Unit:
    """One unit; `start` and `end` are its place in the document's text, without a list item's mark.

    `context` is the lead-in of a list, or the head of a table; empty where there is none.
    """

    kind: UnitKind
    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()
    context: str = ""


def _blocks(text: str) -> Iterator[Unit]:
    """The blocks of a document that are no headings."""
    headings: list[tuple[int, str]] = []
    for found in _BLOCK.finditer(text):
        block = found.group()
        if heading := _HEADING.fullmatch(block):
            level = len(heading.group(1))
            headings = [*(above for above in headings if above[0] < level), (level, heading.group(2))]
            continue
        kind: UnitKind = "list" if _ENTRY_LINE.match(block) else "paragraph"
        if found.group("fence") or block.startswith("| "):
            kind = "code" if found.group("fence") else "table"
        yield Unit(kind, block, found.start(), found.end(), tuple(words for _, words in headings))


def whole_units(text: str) -> Iterator[Unit]:
    """What can be quoted and understood alone, the larger before its parts: they overlap.

    A list or table comes with the sentence that leads into it, code only together with that sentence, a short
    section as one, and several short ones with the heading that is above them all.
    """
    sections = [list(group) for _, group in groupby(_blocks(text), key=lambda block: block.headings)]
    for place, blocks in enumerate(sections):
        path = blocks[0].headings
        below = _sections_below(path, sections[place + 1 :])
        size = below[-1][-1].end - blocks[0].start if path and len(below) > 1 else 0
        if 0 < size <= min(_SECTIONS_CHARS, len(text) // 2):  # more would be the document
            yield _span_unit("sections", [*blocks, *below[-1]], text)
        if len(blocks) > 1 and blocks[-1].end - blocks[0].start <= _SECTION_CHARS:
            yield _span_unit("section", blocks, text)
        yield from _section_units(blocks, text)


def _sections_below(path: tuple[str, ...], after: Sequence[list[Unit]]) -> list[list[Unit]]:
    return list(takewhile(lambda blocks: blocks[0].headings[: len(path)] == path, after))


def _section_units(blocks: Sequence[Unit], text: str) -> Iterator[Unit]:
    """The blocks under one heading, each with what leads into it."""
    pairs = [(a, b) for a, b in pairwise(blocks) if _is_lead_in(a) and b.kind != "paragraph"]
    led = {after.start: before for before, after in pairs}
    leading = {before.start for before, _ in pairs}
    for block in blocks:
        own = [led[block.start], block] if block.start in led else [block]
        size = own[-1].end - own[0].start
        if block.kind == "paragraph":
            if block.start not in leading:
                yield _span_unit("paragraph", own, text)
        elif block.kind == "code":
            if len(own) > 1 and size <= _SECTION_CHARS:
                yield _span_unit("code", own, text)
        else:
            if size <= _MAX_UNIT_CHARS:
                yield _span_unit(block.kind, own, text)
            context = own[0].text if len(own) > 1 else ""
            yield from _items(block, context) if block.kind == "list" else _rows(block)


def _is_lead_in(block: Unit) -> bool:
    is_short = len(block.text) <= _LEAD_IN_CHARS
    return block.kind == "paragraph" and is_short and _LEADS_IN.search(block.text) is not None


def _span_unit(kind: UnitKind, blocks: Sequence[Unit], text: str) -> Unit:
    start, end = blocks[0].start, blocks[-1].end
    return Unit(kind, text[start:end], start, end, blocks[0].headings)


def _rows(table: Unit) -> Iterator[Unit]:
    """A table's rows; the first is the head of the others."""
    head, *rows = table.text.split("\n")
    if not rows:
        yield replace(table, kind="row")
    at = table.start + len(head) + 1
    for row in rows:
        yield Unit("row", row, at, at + len(row), table.headings, head)
        at += len(row) + 1


def _items(listing: Unit, lead_in: str) -> Iterator[Unit]:
    """A list's items, each with the lines that belong to it and under the items it is part of."""
    block, at = listing.text, listing.start
    above: list[tuple[int, str]] = []
    starts = [line.start() for line in re.finditer(r"^.+$", block, re.MULTILINE) if _ITEM.match(line.group())]
    for start, end in zip(starts, [*starts[1:], len(block) + 1], strict=True):
        entry = block[start : end - 1]
        found = _ITEM.match(entry)
        assert found is not None
        depth, shift = len(found.group("indent")), found.start("words")
        above = [item for item in above if item[0] < depth]
        words = entry[shift:]
        kind: UnitKind = "definition" if _DEFINITION.match(words) else "item"
        context = "\n".join(filter(None, [lead_in, *(item for _, item in above)]))
        yield Unit(kind, words, at + start + shift, at + end - 1, listing.headings, context)
        above.append((depth, words))

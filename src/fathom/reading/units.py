"""The quotable units of a document: a paragraph, a list item, a definition, a table row, a piece of code.

Each knows the headings it stands under and what is needed to understand it alone: the sentence that leads
into its list, or the head of its table. Does not know formats: it reads the one shape of `blocks.py`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

UnitKind = Literal["paragraph", "item", "definition", "row", "code"]

_BLOCK = re.compile(
    r"(?:(?P<fence>^`{3,})$.*?^(?P=fence)$)|(?:^[^\n]+(?:\n[^\n]+)*)", re.DOTALL | re.MULTILINE
)
_HEADING = re.compile(r"(#{1,6}) (.+)")
_ITEM = re.compile(r"(?P<indent> *)(?P<mark>-|\(?[0-9A-Za-z]{1,9}[.)]) (?P<words>\S.*)")
_DEFINITION = re.compile(r"(?:`[^`]+`|[^\s.:][^.:]{0,80}): \S")
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


def units(text: str) -> Iterator[Unit]:
    """The units of a document's text, in its order."""
    headings: list[tuple[int, str]] = []
    lead_in = ""
    for found in _BLOCK.finditer(text):
        block, at = found.group(), found.start()
        path = tuple(words for _, words in headings)
        if heading := _HEADING.fullmatch(block):
            level = len(heading.group(1))
            headings = [*(above for above in headings if above[0] < level), (level, heading.group(2))]
            lead_in = ""
        elif found.group("fence"):
            yield Unit("code", block, at, found.end(), path, lead_in)
        elif block.startswith("| "):
            yield from _rows(block, at, path)
        elif _ENTRY_LINE.match(block):
            yield from _items(block, at, path, lead_in)
        else:
            lead_in = block if block.endswith((":", "：")) else ""
            yield Unit("paragraph", block, at, found.end(), path)


def _rows(block: str, at: int, path: tuple[str, ...]) -> Iterator[Unit]:
    """A table's rows; the first is the head of the others."""
    head, *rows = block.split("\n")
    if not rows:
        yield Unit("row", head, at, at + len(head), path)
    at += len(head) + 1
    for row in rows:
        yield Unit("row", row, at, at + len(row), path, head)
        at += len(row) + 1


def _items(block: str, at: int, path: tuple[str, ...], lead_in: str) -> Iterator[Unit]:
    """A list's items, each with the lines that belong to it and under the items it is part of."""
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
        yield Unit(kind, words, at + start + shift, at + end - 1, path, context)
        above.append((depth, words))

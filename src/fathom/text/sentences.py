"""Sentences of a text with their positions, in Latin, Korean, Chinese and Japanese scripts.

Does not know which sentences matter. Headings, code, tables and list marks are left out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^\s*(```|~~~)")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")
_LIST_MARK = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|\[\d+\])\s+")
# A full stop ends a sentence when white space follows; a CJK one needs none. The first letter stands before
# the choice, so that no other place is tried; a row of stops is tried once, and not from each of them.
_END = re.compile(
    r"[.!?…。！？](?:(?<=[.!?…])(?<![.!?…]{2})[.!?…]*+[\"'”’)\]]*+(?=\s|$)|(?<=[。！？])[。！？]*[」』”）]*)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|Fig|No|Nos|Dr|Mr|Mrs|Ms|Prof|St|Jr|Sr|Inc|Ltd|Co|approx|ca|pp|vol)"
    r"|\b[A-Z])\.$"
)
_LONGEST_ABBREVIATION = 7


@dataclass(frozen=True)
class Span:
    """A sentence: where it stands, what it says, and the heading above it."""

    start: int
    end: int
    text: str
    heading: str


@dataclass(frozen=True)
class _Line:
    start: int
    text: str
    heading: str


def sentences(text: str) -> list[Span]:
    """Every sentence of running text, in order."""
    return [span for line in _prose_lines(text) for span in _spans(line)]


def _prose_lines(text: str) -> Iterator[_Line]:
    offset, heading, is_code = 0, "", False
    for raw in text.splitlines(keepends=True):
        line = raw.rstrip()
        start, offset = offset, offset + len(raw)
        if _FENCE.match(line):
            is_code = not is_code
        elif is_code or not line or line.lstrip().startswith(("|", ">>>", "$ ")):
            continue
        elif found := _HEADING.match(line):
            heading = found.group(1).strip()
        else:
            mark = _LIST_MARK.match(line)
            skip = mark.end() if mark else len(line) - len(line.lstrip())
            yield _Line(start + skip, line[skip:], heading)


def _spans(line: _Line) -> Iterator[Span]:
    begin = 0
    for stop in _END.finditer(line.text):
        if _ABBREVIATION.search(line.text, max(begin, stop.end() - _LONGEST_ABBREVIATION), stop.end()):
            continue
        yield from _span(line, begin, stop.end())
        begin = stop.end()
    yield from _span(line, begin, len(line.text))


def _span(line: _Line, begin: int, end: int) -> Iterator[Span]:
    words = line.text[begin:end]
    stripped = words.strip()
    if stripped:
        start = line.start + begin + len(words) - len(words.lstrip())
        yield Span(start, start + len(stripped), stripped, line.heading)

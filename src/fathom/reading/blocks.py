"""The one shape all documents are brought into: blocks with blank lines between them.

A block is a heading (`# `), a paragraph on one line, a list or a table with a line an entry, or fenced code.
Does not know where blocks come from.
"""

import re
import unicodedata
from collections.abc import Iterable
from datetime import date

from fathom.errors import Unreadable
from fathom.reading.links import Anchor, locate_links
from fathom.reading.protocol import Document

_FENCE = "```"
_CONTROL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\ufeff]"
)
_BREAKS = re.compile("\r\n?|[\u2028\u2029\x85]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")
_HEADING = re.compile(r"#{1,6} (.+)")
# What programs write as a title: "Microsoft Word - draft3.docx", "untitled", the name of a file.
_NO_TITLE = re.compile(
    r"^(?:untitled|no title|microsoft (?:word|powerpoint|excel)\b.*)$"
    r"|\.(?:docx?|pptx?|xlsx?|odt|rtf|pdf|tex|dvi|indd|qxd|md|rst|txt|html?)$",
    re.IGNORECASE,
)
_TITLE_LINE = re.compile(r"[^\W_`|#-].*[^.!?:;,。]")
_TITLE_CHARS = 100
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class EmptyDocument(Unreadable):
    """There is nothing to read in it, and nothing is wrong with that."""


def clean_text(text: str) -> str:
    """The same text without characters that nobody sees: composed, one kind of line break, no controls."""
    text = _BREAKS.sub("\n", text)
    text = _CONTROL.sub("", text.replace("\x0c", "\n\n").replace("\xa0", " "))
    if not text.isascii():
        text = unicodedata.normalize("NFC", _SURROGATES.sub("\ufffd", text))
    return text


def one_line(text: str) -> str:
    """A paragraph without its line breaks, so that every sentence stands on one line."""
    return _SPACES.sub(" ", text).strip()


def iso_day(stamp: str) -> str | None:
    """The day at the start of an ISO date or time; nothing if it is none."""
    found = _ISO_DAY.match(stamp.strip())
    try:
        return date.fromisoformat(found.group()).isoformat() if found else None
    except ValueError:
        return None


def heading_block(level: int, text: str) -> str:
    """A heading block; nothing for a heading without words."""
    words = one_line(text)
    return f"{'#' * max(1, min(level, 6))} {words}" if words else ""


def code_block(lines: Iterable[str]) -> str:
    """A fenced block, with a fence that the code cannot close; nothing for no code."""
    kept = [line.expandtabs(4).rstrip() for line in lines]
    while kept and not kept[0]:
        kept.pop(0)
    while kept and not kept[-1]:
        kept.pop()
    if not kept:
        return ""
    margin = min(len(line) - len(line.lstrip()) for line in kept if line)
    inside = [line[margin:] for line in kept]
    fence = _FENCE
    while any(line.startswith(fence) for line in inside):
        fence += "`"
    return "\n".join([fence, *inside, fence])


def build_document(
    blocks: Iterable[str],
    *,
    how: str,
    name: str,
    title: str | None = None,
    published: str | None = None,
    author: str | None = None,
    publisher: str | None = None,
    language: str | None = None,
    anchors: Iterable[Anchor] = (),
) -> Document:
    """The finished document; `name` is its address or path, against which links are resolved."""
    kept = tidy_blocks(blocks)
    if not kept:
        raise EmptyDocument(f"{name} has no text")
    given = one_line(clean_text(title or ""))
    chosen = given if given and not _NO_TITLE.search(given) else _title_from_text(kept, name)
    text = "\n\n".join(kept)
    return Document(
        text=text,
        title=chosen[:300],
        how=how,
        published=published,
        author=one_line(clean_text(author or ""))[:300] or None,
        publisher=one_line(clean_text(publisher or ""))[:300] or None,
        language=language,
        links=locate_links(text, anchors, name),
    )


def _title_from_text(blocks: list[str], name: str) -> str:
    """The first heading, else a first line that is no sentence, else the name of the file."""
    for block in blocks:
        if found := _HEADING.fullmatch(block):
            return found[1]
    if len(blocks) > 1 and len(blocks[0]) <= _TITLE_CHARS and _TITLE_LINE.fullmatch(blocks[0]):
        return blocks[0]
    return name.rstrip("/").rpartition("/")[2] or name


def table_block(rows: Iterable[Iterable[str]]) -> str:
    """A table block with a line a row; rows without words are left out."""
    lines = [[one_line(cell) for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines if any(cells))


def tidy_blocks(blocks: Iterable[str]) -> list[str]:
    """The blocks that say something, as they will stand in the document."""
    return [block for block in map(_tidy_block, blocks) if block]


def _tidy_block(block: str) -> str:
    return "\n".join(line.rstrip() for line in clean_text(block).split("\n")).strip("\n")

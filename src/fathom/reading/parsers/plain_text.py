"""Plain text: bytes decoded by what they say of themselves, lines joined back into paragraphs."""

import codecs
import csv
import io
import re
from itertools import pairwise

from charset_normalizer import from_bytes

from fathom.errors import Unreadable
from fathom.reading import Document, build_document, clean_text, table_block
from fathom.text.normalization import one_line

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_BINARY_BYTES = bytes({*range(0x20)} - {0x09, 0x0A, 0x0C, 0x0D, 0x1B})
_ENTRY = re.compile(r"\s*(?:[-*+•·▪]|\d{1,3}[.)]|\(\d{1,3}\))\s+\S")
_SENTENCE_END = re.compile(r"[.!?:;。！？…][\"'”’)\]]*$")
_SAMPLE = 65_536
_SOUND_PER_FLAW = 3


def decode(body: bytes, *, charset: str | None, name: str) -> str:
    """The text of some bytes: byte order mark, UTF-8, what was declared, UTF-8 with a few flaws, a guess."""
    for mark, encoding in _BOMS:
        if body.startswith(mark):
            return _try_decode(body, encoding) or _refuse_binary(name)
    start = body[:_SAMPLE]
    controls = len(start) - len(start.translate(None, _BINARY_BYTES))
    if b"\0" in start or controls > 4 + len(start) // 100:
        _refuse_binary(name)
    text = _try_decode(body, "utf-8")
    if text is None and charset:
        text = _try_decode(body, charset)
    if text is None:
        text = _nearly_utf8(body)
    return text if text is not None else _guess_encoding(body)


def read_plain(text: str, *, name: str) -> Document:
    """A text file as it is, with its wrapped lines joined."""
    return build_document(text_blocks(text), how="text", name=name)


def text_blocks(text: str) -> list[str]:
    """Blocks between blank lines; lines that were only wrapped become one, lines that were meant stay."""
    return [
        _join_wrapped(block.split("\n")) for block in re.split(r"\n\s*\n", clean_text(text)) if block.strip()
    ]


def _join_wrapped(lines: list[str]) -> str:
    width = max(len(line) for line in lines)
    out = [one_line(lines[0])]
    for before, line in pairwise(lines):
        is_meant = _ENTRY.match(line) or (len(before) < 0.6 * width and _SENTENCE_END.search(before.rstrip()))
        if is_meant or len(before) < 0.3 * width:
            out.append(one_line(line))
        else:
            out[-1] = f"{out[-1]} {one_line(line)}"
    return "\n".join(out)


def _refuse_binary(name: str) -> str:
    raise Unreadable(f"{name} is not text")


def _try_decode(body: bytes, encoding: str) -> str | None:
    try:
        return body.decode(encoding)
    except (UnicodeError, LookupError, ValueError):
        return None


def _nearly_utf8(body: bytes) -> str | None:
    """The text where nearly all that could be UTF-8 is: no other encoding looks like it by chance."""
    text = body.decode("utf-8", "replace")
    flaws = text.count("\ufffd")
    sound = sum(not char.isascii() for char in text) - flaws
    return text if sound >= _SOUND_PER_FLAW * flaws else None


def _guess_encoding(body: bytes) -> str:
    korean = _try_decode(body, "cp949")
    if korean is not None and _is_korean(korean):
        return korean
    best = from_bytes(body[:_SAMPLE]).best()
    text = _try_decode(body, best.encoding) if best else None
    return text if text is not None else body.decode("cp1252", "replace")


def _is_korean(text: str) -> bool:
    foreign = [char for char in text[:_SAMPLE] if not char.isascii()]
    return bool(foreign) and sum("가" <= char <= "힣" for char in foreign) >= 0.8 * len(foreign)


_MAX_ROWS = 5_000


def read_table(text: str, *, name: str) -> Document:
    """A small table as it would stand in a text."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)))
    except csv.Error as error:
        raise Unreadable(f"{name} is not a table that can be read: {error}") from error
    if len(rows) > _MAX_ROWS:
        raise Unreadable(
            f"{name} has more than {_MAX_ROWS:,} rows: it is data, not a text that can be quoted"
        )
    return build_document([table_block(rows)], how="table", name=name)


def _delimiter(text: str) -> str:
    """Whichever mark the first line has most of."""
    first = text.lstrip("\n").partition("\n")[0]
    return max(",;\t", key=first.count)

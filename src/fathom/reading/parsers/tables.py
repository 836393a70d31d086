"""Tables in CSV and TSV files: a line a row, with the head first.

Does not know what the columns mean. Files of data rather than of facts to quote are refused.
"""

import csv
import io

from fathom.errors import Unreadable
from fathom.reading.blocks import document, table
from fathom.reading.port import Document

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
    return document([table(rows)], how="table", name=name)


def _delimiter(text: str) -> str:
    """Whichever mark the first line has most of."""
    first = text.lstrip("\n").partition("\n")[0]
    return max(",;\t", key=first.count)

"""Text on a terminal: made safe, measured in cells, and printed; sums and counts as people read them.

Does not know what the text says. A Korean syllable takes two cells, a combining mark none.
"""

import re
import sys
import unicodedata
from typing import TYPE_CHECKING, cast, get_args

from rich.cells import cell_len, set_cell_size

from fathom.errors import BadInput
from fathom.state import short_id
from fathom.text.messages import format_count

if TYPE_CHECKING:  # rendering reports takes a while to import, and a list of runs does not need it
    from fathom.events import Spent
    from fathom.report.formats import FormatName
    from fathom.result import ResearchResult

_ESCAPE_SEQUENCE = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_WIDTH_SELECTORS = "\ufe0e\ufe0f"  # terminals do not agree on what they do


def safe(text: str) -> str:
    """Remove what a terminal acts on: escape sequences, control and bidirectional characters. Lines stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_safe_character, _ESCAPE_SEQUENCE.sub(" ", text)))


def _safe_character(character: str) -> str:
    category = unicodedata.category(character)
    if character == "\n":
        return character
    if category in {"Cc", "Zl", "Zp"}:
        return " "
    if category == "Cs":  # half a character, which no encoding takes
        return "?"
    return "" if category == "Cf" or character in _WIDTH_SELECTORS else character


def plain(text: str) -> str:
    """Return the text as one safe line, with single spaces."""
    return " ".join(safe(text).split())


def cut(text: str, cells: int) -> str:
    """Return at most so many cells, with an ellipsis where something is missing."""
    if cell_len(text) <= cells:
        return text
    return set_cell_size(text, cells - 1).rstrip() + "…" if cells > 0 else ""


def pad(text: str, cells: int) -> str:
    """Return exactly so many cells."""
    return set_cell_size(cut(text, cells), cells)


def tail(text: str, cells: int) -> str:
    """Return the end of a text, in at most so many cells."""
    while cell_len(text) > cells:
        text = text[1:]
    return text


def wrap(text: str, cells: int, first: str = "") -> list[str]:
    """Wrap at words into lines of so many cells; lines after the first are indented to match `first`."""
    from rich.console import Console  # slow to import, and only a plan is wrap
    from rich.text import Text

    indent = cell_len(first)
    console = Console(width=cells, color_system=None)
    lines = Text(plain(text)).wrap(console, max(2, cells - indent))
    return [(" " * indent if n else first) + line.plain.rstrip() for n, line in enumerate(lines)] or [first]


def dollars(usd: float) -> str:
    """Small sums with their small change."""
    return f"${usd:.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def describe_savings(spent: "Spent") -> str:
    """What earlier runs saved this one, if anything."""
    if not spent.saved_calls:
        return ""
    calls, tokens = format_count(spent.saved_calls, "call"), thousands(spent.saved_tokens)
    return f"; {dollars(spent.saved_usd)} saved by {calls} answered before ({tokens} tokens)"


def thousands(count: int) -> str:
    """A count that is read at a glance."""
    return f"{count:,}" if count < 10_000 else f"{count / 1000:,.0f}k"


def clock(seconds: float) -> str:
    """Minutes and seconds, and hours when there are any."""
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


_FILES_ONLY = ("pdf", "docx")


def print_result(result: "ResearchResult", form: str) -> None:
    """Print the report on standard output; what is no text goes only into a file or a pipe."""
    check_format(form)
    if form == "markdown":
        print_markdown(result.report)
    elif form in _FILES_ONLY and sys.stdout.isatty():
        name = f"{short_id(result.run_id)} --to report.{form}"
        print(f"A {form} file is not shown at a terminal; write it with: fathom export {name}")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(result.render(cast("FormatName", form)))


def check_format(form: str) -> None:
    """Refuse what is no format."""
    from fathom.request import ResearchRequest  # takes a while to import

    known = get_args(ResearchRequest.model_fields["output_format"].annotation)
    if form not in known:
        raise BadInput(f"There is no format {form!r}; known are {', '.join(known)}.")


def print_markdown(text: str) -> None:
    """Print Markdown: rendered at a terminal, byte for byte where no person reads it."""
    if sys.stdout.isatty():
        from fathom.cli.markdown import show_markdown  # rendering takes a while to import

        show_markdown(text)
    else:
        print(text, end="" if text.endswith("\n") else "\n")

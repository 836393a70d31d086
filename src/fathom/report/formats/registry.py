"""Every format of a report in one table: its name, how its files end, its media type, who makes it.

Does not know runs. docs/how-to/add-a-report-format.md tells what a new format needs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fathom.errors import BadInput
from fathom.report.bibliography import render_bibtex, render_csl_json, render_ris
from fathom.report.formats import FormatName
from fathom.report.formats.html import render_html
from fathom.report.formats.pdf import render_pdf
from fathom.report.ledger import Ledger
from fathom.state import Page
from fathom.storage.files import replace_file
from fathom.text.normalization import escape_json


@dataclass(frozen=True)
class Format:
    """A format, and the function that makes a file of it from a ledger."""

    name: FormatName
    ending: str
    media_type: str
    render: Callable[[Ledger], str | bytes]


def _cited(render: Callable[[Sequence[Page], Sequence[str]], str]) -> Callable[[Ledger], str]:
    """A list of references from the cited sources of a ledger."""
    return lambda ledger: render(ledger.sources, [citation.page for citation in ledger.citations])


def _render_docx(ledger: Ledger) -> bytes:
    from fathom.report.formats.docx import render_docx  # only who wants a DOCX needs python-docx

    return render_docx(ledger)


_TABLE = (
    Format("markdown", ".md", "text/markdown; charset=utf-8", lambda ledger: ledger.report),
    Format("html", ".html", "text/html; charset=utf-8", render_html),
    Format("pdf", ".pdf", "application/pdf", render_pdf),
    Format(
        "docx",
        ".docx",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _render_docx,
    ),
    Format(
        "json",
        ".json",
        "application/json",
        lambda ledger: escape_json(ledger.model_dump_json(indent=2)) + "\n",
    ),
    Format("bibtex", ".bib", "application/x-bibtex; charset=utf-8", _cited(render_bibtex)),
    Format("csl-json", ".csl.json", "application/vnd.citationstyles.csl+json", _cited(render_csl_json)),
    Format("ris", ".ris", "application/x-research-info-systems; charset=utf-8", _cited(render_ris)),
)
FORMATS: dict[str, Format] = {one.name: one for one in _TABLE}


def render_as(ledger: Ledger, name: str) -> bytes:
    """The report of a ledger in a format, as the bytes of a file."""
    if name not in FORMATS:
        raise BadInput(f"There is no format {name!r}; known are {', '.join(FORMATS)}.")
    made = FORMATS[name].render(ledger)
    return made.encode() if isinstance(made, str) else made


def format_of(file: Path) -> Format:
    """The format that a file's name asks for; of two endings that fit, the longer."""
    name = file.name.lower()
    fitting = [one for one in _TABLE if name.endswith(one.ending)]
    if not fitting:
        known = ", ".join(one.ending for one in _TABLE)
        raise BadInput(f"{file} has an unknown format; use a name that ends in {known}.")
    return max(fitting, key=lambda one: len(one.ending))


def check_file(file: Path, *, is_replaced: bool = False, is_zip: bool = False) -> None:
    """Refuse a name that says no format, unless it is that of a zip, and one of a file that is there."""
    if not is_zip:
        format_of(file)
    if not is_replaced and file.exists():
        raise BadInput(f"{file} exists; choose another name, or replace it with fathom export --force.")


def write_report(ledger: Ledger, file: Path, *, is_replaced: bool = False) -> None:
    """Write the report to a file, whose ending says the format."""
    check_file(file, is_replaced=is_replaced)
    try:
        replace_file(file, render_as(ledger, format_of(file).name))
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error.strerror or error}.") from error

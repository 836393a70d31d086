"""The formats a report can be had in, all made from its ledger: one file a format, one table (`registry`)."""

from collections.abc import Sequence
from html import escape
from typing import Literal

FormatName = Literal["markdown", "html", "pdf", "docx", "json", "bibtex", "csl-json", "ris"]
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def make_page(title: str, language: str, style: str, body: Sequence[str]) -> str:
    """A page that runs no script and loads nothing; the body is HTML, the title is not."""
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width"><meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{style}</style>"
    )
    page = f"<head>{head}</head>\n<body>\n<main>\n" + "\n".join(body) + "\n</main>\n</body>"
    return f'<!doctype html>\n<html lang="{language}">{page}</html>\n'

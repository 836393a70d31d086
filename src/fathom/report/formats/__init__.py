"""The formats a report can be had in, all made from its ledger: one file a format, one table (`registry`)."""

from typing import Literal

FormatName = Literal["markdown", "html", "pdf", "docx", "json", "bibtex", "csl-json", "ris"]

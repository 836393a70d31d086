"""A report on standard output: rendered at a terminal, Markdown as it is everywhere else.

Does not know how it came about.
"""

import sys

from fathom.errors import BadInput
from fathom.result import ResearchResult

FORMATS = ("markdown", "json")


def print_result(result: ResearchResult, form: str) -> None:
    """Print the report on standard output."""
    check_format(form)
    if form == "json":
        print(result.model_dump_json(indent=2))
    else:
        print_markdown(result.report)


def check_format(form: str) -> None:
    """Refuse what cannot be printed."""
    if form not in FORMATS:
        raise BadInput(f"There is no format {form!r}; known are {', '.join(FORMATS)}.")


def print_markdown(text: str) -> None:
    """Print Markdown: rendered at a terminal, byte for byte where no person reads it."""
    if sys.stdout.isatty():
        from fathom.cli.paging import show_markdown  # rendering takes a while to import

        show_markdown(text)
    else:
        print(text, end="" if text.endswith("\n") else "\n")

"""A report on standard output.

Does not know how it came about.
"""

from fathom.errors import BadInput
from fathom.result import ResearchResult

FORMATS = ("markdown", "json")


def print_result(result: ResearchResult, form: str) -> None:
    """The report on standard output."""
    check_format(form)
    print(result.model_dump_json(indent=2) if form == "json" else result.report)


def check_format(form: str) -> None:
    """Refuse what cannot be printed."""
    if form not in FORMATS:
        raise BadInput(f"There is no format {form!r}; known are {', '.join(FORMATS)}.")

"""`fathom verify`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom verify",
        description="Check a report again: every sentence, quote, position and page.",
        epilog="exit codes: 0 every sentence is supported, 5 something changed or is gone, 2 not a report",
    )
    made.add_argument("report", metavar="REPORT.json", help="the report.json of a run")
    made.add_argument("--online", action="store_true", help="read the cited pages again, where they are")
    made.add_argument(
        "--docs", nargs="+", default=[], metavar="PLACE", help="with --online: folders that may be read"
    )
    made.add_argument("--json", action="store_true", help="print the findings as JSON")
    made.add_argument("--quiet", action="store_true", help="only what is wrong, and the count")
    return made

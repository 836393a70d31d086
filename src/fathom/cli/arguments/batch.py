"""`fathom batch`."""

from fathom.cli.arguments.parsing import Parser
from fathom.cli.arguments.research import add_ways

_END = """
a line of FILE is a question, or JSON with settings of its own, named as the options are:
  How do tidal barrages compare with offshore wind?
  {"question": "Which dams silt up?", "rounds": 2, "docs": ["notes/"]}
blank lines, and lines that begin with #, are left out

exit codes:
  0 every question has a report   1 some stopped or were not begun, run the same command again
  2 bad input   3 some wait for review   4 nothing was found for some   130 interrupted
"""


def parser() -> Parser:
    """What the command takes: a file, and the words of a run, which hold for every question."""
    made = Parser(
        prog="fathom batch",
        usage="fathom batch FILE [options] [options of a run, for every question]",
        description="Research many questions, a few at a time, and print one table. Run the same command"
        " again to go on: what is finished is not run again, what stopped is resumed.",
        epilog=_END,
    )
    made.add_argument("file", metavar="FILE", help="questions, one a line; - reads standard input")
    made.add_argument("--at-once", type=int, default=4, metavar="N", help="questions in hand at once (4)")
    made.add_argument(
        "--budget-total", type=float, metavar="USD", help="never spend more than this on all of them"
    )
    made.add_argument(
        "--out", metavar="FOLDER", help="where reports and batch.json go (default: runs/ and FILE's name)"
    )
    made.add_argument("--json", action="store_true", help="print the summary as JSON")
    made.add_argument("--quiet", action="store_true", help="no progress, only the summary")
    add_ways(made)
    return made

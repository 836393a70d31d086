"""`fathom resume`: go on, with an answer where one is waited for."""

from fathom.cli.arguments.output import add_output
from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom resume",
        usage="fathom resume [ID] [options]",
        description="Go on with a run where it stopped.",
    )
    made.add_argument("id", nargs="?", help="a run's id or its first characters (default: the last run)")
    answer = made.add_mutually_exclusive_group()
    answer.add_argument("--approve", action="store_true", help="the plan is fine")
    answer.add_argument("--edit", nargs="+", metavar="QUERY", help="send these queries instead")
    answer.add_argument("--feedback", metavar="WORDS", help="plan again with this in mind")
    answer.add_argument("--add", metavar="QUERY", help="send this query too")
    answer.add_argument(
        "--finish", action="store_true", help="stop looking and write the report; of any stopped run"
    )
    made.add_argument("--base-url", metavar="URL", help="confirm the model server of the run")
    add_output(made)
    return made

"""`fathom fork`."""

from fathom.cli.arguments.output import add_output
from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom fork",
        usage='fathom fork ID [--round N] "NEW DIRECTION" [options]',
        description="Go another way from the end of a round: a new run that shares all that was known then,"
        " pays for none of it again, and plans with the new direction. The other run stays as it is.",
    )
    made.add_argument("id", metavar="ID", help="a run's id or its first characters")
    made.add_argument("direction", metavar='"NEW DIRECTION"', help="where to look instead, in words")
    made.add_argument("--round", type=int, metavar="N", help="after which round (default: the last)")
    made.add_argument(
        "--rounds", type=int, metavar="N", help="rounds it may have more (default: what was left, 2 at least)"
    )
    made.add_argument("--base-url", metavar="URL", help="confirm the model server of the run")
    add_output(made)
    return made

"""`fathom update`."""

from fathom.cli.arguments.output import add_output
from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom update",
        usage="fathom update [ID] [options]",
        description="Bring a finished report up to date: its pages are read again, its searches asked again,"
        " and only sections whose claims changed are rewritten. The earlier run stays as it is.",
    )
    made.add_argument("id", nargs="?", help="a run's id or its first characters (default: the last run)")
    made.add_argument("--base-url", metavar="URL", help="confirm the model server of the run")
    add_output(made)
    return made

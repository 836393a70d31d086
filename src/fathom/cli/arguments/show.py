"""`fathom show`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(prog="fathom show", description="Print a finished report again.")
    made.add_argument("id", help="a run's id or its first characters")
    made.add_argument("--format", default="markdown", help="markdown or json")
    return made

"""`fathom runs`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(prog="fathom runs", description="List runs.")
    made.add_argument("--full", action="store_true", help="ids in full, as langgraph dev wants them")
    return made

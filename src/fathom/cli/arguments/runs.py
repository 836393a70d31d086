"""`fathom runs`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(prog="fathom runs", description="List the latest runs, the newest first.")
    made.add_argument("--full", action="store_true", help="ids in full, as langgraph dev wants them")
    made.add_argument("--json", action="store_true", help="as JSON, with ids in full and folders")
    return made

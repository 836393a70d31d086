"""`fathom diff`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom diff",
        usage="fathom diff A B [--json]",
        description="Put two runs side by side: questions, settings, sources and findings that only one has,"
        " findings held otherwise, cost.",
    )
    made.add_argument("first", metavar="A", help="a run's id or its first characters")
    made.add_argument("second", metavar="B", help="another run's")
    made.add_argument("--json", action="store_true", help="print the differences as JSON")
    return made

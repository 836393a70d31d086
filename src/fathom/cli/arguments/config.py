"""`fathom config`."""

from fathom.cli.arguments.parsing import Parser
from fathom.cli.arguments.research import add_ways


def parser() -> Parser:
    """What the command takes: the words of a run too, to see what a run with them would use."""
    made = Parser(
        prog="fathom config",
        usage="fathom config [--changed] [--json] [options of a run]",
        description="Show every setting and where its value came from: the default, fathom.toml, .env, a"
        " variable of the environment, or the words of this command. Keys are never shown.",
    )
    made.add_argument("--changed", action="store_true", help="only what is not as it comes")
    made.add_argument("--json", action="store_true", help="print it as JSON")
    add_ways(made)
    return made

"""`fathom doctor`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes: nothing."""
    return Parser(prog="fathom doctor", description="Say what is configured.")

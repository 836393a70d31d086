"""`fathom upgrade`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom upgrade",
        usage="fathom upgrade [--to FOLDER]",
        description="Start a new database in the place of one that an earlier Fathom wrote. Reports are kept,"
        " the old file is moved aside. Unfinished runs of the old file cannot be resumed.",
    )
    made.add_argument(
        "--to", metavar="FOLDER", default="runs", help="for reports that have no folder yet (runs)"
    )
    return made

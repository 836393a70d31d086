"""`fathom export`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom export",
        usage="fathom export ID --to FILE|FOLDER [--force]",
        description="Hand a run on. The name says what is wanted: report.md, report.json, citations.bib,"
        " report.html (one page, no script), all.zip (the whole research folder), or a folder.",
    )
    made.add_argument("id", metavar="ID", help="a run's id or its first characters")
    made.add_argument("--to", required=True, metavar="PLACE", help="the file or the folder to write")
    made.add_argument("--force", action="store_true", help="replace a file that is there")
    return made

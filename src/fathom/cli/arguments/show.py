"""`fathom show`."""

from fathom.cli.arguments.parsing import Parser

_PARTS = {
    "--findings": "what was found, how sure it is and where it stands",
    "--hypotheses": "what may be true, and what speaks for and against it",
    "--sources": "every page that was read",
    "--citations": "the numbered references with the quotes that are used",
    "--bib": "the references as BibTeX",
}


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom show",
        usage="fathom show ID [options]",
        description="Print a report again, or a part of what a run knows, also while it goes on.",
    )
    made.add_argument("id", metavar="ID", help="a run's id or its first characters")
    which = made.add_mutually_exclusive_group()
    which.add_argument("--round", type=int, metavar="N", help="what round N found, asked next and had cost")
    for flag, words in _PARTS.items():
        which.add_argument(flag, action="store_const", const=flag[2:], dest="part", help=words)
    made.add_argument("--format", default="markdown", metavar="FORM", help="of a report: markdown or json")
    return made

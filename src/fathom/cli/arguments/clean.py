"""`fathom clean`."""

from fathom.cli.arguments.parsing import Parser


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom clean",
        usage="fathom clean [--older-than AGE] [--keep N] [--dry-run] [--yes]",
        description="Remove old runs and all that only they needed, and give the room back to the disk."
        " A run that somebody works on is left alone. Research folders stay, but what they quote can then no"
        " longer be verified offline.",
    )
    made.add_argument("--older-than", metavar="AGE", help="runs whose last step is older: 30d, 12h, 2w")
    made.add_argument("--keep", type=int, metavar="N", help="never the newest N; alone: all but those")
    made.add_argument("--dry-run", action="store_true", help="only show what would go")
    made.add_argument("--yes", action="store_true", help="do not ask")
    return made

"""`fathom update`."""

import argparse

from fathom.cli.arguments.output import add_output


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="fathom update",
        description="Bring a finished report up to date: its pages are read again, its searches asked again,"
        " and only sections whose claims changed are rewritten. The earlier run stays as it is.",
        allow_abbrev=False,
    )
    made.add_argument("id", nargs="?", help="a run's id or its first characters (default: the last run)")
    made.add_argument("--base-url", metavar="URL", help="confirm the model server of the run")
    add_output(made)
    return made

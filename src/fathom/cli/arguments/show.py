"""`fathom show`."""

import argparse


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(prog="fathom show", description="Print a finished report again.")
    made.add_argument("id", help="a run's id or its first characters")
    made.add_argument("--format", default="markdown", help="markdown or json")
    return made

"""`fathom runs`."""

import argparse


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(prog="fathom runs", description="List runs.")
    made.add_argument("--full", action="store_true", help="ids in full, as langgraph dev wants them")
    return made

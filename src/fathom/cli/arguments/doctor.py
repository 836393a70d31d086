"""`fathom doctor`."""

import argparse


def parser() -> argparse.ArgumentParser:
    """What the command takes: nothing."""
    return argparse.ArgumentParser(prog="fathom doctor", description="Say what is configured.")

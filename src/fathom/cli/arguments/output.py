"""What comes out: the arguments that every command with a report shares."""

import argparse


def add_output(parser: argparse.ArgumentParser) -> None:
    """The arguments that every command with a report has."""
    out = parser.add_argument_group("what comes out")
    out.add_argument(
        "--format", default="markdown", metavar="FORM", help="what is printed: markdown (default) or json"
    )
    out.add_argument(
        "--out",
        metavar="FOLDER",
        help="the research folder: report, findings, sources, rounds, papers (default runs/ID)",
    )
    how = out.add_mutually_exclusive_group()
    how.add_argument("--plain", action="store_true", help="progress as plain lines, also at a terminal")
    how.add_argument("--quiet", action="store_true", help="no progress, only the report")
    how.add_argument(
        "--json", action="store_true", help="every event as one line of JSON, and nothing else, on stdout"
    )

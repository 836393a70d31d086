"""`fathom ask`: a later question in the thread of a finished run."""

import argparse

from fathom.cli.arguments.output import add_output
from fathom.cli.arguments.parsing import Parser
from fathom.cli.arguments.research import REVIEWS, add_ways


def parser() -> Parser:
    """What the command takes."""
    made = Parser(
        prog="fathom ask",
        usage='fathom ask ID "QUESTION" [options]\n       fathom ask ID\n       fathom ask ID --close',
        description="Ask on. What the thread of a finished run knows is used first, without a search; only"
        " what it leaves open is searched for, and the report cites both. What is not said here is as it was"
        " for the run before. Without a question, the thread is shown.",
        settle=_settled,
    )
    made.add_argument("id", metavar="ID", help="a run's id or its first characters")
    made.add_argument("question", nargs="?", metavar='"QUESTION"', help="what you want to know next")
    made.add_argument("--close", action="store_true", help="close the thread: nothing more is asked in it")
    add_ways(made)
    add_output(made)
    return made


def _settled(words: argparse.Namespace) -> str:
    """What is wrong with the words together; what stands behind a bare `--review` is the question."""
    if words.question is None and words.review not in (None, *REVIEWS):
        words.question, words.review = words.review, "rounds"
    if words.close and words.question is not None:
        return "A thread is closed without a question: fathom ask ID --close."
    return ""

"""What every command takes: one function a command, named as the command.

Does not know what a command does.
"""

import argparse
from difflib import get_close_matches

from fathom.cli.commands import description, epilog
from fathom.cli.options import add_output_options, add_run_options, add_server_option
from fathom.cli.parsing import Parser

REVIEWS = ("plan", "rounds", "off")
ORDERS = ("pause", "go", "stop", "add")
_RUN = "a run's id or its first characters"
_PARTS = {
    "--findings": "what was found, how sure it is and where it stands",
    "--hypotheses": "what may be true, and what speaks for and against it",
    "--sources": "every page that was read",
    "--citations": "the numbered references with the quotes that are used",
    "--quotes": "every quote with its place on its page and what it is cited for",
    "--statistics": "scores, rejections, calls, costs and failures",
    "--bib": "the references as BibTeX",
}
_BATCH = """
a line of FILE is a question, or JSON with settings of its own, named as the options are:
  How do tidal barrages compare with offshore wind?
  {"question": "Which dams silt up?", "rounds": 2, "docs": ["notes/"]}
blank lines, and lines that begin with #, are left out

exit codes:
  0 every question has a report   1 some stopped or were not begun, run the same command again
  2 bad input   3 some wait for review   4 nothing was found for some   130 interrupted
"""
_ORDERS = """orders:
  pause  stand still after the step in hand
  go     go on after a pause
  stop   look no further and write the report from what is known
  add    ask this query too, in the next round"""


def _version() -> str:
    from importlib.metadata import version

    return f"fathom {version('fathom-research')}"


def research() -> Parser:
    """`fathom "QUESTION"`."""
    made = Parser(
        prog="fathom",
        usage='fathom "QUESTION" [options]\n       fathom COMMAND --help',
        description=description(),
        epilog=epilog(),
        settle=_settle_research,
    )
    made.add_argument(
        "question", nargs="?", metavar='"QUESTION"', help="what you want to know (at most 2,000 characters)"
    )
    made.add_argument("--version", action="version", version=_version())
    add_run_options(made)
    add_output_options(made)
    return made


def _settle_research(words: argparse.Namespace) -> str:
    """What is wrong with the words together; what stands behind a bare `--review` is the question."""
    said = words.review
    is_word = said is None or said in REVIEWS or get_close_matches(said, REVIEWS, n=1)
    if words.question is None and not is_word:
        words.question, words.review = words.review, "rounds"
    if words.question is None:
        lists = {
            "--docs": words.docs,
            "--include-domains": words.include_domains,
            "--exclude-domains": words.exclude_domains,
        }
        taker = next((name for name, taken in lists.items() if len(taken or []) > 1), "")
        before = f"; if {taker} took it, put it first, or -- before it" if taker else ""
        return f'The question is missing{before}: fathom "QUESTION" [options].'
    if words.review not in (None, *REVIEWS):
        return f"--review should be plan, rounds or off, not {words.review}."
    return ""


def ask() -> Parser:
    """`fathom ask`."""
    made = Parser(
        prog="fathom ask",
        usage='fathom ask ID "QUESTION" [options]\n       fathom ask ID\n       fathom ask ID --close',
        description="Ask on. What the thread of a finished run knows is used first, without a search; only"
        " what it leaves open is searched for, and the report cites both. What is not said here is as it was"
        " for the run before. Without a question, the thread is shown.",
        settle=_settle_ask,
    )
    made.add_argument("id", metavar="ID", help=_RUN)
    made.add_argument("question", nargs="?", metavar='"QUESTION"', help="what you want to know next")
    made.add_argument("--close", action="store_true", help="close the thread: nothing more is asked in it")
    add_run_options(made)
    add_output_options(made)
    return made


def _settle_ask(words: argparse.Namespace) -> str:
    if words.question is None and words.review not in (None, *REVIEWS):
        words.question, words.review = words.review, "rounds"
    if words.close and words.question is not None:
        return "A thread is closed without a question: fathom ask ID --close."
    return ""


def batch() -> Parser:
    """`fathom batch`: a file, and the options of a run, which hold for every question."""
    made = Parser(
        prog="fathom batch",
        usage="fathom batch FILE [options] [options of a run, for every question]",
        description="Research many questions, a few at a time, and print one table. Run the same command"
        " again to go on: what is finished is not run again, what stopped is resumed.",
        epilog=_BATCH,
    )
    made.add_argument("file", metavar="FILE", help="questions, one a line; - reads standard input")
    made.add_argument("--at-once", type=int, default=4, metavar="N", help="questions in hand at once (4)")
    made.add_argument(
        "--budget-total", type=float, metavar="USD", help="never spend more than this on all of them"
    )
    made.add_argument(
        "--out", metavar="FOLDER", help="where reports and batch.json go (default: runs/ and FILE's name)"
    )
    made.add_argument("--json", action="store_true", help="print the summary as JSON")
    made.add_argument("--quiet", action="store_true", help="no progress, only the summary")
    add_run_options(made)
    return made


def config() -> Parser:
    """`fathom config`: with the options of a run, to see what a run with them would use."""
    made = Parser(
        prog="fathom config",
        usage="fathom config [--changed] [--json] [options of a run]",
        description="Show every setting and where its value came from: the default, fathom.toml, .env, a"
        " variable of the environment, or the words of this command. Keys are never shown.",
    )
    made.add_argument("--changed", action="store_true", help="only what is not as it comes")
    made.add_argument("--json", action="store_true", help="print it as JSON")
    add_run_options(made)
    return made


def resume() -> Parser:
    """`fathom resume`: go on, with an answer where one is waited for."""
    made = Parser(
        prog="fathom resume",
        usage="fathom resume [ID] [options]",
        description="Go on with a run where it stopped.",
    )
    made.add_argument("id", nargs="?", help=f"{_RUN} (default: the last run)")
    answer = made.add_mutually_exclusive_group()
    answer.add_argument("--approve", action="store_true", help="the plan is fine")
    answer.add_argument("--edit", nargs="+", metavar="QUERY", help="send these queries instead")
    answer.add_argument("--feedback", metavar="WORDS", help="plan again with this in mind")
    answer.add_argument("--add", metavar="QUERY", help="send this query too")
    answer.add_argument(
        "--finish", action="store_true", help="stop looking and write the report; of any stopped run"
    )
    add_server_option(made)
    add_output_options(made)
    return made


def update() -> Parser:
    """`fathom update`."""
    made = Parser(
        prog="fathom update",
        usage="fathom update [ID] [options]",
        description="Bring a finished report up to date: its pages are read again, its searches asked again,"
        " and only sections whose claims changed are rewritten. The earlier run stays as it is.",
    )
    made.add_argument("id", nargs="?", help=f"{_RUN} (default: the last run)")
    add_server_option(made)
    add_output_options(made)
    return made


def fork() -> Parser:
    """`fathom fork`."""
    made = Parser(
        prog="fathom fork",
        usage='fathom fork ID [--round N] "NEW DIRECTION" [options]',
        description="Go another way from the end of a round: a new run that shares all that was known then,"
        " pays for none of it again, and plans with the new direction. The other run stays as it is.",
    )
    made.add_argument("id", metavar="ID", help=_RUN)
    made.add_argument("direction", metavar='"NEW DIRECTION"', help="where to look instead, in words")
    made.add_argument("--round", type=int, metavar="N", help="after which round (default: the last)")
    made.add_argument(
        "--rounds", type=int, metavar="N", help="rounds it may have more (default: what was left, 2 at least)"
    )
    add_server_option(made)
    add_output_options(made)
    return made


def control() -> Parser:
    """`fathom control`: an order for a run that works somewhere else."""
    made = Parser(
        prog="fathom control",
        usage='fathom control ID pause | go | stop | add "QUERY"',
        description="Steer a run that works in another terminal or another process.",
        epilog=_ORDERS,
        settle=_settle_control,
    )
    made.add_argument("id", metavar="ID", help=_RUN)
    made.add_argument("order", metavar="ORDER", help="pause, go, stop or add")
    made.add_argument("query", nargs="?", default="", metavar='"QUERY"', help="for add: the query")
    return made


def _settle_control(words: argparse.Namespace) -> str:
    if words.order not in ORDERS:
        near = get_close_matches(words.order, ORDERS, n=1)
        there = f"did you mean {near[0]}?" if near else f"there are {', '.join(ORDERS)}."
        return f"There is no order {words.order!r}; {there}"
    return ""


def runs() -> Parser:
    """`fathom runs`."""
    made = Parser(prog="fathom runs", description="List the latest runs, the newest first.")
    made.add_argument("--full", action="store_true", help="ids in full, as langgraph dev wants them")
    made.add_argument("--json", action="store_true", help="as JSON, with ids in full and folders")
    return made


def show() -> Parser:
    """`fathom show`."""
    made = Parser(
        prog="fathom show",
        usage="fathom show ID [options]",
        description="Print a report again, or a part of what a run knows, also while it goes on.",
    )
    made.add_argument("id", metavar="ID", help=_RUN)
    which = made.add_mutually_exclusive_group()
    which.add_argument("--round", type=int, metavar="N", help="what round N found, asked next and had cost")
    for flag, words in _PARTS.items():
        which.add_argument(flag, action="store_const", const=flag[2:], dest="part", help=words)
    made.add_argument("--format", default="markdown", metavar="FORM", help="of a report: markdown or json")
    return made


def diff() -> Parser:
    """`fathom diff`."""
    made = Parser(
        prog="fathom diff",
        usage="fathom diff A B [--json]",
        description="Put two runs side by side: questions, settings, sources and findings that only one has,"
        " findings held otherwise, cost.",
    )
    made.add_argument("first", metavar="A", help=_RUN)
    made.add_argument("second", metavar="B", help="another run's")
    made.add_argument("--json", action="store_true", help="print the differences as JSON")
    return made


def export() -> Parser:
    """`fathom export`."""
    made = Parser(
        prog="fathom export",
        usage="fathom export ID --to FILE|FOLDER [--force]",
        description="Hand a run on. The name says what is wanted: report.md, report.json, citations.bib,"
        " report.html (one page, no script), all.zip (the whole research folder), or a folder.",
    )
    made.add_argument("id", metavar="ID", help=_RUN)
    made.add_argument("--to", required=True, metavar="PLACE", help="the file or the folder to write")
    made.add_argument("--force", action="store_true", help="replace a file that is there")
    return made


def clean() -> Parser:
    """`fathom clean`."""
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


def verify() -> Parser:
    """`fathom verify`."""
    made = Parser(
        prog="fathom verify",
        description="Check a report again: every sentence, quote, position and page.",
        epilog="exit codes: 0 every sentence is supported, 5 something changed or is gone, 2 not a report",
    )
    made.add_argument("report", metavar="REPORT.json", help="the report.json of a run")
    made.add_argument("--online", action="store_true", help="read the cited pages again, where they are")
    made.add_argument(
        "--docs", nargs="+", default=[], metavar="PLACE", help="with --online: folders that may be read"
    )
    made.add_argument("--json", action="store_true", help="print the findings as JSON")
    made.add_argument("--quiet", action="store_true", help="only what is wrong, and the count")
    return made


def doctor() -> Parser:
    """`fathom doctor`."""
    return Parser(prog="fathom doctor", description="Say what is configured.")


def upgrade() -> Parser:
    """`fathom upgrade`."""
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

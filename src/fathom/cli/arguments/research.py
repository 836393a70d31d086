"""`fathom "QUESTION"`: where to look, who thinks, how far to go, what comes out."""

import argparse
from difflib import get_close_matches

from fathom.cli.arguments.output import add_output
from fathom.cli.arguments.parsing import Parser
from fathom.cli.commands import description, epilog

REVIEWS = ("plan", "rounds", "off")

_YES_OR_NO = argparse.BooleanOptionalAction  # so that what fathom.toml says can be taken back


def _version() -> str:
    from importlib.metadata import version

    return f"fathom {version('fathom-research')}"


def parser() -> Parser:
    """What `fathom "QUESTION"` takes."""
    made = Parser(
        prog="fathom",
        usage='fathom "QUESTION" [options]\n       fathom COMMAND --help',
        description=description(),
        epilog=epilog(),
        settle=_settled,
    )
    made.add_argument(
        "question", nargs="?", metavar='"QUESTION"', help="what you want to know (at most 2,000 characters)"
    )
    made.add_argument("--version", action="version", version=_version())
    add_ways(made)
    add_output(made)
    return made


def _settled(words: argparse.Namespace) -> str:
    """What is wrong with the words together; what stands behind a bare `--review` is the question."""
    said = words.review
    is_word = said is None or said in REVIEWS or get_close_matches(said, REVIEWS, n=1)
    if words.question is None and not is_word:
        words.question, words.review = words.review, "rounds"
    if words.question is None:
        lists = {"--docs": words.docs, "--only": words.only, "--not": words.never}
        taker = next((name for name, taken in lists.items() if len(taken or []) > 1), "")
        before = f"; if {taker} took it, put it first, or -- before it" if taker else ""
        return f'The question is missing{before}: fathom "QUESTION" [options].'
    if words.review not in (None, *REVIEWS):
        return f"--review should be plan, rounds or off, not {words.review}."
    return ""


def add_ways(parser: argparse.ArgumentParser) -> None:
    """Everything a run may be told but its question; what is not said is as the settings have it."""
    _add_places(parser)
    _add_thinking(parser)
    _add_limits(parser)


def _add_places(parser: argparse.ArgumentParser) -> None:
    find = parser.add_argument_group("where to look")
    find.add_argument("--docs", nargs="+", metavar="PLACE", help="folders or files to search")
    find.add_argument(
        "--search", metavar="NAMES", help="engines by name (fathom doctor lists them), or hybrid"
    )
    find.add_argument("--academic", action=_YES_OR_NO, help="prefer papers")
    find.add_argument("--news", action=_YES_OR_NO, help="prefer news")
    find.add_argument("--google", action="append_const", const="google", dest="also", help="ask Google")
    find.add_argument("--arxiv", action="append_const", const="arxiv", dest="also", help="ask arXiv")
    find.add_argument("--only", nargs="+", metavar="DOMAIN", help="only these domains")
    find.add_argument("--not", nargs="+", metavar="DOMAIN", dest="never", help="not these domains")
    find.add_argument("--since", metavar="DAY", help="nothing older than this day (YYYY-MM-DD)")
    find.add_argument("--until", metavar="DAY", help="nothing newer than this day")
    find.add_argument("--source-language", metavar="XX", help="only sources in this language, e.g. ko")
    find.add_argument("--fresh", action=_YES_OR_NO, help="read pages anew, even those read a moment ago")


def _add_thinking(parser: argparse.ArgumentParser) -> None:
    think = parser.add_argument_group("who thinks")
    think.add_argument("--model", metavar="NAME", help="a model by name; needs a key or a server")
    think.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server, e.g. Ollama or vLLM")
    think.add_argument(
        "--unsupported",
        metavar="HOW",
        help="sentences their quotes do not carry: drop (default) or mark",
    )
    think.add_argument(
        "--context", type=int, metavar="TOKENS", help="the model's window, where the server does not say it"
    )
    think.add_argument(
        "--reuse", action=_YES_OR_NO, help="take what models and engines answered before (default: yes)"
    )
    think.add_argument(
        "--language", metavar="NAME", help="language of the report (default: that of the question)"
    )


def _add_limits(parser: argparse.ArgumentParser) -> None:
    far = parser.add_argument_group("how far to go")
    far.add_argument(
        "--depth",
        metavar="HOW",
        help="quick (default), standard or comprehensive: 3, 5 or 10 rounds; or a number: alone, pages of one"
        " pass; with --breadth or --strategy, rounds of recursion (1 to 5)",
    )
    far.add_argument("--breadth", type=int, metavar="N", help="deepen step by step, N directions a step")
    far.add_argument("--strategy", metavar="HOW", help="loop (default), tree or rollouts")
    far.add_argument("--branches", type=int, metavar="N", help="branches, 1 to 8 (default: by question)")
    far.add_argument(
        "--orchestration",
        metavar="HOW",
        help="branches concurrent (default), sequential, or handoff: each builds on the one before",
    )
    far.add_argument("--rounds", type=int, metavar="N", help="at most N rounds instead")
    far.add_argument("--sources", type=int, metavar="N", help="pages a round (default: by the question)")
    far.add_argument("--queries", type=int, metavar="N", help="searches a round (default 5)")
    far.add_argument("--budget", type=float, metavar="USD", help="never spend more than this (1.0)")
    far.add_argument("--reserve", type=float, metavar="SHARE", help="kept for writing the report (0.15)")
    far.add_argument(
        "--dry-run", action="store_true", help="only say what it would cost; nobody is asked anything"
    )
    far.add_argument(
        "--time-limit", type=float, metavar="S", help="stop looking and write after S seconds of work"
    )
    far.add_argument("--threshold", type=float, metavar="SCORE", help="the score that is enough (0.8)")
    far.add_argument(
        "--endless",
        action=_YES_OR_NO,
        help="go on until stopped (Ctrl-C), 100 rounds or 10 USD; the report is current after every round",
    )
    far.add_argument(
        "--review",
        nargs="?",
        const="rounds",
        metavar="WHEN",
        help="show the plan and ask: plan, before the first round; rounds (or no word), before every one;"
        " off (default)",
    )

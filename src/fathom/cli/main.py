"""The command line's front door: words in, an exit code out.

Does not know how anything is done; what a command needs is imported when the command runs, so help is quick.
"""

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

_EPILOG = """\
other commands:
  fathom resume [ID]   go on with the last run, or a given one, after any stop
  fathom runs          list runs: status, age, cost, question
  fathom show ID       print a report again, also of a run that goes on
  fathom update ID     bring a finished report up to date; what changed stands at its top
  fathom verify FILE   check a report.json again, sentence by sentence; --online against the live pages
  fathom doctor        what is configured, what is missing, what would be used

exit codes:
  0 a report was written   1 stopped, can be resumed   2 bad input
  3 waiting for review     4 finished, nothing found   5 verify: not all of it holds
  130 interrupted, can be resumed

examples:
  fathom "How does the cache expire entries?" --docs ./docs ./src
  fathom "What limits perovskite solar cells?" --search arxiv
  fathom "…" --docs notes/ --model llama3.1 --base-url http://localhost:11434/v1
"""


def _version() -> str:
    from importlib.metadata import version

    return f"fathom {version('fathom-research')}"


def _research_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fathom",
        description="Research a question; every sentence of the report leads back to a quotation.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("question", help="what you want to know (at most 2,000 characters)")
    parser.add_argument("--version", action="version", version=_version())
    _add_places(parser)
    _add_thinking(parser)
    _add_limits(parser)
    _add_output(parser)
    return parser


def _add_places(parser: argparse.ArgumentParser) -> None:
    find = parser.add_argument_group("where to look")
    find.add_argument("--docs", nargs="+", default=[], metavar="PLACE", help="folders or files to search")
    find.add_argument(
        "--search", metavar="NAMES", help="engines by name (fathom doctor lists them), or hybrid"
    )
    find.add_argument("--academic", action="store_true", help="prefer papers")
    find.add_argument("--news", action="store_true", help="prefer news")
    find.add_argument("--google", action="append_const", const="google", dest="also", help="ask Google")
    find.add_argument("--arxiv", action="append_const", const="arxiv", dest="also", help="ask arXiv")
    find.add_argument("--only", nargs="+", default=[], metavar="DOMAIN", help="only these domains")
    find.add_argument(
        "--not", nargs="+", default=[], metavar="DOMAIN", dest="never", help="not these domains"
    )
    find.add_argument("--since", metavar="DAY", help="nothing older than this day (YYYY-MM-DD)")
    find.add_argument("--until", metavar="DAY", help="nothing newer than this day")
    find.add_argument("--source-language", metavar="XX", help="only sources in this language, e.g. ko")
    find.add_argument("--fresh", action="store_true", help="read pages anew, even those read a moment ago")


def _add_thinking(parser: argparse.ArgumentParser) -> None:
    think = parser.add_argument_group("who thinks")
    think.add_argument("--model", help="a model by name; needs a key or a server")
    think.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server, e.g. Ollama or vLLM")
    think.add_argument(
        "--unsupported", default="drop", help="sentences their quotes do not carry: drop (default) or mark"
    )
    think.add_argument("--language", help="language of the report (default: that of the question)")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    far = parser.add_argument_group("how far to go")
    far.add_argument(
        "--depth",
        default="quick",
        metavar="HOW",
        help="quick (default), standard or comprehensive: 3, 5 or 10 rounds; or a number: alone, pages of one"
        " pass; with --breadth or --strategy, rounds of recursion (1 to 5)",
    )
    far.add_argument("--breadth", type=int, metavar="N", help="deepen step by step, N directions a step")
    far.add_argument("--strategy", help="loop (default), tree or rollouts")
    far.add_argument("--branches", type=int, metavar="N", help="branches, 1 to 8 (default: by question)")
    far.add_argument(
        "--orchestration",
        default="concurrent",
        metavar="HOW",
        help="branches concurrent (default), sequential, or handoff: each builds on the one before",
    )
    far.add_argument("--rounds", type=int, metavar="N", help="at most N rounds instead")
    far.add_argument("--sources", type=int, metavar="N", help="pages a round (default: by the question)")
    far.add_argument("--queries", type=int, default=5, metavar="N", help="searches a round (default 5)")
    far.add_argument("--budget", type=float, metavar="USD", help="no new round once this is spent (1.0)")
    far.add_argument(
        "--threshold", type=float, default=0.8, metavar="SCORE", help="the score that is enough (0.8)"
    )
    far.add_argument(
        "--endless",
        action="store_true",
        help="go on until stopped (Ctrl-C), 100 rounds or 10 USD; the report is current after every round",
    )
    far.add_argument("--review", action="store_true", help="show the plan and ask before every round")


def _add_output(parser: argparse.ArgumentParser) -> None:
    out = parser.add_argument_group("what comes out")
    out.add_argument("--format", default="markdown", help="what is printed: markdown or json")
    out.add_argument("--out", metavar="FOLDER", help="where report.md and report.json go (default runs/ID)")
    out.add_argument("--quiet", action="store_true", help="no progress, only the report")


def _resume_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fathom resume", description="Go on with a run where it stopped.", allow_abbrev=False
    )
    parser.add_argument("id", nargs="?", help="a run's id or its first characters (default: the last run)")
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--approve", action="store_true", help="the plan is fine")
    answer.add_argument("--edit", nargs="+", metavar="QUERY", help="send these queries instead")
    answer.add_argument("--feedback", metavar="WORDS", help="plan again with this in mind")
    answer.add_argument("--add", metavar="QUERY", help="send this query too")
    answer.add_argument(
        "--finish", action="store_true", help="stop looking and write the report; of any stopped run"
    )
    parser.add_argument("--base-url", metavar="URL", help="confirm the model server of the run")
    _add_output(parser)
    return parser


def _runs_parser() -> argparse.ArgumentParser:
    parser = _plain_parser("runs", "List runs.")
    parser.add_argument("--full", action="store_true", help="ids in full, as langgraph dev wants them")
    return parser


def _show_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fathom show", description="Print a finished report again.")
    parser.add_argument("id", help="a run's id or its first characters")
    parser.add_argument("--format", default="markdown", help="markdown or json")
    return parser


def _update_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fathom update",
        description="Bring a finished report up to date: its pages are read again, its searches asked again,"
        " and only sections whose claims changed are rewritten. The earlier run stays as it is.",
        allow_abbrev=False,
    )
    parser.add_argument("id", nargs="?", help="a run's id or its first characters (default: the last run)")
    parser.add_argument("--base-url", metavar="URL", help="confirm the model server of the run")
    _add_output(parser)
    return parser


def _verify_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fathom verify",
        description="Check a report again: every sentence, quote, position and page.",
        epilog="exit codes: 0 every sentence is supported, 5 something changed or is gone, 2 not a report",
        allow_abbrev=False,
    )
    parser.add_argument("report", metavar="REPORT.json", help="the report.json of a run")
    parser.add_argument("--online", action="store_true", help="read the cited pages again, where they are")
    parser.add_argument(
        "--docs", nargs="+", default=[], metavar="PLACE", help="with --online: folders that may be read"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--quiet", action="store_true", help="only what is wrong, and the count")
    return parser


def _plain_parser(name: str, description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"fathom {name}", description=description)


# Each command: its parser, and the module and function that carry it out.
_COMMANDS = {
    "resume": (_resume_parser, "fathom.cli.working", "resume"),
    "runs": (_runs_parser, "fathom.cli.looking", "runs"),
    "show": (_show_parser, "fathom.cli.looking", "show"),
    "update": (_update_parser, "fathom.cli.working", "update"),
    "verify": (_verify_parser, "fathom.cli.verifying", "verify"),
    "doctor": (lambda: _plain_parser("doctor", "Say what is configured."), "fathom.cli.doctor", "doctor"),
}
_RESEARCH = (_research_parser, "fathom.cli.working", "research")


def _misspelt(words: Sequence[str]) -> str:
    """The command that one bare word, alone or before a file or an id, nearly is: nobody asks that."""
    first = words[0]
    if first in _COMMANDS or len(words) > 2 or not first.isalpha() or any(w.startswith("-") for w in words):
        return ""
    return next(iter(get_close_matches(first.lower(), _COMMANDS, n=1, cutoff=0.7)), "")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on standard error and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    make_parser, module, function = _COMMANDS.get(words[0], _RESEARCH) if words else _RESEARCH
    given = words[1:] if words and words[0] in _COMMANDS else words
    parser = make_parser()
    if not words:
        parser.print_help()
        return 2
    if near := _misspelt(words):
        print(
            f"fathom: There is no command {words[0]!r}; did you mean {near}?"
            " To research that word, put it in a longer question.",
            file=sys.stderr,
        )
        return 2
    arguments = parser.parse_args(given)
    from fathom.errors import BadInput

    try:
        code: int = getattr(import_module(module), function)(arguments)
    except BadInput as error:
        print(f"fathom: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fathom: interrupted before a run began", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        sys.stderr.close()
        return 0
    return code


if __name__ == "__main__":
    sys.exit(main())

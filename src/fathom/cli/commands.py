"""The commands: what each takes. Their help texts and functions are in `commands.toml`.

`_add_NAME` adds the arguments of a command; `_settle_NAME` says what is wrong with them together. Does not
know what any of them does. A command's function is imported only when it runs, so help is quick.
"""

import argparse
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from typing import cast

from fathom.cli.arguments import (
    Parser,
    add_output_options,
    add_run_options,
    add_server_option,
    add_some_run_options,
)

REVIEWS = ("plan", "rounds", "off")
ORDERS = ("pause", "go", "stop", "add")
_RUN = "a run's id or its first characters"
_LAST_RUN = f"{_RUN} (default: the last run)"
_PARTS = {
    "--findings": "what was found, how sure it is and where it stands",
    "--hypotheses": "what may be true, and what speaks for and against it",
    "--sources": "every page that was read",
    "--citations": "the numbered references with the quotes that are used",
    "--quotes": "every quote with its place on its page and what it is cited for",
    "--statistics": "scores, rejections, calls, costs and failures",
    "--bib": "the references as BibTeX",
}


@dataclass(frozen=True)
class Command:
    """One command of the command line, as `commands.toml` describes it."""

    name: str
    run: str  # module:function, within fathom.cli
    shape: str = ""  # as the list of commands shows it, after `fathom`
    summary: str = ""
    group: str = ""
    about: str = ""
    usage: str = ""  # after the name; made by argparse where there is none
    example: str = ""  # after `fathom`
    end: str = ""

    @property
    def prog(self) -> str:
        """What is typed."""
        return "fathom" if self.name == _RESEARCH else f"fathom {self.name}"

    def make_parser(self) -> Parser:
        """Everything the command takes."""
        usage = "\n       ".join(f"{self.prog} {line}" for line in self.usage.strip().splitlines())
        examples = "\n".join(f"  fathom {line}" for line in self.example.strip().splitlines())
        parser = Parser(
            prog=self.prog,
            usage=usage or None,
            description=describe_commands() if self.name == _RESEARCH else self.about,
            epilog="\n\n".join(part for part in (examples and f"examples:\n{examples}", self.end) if part),
            settle=globals().get(f"_settle_{self.name}"),
        )
        if add_options := globals().get(f"_add_{self.name}"):
            add_options(parser)
        return parser

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Carry it out; the exit code."""
        module, _, function = self.run.partition(":")
        work = getattr(import_module(f"fathom.cli.{module}"), function)
        return cast(int, work(arguments))


def _add_research(parser: Parser) -> None:
    parser.add_argument(
        "question", nargs="?", metavar='"QUESTION"', help="what you want to know (at most 2,000 characters)"
    )
    parser.add_argument("--version", action="version", version=f"fathom {version('fathom-research')}")
    add_run_options(parser)
    add_output_options(parser)


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


def _add_ask(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help=_RUN)
    parser.add_argument("question", nargs="?", metavar='"QUESTION"', help="what you want to know next")
    parser.add_argument("--close", action="store_true", help="close the thread: nothing more is asked in it")
    add_run_options(parser, is_listed=False)
    add_output_options(parser)


def _settle_ask(words: argparse.Namespace) -> str:
    if words.question is None and words.review not in (None, *REVIEWS):
        words.question, words.review = words.review, "rounds"
    if words.close and words.question is not None:
        return "A thread is closed without a question: fathom ask ID --close."
    return ""


def _add_batch(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="questions, one a line; - reads standard input")
    parser.add_argument("--at-once", type=int, default=4, metavar="N", help="questions in hand at once (4)")
    parser.add_argument(
        "--workers", action="store_true", help="have workers answer them (fathom worker; needs PostgreSQL)"
    )
    parser.add_argument(
        "--priority", type=int, default=0, metavar="N", help="with --workers: the higher, the sooner (0)"
    )
    parser.add_argument(
        "--budget-total", type=float, metavar="USD", help="never spend more than this on all of them"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="where reports and batch.json go (default: runs/ and FILE's name)"
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress, only the summary")
    add_run_options(parser, is_listed=False)


def _add_config(parser: Parser) -> None:
    parser.add_argument("--changed", action="store_true", help="only what is not as it comes")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    add_run_options(parser, is_listed=False)


def _add_resume(parser: Parser) -> None:
    parser.add_argument("id", nargs="?", help=_LAST_RUN)
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--approve", action="store_true", help="the plan is fine")
    answer.add_argument("--edit", nargs="+", metavar="QUERY", help="send these queries instead")
    answer.add_argument("--feedback", metavar="WORDS", help="plan again with this in mind")
    answer.add_argument("--add", metavar="QUERY", help="send this query too")
    answer.add_argument(
        "--finish", action="store_true", help="stop looking and write the report; of any stopped run"
    )
    add_server_option(parser)
    add_output_options(parser)


def _add_update(parser: Parser) -> None:
    parser.add_argument("id", nargs="?", help=_LAST_RUN)
    add_server_option(parser)
    add_output_options(parser)


def _add_fork(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help=_RUN)
    parser.add_argument("direction", metavar='"NEW DIRECTION"', help="where to look instead, in words")
    parser.add_argument("--round", type=int, metavar="N", help="after which round (default: the last)")
    parser.add_argument(
        "--rounds", type=int, metavar="N", help="rounds it may have more (default: what was left, 2 at least)"
    )
    add_server_option(parser)
    add_output_options(parser)


def _add_control(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help=_RUN)
    parser.add_argument("order", metavar="ORDER", help="pause, go, stop or add")
    parser.add_argument("query", nargs="?", default="", metavar='"QUERY"', help="for add: the query")


def _settle_control(words: argparse.Namespace) -> str:
    if words.order not in ORDERS:
        near = get_close_matches(words.order, ORDERS, n=1)
        there = f"did you mean {near[0]}?" if near else f"there are {', '.join(ORDERS)}."
        return f"There is no order {words.order!r}; {there}"
    return ""


def _add_runs(parser: Parser) -> None:
    parser.add_argument("--full", action="store_true", help="ids in full, as langgraph dev wants them")
    parser.add_argument("--json", action="store_true", help="as JSON, with ids in full and folders")


def _add_show(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help=_RUN)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--round", type=int, metavar="N", help="what round N found, asked next and had cost")
    for flag, words in _PARTS.items():
        which.add_argument(flag, action="store_const", const=flag[2:], dest="part", help=words)
    parser.add_argument(
        "--format", default="markdown", metavar="FORM", help="of a report: markdown, html, json …"
    )


def _add_diff(parser: Parser) -> None:
    parser.add_argument("first", metavar="A", help=_RUN)
    parser.add_argument("second", metavar="B", help="another run's")
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")


def _add_export(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", help=_RUN)
    parser.add_argument("--to", required=True, metavar="PLACE", help="the file or the folder to write")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def _add_clean(parser: Parser) -> None:
    parser.add_argument("--older-than", metavar="AGE", help="runs whose last step is older: 30d, 12h, 2w")
    parser.add_argument("--keep", type=int, metavar="N", help="never the newest N; alone: all but those")
    parser.add_argument("--dry-run", action="store_true", help="only show what would go")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_watch(parser: Parser) -> None:
    parser.add_argument("run_id", metavar="ID", nargs="?", help="the run whose report is watched")
    parser.add_argument("--every", metavar="AGE", help="how often: 7d, 12h")
    parser.add_argument("--stop", action="store_true", help="watch it no longer")
    parser.add_argument("--run-due", action="store_true", help="update all that are due, now")
    parser.add_argument("--webhook", metavar="URL", help="told what changed; a host of FATHOM_WEBHOOK_HOSTS")
    parser.add_argument("--out", metavar="FOLDER", help="where updates get their folders (runs)")


def _add_verify(parser: Parser) -> None:
    parser.add_argument("report", metavar="ID|REPORT.json", help="a run, or the report.json of one")
    parser.add_argument("--online", action="store_true", help="read the cited pages again, where they are")
    parser.add_argument(
        "--docs", nargs="+", default=[], metavar="PLACE", help="with --online: folders that may be read"
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--quiet", action="store_true", help="only what is wrong, and the count")


def _add_audit(parser: Parser) -> None:
    parser.add_argument("report", metavar="FILE|ADDRESS|-", help="Markdown, HTML, PDF, DOCX or text")
    parser.add_argument(
        "--search", action="store_true", help="look elsewhere for what its sources do not say"
    )
    add_some_run_options(
        parser, ("docs", "engines", "fresh", "model", "models", "base_url", "context_tokens", "budget_usd")
    )
    parser.add_argument(
        "--format", default="markdown", metavar="FORM", help="what is printed: markdown (default), html, json"
    )
    parser.add_argument("--out", metavar="FOLDER", help="for audit.html, .md and .json (default runs/AUDIT)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quiet", action="store_true", help="no progress, only the summary")
    how.add_argument("--json", action="store_true", help="every event as one line of JSON on stdout")


def _add_eval(parser: Parser) -> None:
    parser.add_argument("tasks", metavar="TASKS", help="a folder of tasks, or a file with a question a line")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="own reports on each task (1)")
    parser.add_argument(
        "--report",
        action="append",
        default=[],
        metavar="NAME=PLACE",
        help="reports of another tool: a folder with TASK.md files, or a file",
    )
    parser.add_argument(
        "--against", nargs="+", default=[], metavar="FILE", help="eval.json of earlier evaluations"
    )
    parser.add_argument("--judge-only", action="store_true", help="research nothing, only score --report")
    parser.add_argument("--out", metavar="FOLDER", help="for reports and eval.json (default runs/eval-TASKS)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="no progress, only the table")
    add_run_options(parser, is_listed=False)


def _add_upgrade(parser: Parser) -> None:
    words = "for reports that have no folder yet (runs)"
    parser.add_argument("--to", metavar="FOLDER", default="runs", help=words)


def _add_rescue(parser: Parser) -> None:
    parser.add_argument(
        "database", nargs="?", metavar="FILE", help="the damaged file (default: Fathom's own)"
    )
    parser.add_argument("--to", metavar="FOLDER", help="where everything goes (default: beside the file)")


def _add_demo(parser: Parser) -> None:
    parser.add_argument("--language", default="en", metavar="CODE", help="en or ko (en)")
    add_output_options(parser)


def _add_worker(parser: Parser) -> None:
    parser.add_argument("--at-once", type=int, default=8, metavar="N", help="runs in hand at once (8)")


def _add_serve(parser: Parser) -> None:
    parser.add_argument("--port", type=int, default=8321, metavar="N", help="where it listens (8321)")
    parser.add_argument("--host", default="127.0.0.1", metavar="NAME", help="this machine only, unless said")
    parser.add_argument("--workers", action="store_true", help="workers do the work (PostgreSQL)")


def _add_mcp(parser: Parser) -> None:
    words = "folders that callers may name, and that are searched unless they name others"
    parser.add_argument("--docs", nargs="+", default=[], metavar="FOLDER", help=words)


_RESEARCH = "research"
_KNOWN = {
    name: Command(name, **words)
    for name, words in tomllib.loads(files("fathom.cli").joinpath("commands.toml").read_text("utf-8")).items()
}
RESEARCH = _KNOWN[_RESEARCH]
COMMANDS = {name: command for name, command in _KNOWN.items() if command is not RESEARCH}


def describe_commands() -> str:
    """What stands above the options: what it is, and the other commands by what they are for."""
    width = max(len(command.shape) for command in COMMANDS.values())
    lines = ["Research a question; every sentence of the report leads back to a quotation."]
    group = ""
    for command in COMMANDS.values():
        lines += ["", f"{command.group}:"] if command.group != group else []
        lines.append(f"  fathom {command.shape:<{width}}  {command.summary}")
        group = command.group
    return "\n".join(lines)

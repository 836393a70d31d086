"""The commands: what each is called, what it takes, who carries it out, and its help.

Does not know what any of them does. A command's function is imported only when it runs, so help is quick.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
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
    """One command of the command line."""

    name: str
    shape: str  # as the list of commands shows it, after `fathom`
    summary: str
    target: str  # module:function, within fathom.cli
    add_options: Callable[[Parser], object]
    about: str = ""
    usage: str = ""  # after the name; made by argparse where there is none
    end: str = ""
    settle: Callable[[argparse.Namespace], str] | None = None

    def make_parser(self) -> Parser:
        """Everything the command takes."""
        prog = f"fathom {self.name}".strip()
        usage = "\n       ".join(f"{prog} {line}" for line in self.usage.splitlines())
        is_research = not self.name
        parser = Parser(
            prog=prog,
            usage=usage or None,
            description=describe_commands() if is_research else self.about,
            epilog=self.end,
            settle=self.settle,
        )
        self.add_options(parser)
        return parser

    def run(self, arguments: argparse.Namespace) -> int:
        """Carry it out; the exit code."""
        module, _, function = self.target.partition(":")
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
    add_run_options(parser)
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
    add_run_options(parser)


def _add_config(parser: Parser) -> None:
    parser.add_argument("--changed", action="store_true", help="only what is not as it comes")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    add_run_options(parser)


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
    add_run_options(parser)


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


def _add_mcp(parser: Parser) -> None:
    words = "folders that callers may name, and that are searched unless they name others"
    parser.add_argument("--docs", nargs="+", default=[], metavar="FOLDER", help=words)


RESEARCH = Command(
    "",
    '"QUESTION"',
    "research a question",
    "run:research",
    _add_research,
    usage='"QUESTION" [options]\nCOMMAND --help',
    settle=_settle_research,
    end="""\
exit codes:
  0    a report was written
  1    stopped by an error; nothing is lost, fathom resume goes on
  2    bad input, said in one sentence
  3    waiting for your review
  4    finished, and nothing was found
  5    verify: not all of it holds; audit: something is contradicted or invented
  130  interrupted; nothing is lost, fathom resume goes on

keys while it runs at a terminal:
  p pause or go on   s stop and write   a add a query   q or Ctrl-C leave

examples:
  fathom "How does the cache expire entries?" --docs ./docs ./src
  fathom "What limits perovskite solar cells?" --engines arxiv --review plan
  fathom "…" --docs notes/ --model ollama:llama3.1
""",
)
_GROUPS = {
    "ask and go on": [
        Command(
            "ask",
            'ask ID "QUESTION"',
            "ask on: what a finished run knows is used first, and only the rest searched",
            "run:ask",
            _add_ask,
            "Ask on. What the thread of a finished run knows is used first, without a search; only"
            " what it leaves open is searched for, and the report cites both. What is not said here is as it"
            " was for the run before. Without a question, the thread is shown.",
            usage='ID "QUESTION" [options]\nID\nID --close',
            settle=_settle_ask,
        ),
        Command(
            "resume",
            "resume [ID]",
            "go on with the last run, or a given one, after any stop",
            "run:resume",
            _add_resume,
            "Go on with a run where it stopped.",
            usage="[ID] [options]",
        ),
        Command(
            "update",
            "update ID",
            "bring a finished report up to date; what changed stands at its top",
            "run:update",
            _add_update,
            "Bring a finished report up to date: its pages are read again, its searches asked again, and only"
            " sections whose claims changed are rewritten. The earlier run stays as it is.",
            usage="[ID] [options]",
        ),
        Command(
            "watch",
            "watch ID --every 7d",
            "bring a report up to date again and again; tell what changed",
            "watches:watch",
            _add_watch,
            "Bring a finished report up to date on a schedule, with a digest of what changed in its folder."
            " Workers do it by themselves; without workers, have cron call `fathom watch --run-due`."
            " Without anything it lists what is watched.",
            usage="[ID --every AGE | ID --stop | --run-due] [options]",
        ),
        Command(
            "fork",
            'fork ID "DIRECTION"',
            "go another way from the end of a round; what is known is not paid again",
            "run:fork",
            _add_fork,
            "Go another way from the end of a round: a new run that shares all that was known then,"
            " pays for none of it again, and plans with the new direction. The other run stays as it is.",
            usage='ID [--round N] "NEW DIRECTION" [options]',
        ),
        Command(
            "batch",
            "batch FILE",
            "research many questions, a few at a time; again to go on",
            "batch:batch",
            _add_batch,
            "Research many questions, a few at a time, and print one table. Run the same command"
            " again to go on: what is finished is not run again, what stopped is resumed.",
            usage="FILE [options] [options of a run, for every question]",
            end="""
a line of FILE is a question, or JSON with settings of its own, named as the options are:
  How do tidal barrages compare with offshore wind?
  {"question": "Which dams silt up?", "rounds": 2, "docs": ["notes/"]}
blank lines, and lines that begin with #, are left out

exit codes:
  0 every question has a report   1 some stopped or were not begun, run the same command again
  2 bad input   3 some wait for review   4 nothing was found for some   130 interrupted
""",
        ),
        Command(
            "control",
            "control ID ORDER",
            "steer a run from another terminal: pause, go, stop, add",
            "run:control",
            _add_control,
            "Steer a run that works in another terminal or another process.",
            usage='ID pause | go | stop | add "QUERY"',
            end="""orders:
  pause  stand still after the step in hand
  go     go on after a pause
  stop   look no further and write the report from what is known
  add    ask this query too, in the next round""",
            settle=_settle_control,
        ),
    ],
    "look at what was found": [
        Command(
            "runs",
            "runs",
            "list runs: status, age, cost, question",
            "runs:list_runs",
            _add_runs,
            "List the latest runs, the newest first.",
        ),
        Command(
            "show",
            "show ID",
            "print a report again, one round, or what was found or read",
            "runs:show",
            _add_show,
            "Print a report again, or a part of what a run knows, also while it goes on.",
            usage="ID [options]",
        ),
        Command(
            "diff",
            "diff A B",
            "two runs side by side",
            "runs:diff",
            _add_diff,
            "Put two runs side by side: questions, settings, sources and findings that only one has,"
            " findings held otherwise, cost.",
            usage="A B [--json]",
        ),
        Command(
            "export",
            "export ID --to PLACE",
            "hand a run on: Markdown, HTML, PDF, DOCX, JSON, references, a zip or a folder",
            "runs:export",
            _add_export,
            "Hand a run on. The name says what is wanted: report.md, report.html (one page, no script),"
            " report.pdf, report.docx, report.json, the sources as citations.bib, citations.csl.json or"
            " citations.ris, all.zip (the whole research folder), or a folder. In place of a run's id a"
            " report.json can be named, also of a run that is no longer kept.",
            usage="ID --to FILE|FOLDER [--force]",
        ),
        Command(
            "verify",
            "verify ID|FILE",
            "check a report again, sentence by sentence; --online against the live pages",
            "runs:verify",
            _add_verify,
            "Check a report again: every sentence, quote, position and page.",
            end="exit codes: 0 every sentence is supported, 5 something changed or is gone, 2 not a report",
        ),
        Command(
            "audit",
            "audit FILE",
            "check anybody's report against what it cites, statement by statement",
            "audit:audit",
            _add_audit,
            "Check a report that anybody wrote: which statements its sources carry, which they contradict,"
            " which sources do not exist. Citations may be links, numbers, footnotes, 【1†source】 marks or"
            " bare addresses, in English or Korean. Run the same command again to go on after a stop.",
            usage="FILE|ADDRESS|- [--search] [--docs PLACE …] [options]",
            end="""
exit codes: 0 nothing is contradicted or invented, 5 something is, 2 bad input, 130 interrupted""",
        ),
        Command(
            "eval",
            "eval TASKS",
            "how good reports are: scored by a judge, audited, compared",
            "evaluation:evaluate",
            _add_eval,
            "Research tasks and score the reports: by criteria made for the task and relative to a reference"
            " (the form of RACE), by auditing their citations (the form of FACT), and against reports of"
            " other tools, in both orders. A task is a folder with question.txt, and pages/ and"
            " reference.md if it has them. What it costs is told before it starts; the same command again"
            " goes on.",
            usage="TASKS [--repeats N] [--report NAME=PLACE] [options]",
        ),
        Command(
            "clean",
            "clean",
            "remove old runs and give the room back to the disk",
            "runs:clean",
            _add_clean,
            "Remove old runs and all that only they needed, and give the room back to the disk."
            " A run that somebody works on is left alone. Research folders stay, but what they quote can then"
            " no longer be verified offline.",
            usage="[--older-than AGE] [--keep N] [--dry-run] [--yes]",
        ),
    ],
    "set up": [
        Command(
            "demo",
            "demo",
            "see a whole run in ten seconds, without a key: documents of ours, recorded replies",
            "run:demo",
            _add_demo,
            "See a whole run without a key or a network. The model's replies were recorded; search,"
            " verification, calculations and the report are made here and now. The places in its documents"
            " are made up.",
            usage="[--language en|ko] [options]",
        ),
        Command(
            "serve",
            "serve",
            "the page: ask, steer and read in a browser",
            "serve:serve",
            _add_serve,
            "Serve the page at http://127.0.0.1:8321/, on the same database as every other command."
            " Only this machine can reach it, unless --host says otherwise.",
            usage="[--port N] [--host NAME]",
        ),
        Command(
            "mcp",
            "mcp",
            "an MCP server for other agents, over standard input and output",
            "serve:serve_mcp",
            _add_mcp,
            "Serve research, follow-ups, search, fetch and verification to an MCP host over standard input"
            " and output. `fathom serve` offers the same over HTTP, at /mcp.",
            usage="[--docs FOLDER …]",
        ),
        Command(
            "worker",
            "worker",
            "answer queued questions, on any number of machines (PostgreSQL)",
            "worker:worker",
            _add_worker,
            "Answer the questions that fathom batch --workers and DeepResearcher.submit() put into the queue"
            " of the database. Start as many as you like, on any machines; the others take over from"
            " one that is killed. Ctrl-C ends the steps in hand and gives the runs back.",
            usage="[--at-once N]",
        ),
        Command(
            "migrate",
            "migrate",
            "copy the SQLite file in the home into the PostgreSQL database of FATHOM_DATABASE",
            "worker:migrate",
            lambda _: None,
            "Copy every run from the SQLite file in the home into the PostgreSQL database that"
            " FATHOM_DATABASE names. The file stays. It may be run again: what was copied is left as it is.",
        ),
        Command(
            "doctor",
            "doctor",
            "what is configured, what is missing, what would be used",
            "config:doctor",
            lambda _: None,
            "Say what is configured.",
        ),
        Command(
            "config",
            "config",
            "every setting, its value and where it came from",
            "config:show_settings",
            _add_config,
            "Show every setting and where its value came from: the default, fathom.toml, .env, a"
            " variable of the environment, or the words of this command. Keys are never shown.",
            usage="[--changed] [--json] [options of a run]",
        ),
        Command(
            "upgrade",
            "upgrade",
            "start a new database in the place of an earlier version's; reports are kept",
            "config:upgrade",
            _add_upgrade,
            "Start a new database in the place of one that an earlier Fathom wrote. Reports are kept,"
            " the old file is moved aside. Unfinished runs of the old file cannot be resumed.",
            usage="[--to FOLDER]",
        ),
        Command(
            "rescue",
            "rescue [FILE]",
            "save what can be read from a damaged database: reports, ledgers, quotes, events",
            "config:rescue",
            _add_rescue,
            "Save what can be read from a damaged database into a folder: a new database, and of each run"
            " its report, ledger, quotes and events. The damaged file stays as it is. To go on with the new"
            " one, put it in the place of the old.",
            usage="[FILE] [--to FOLDER]",
        ),
    ],
}
COMMANDS = {command.name: command for commands in _GROUPS.values() for command in commands}


def describe_commands() -> str:
    """What stands above the options: what it is, and the other commands by what they are for."""
    width = max(len(command.shape) for command in COMMANDS.values())
    lines = ["Research a question; every sentence of the report leads back to a quotation."]
    for title, commands in _GROUPS.items():
        lines += ["", f"{title}:", *(f"  fathom {c.shape:<{width}}  {c.summary}" for c in commands)]
    return "\n".join(lines)

"""The command line: words in, an exit code out. What each command takes, and its help, is in `commands.toml`.

Does not know how anything is done. A command's function is imported only when it runs, so help is quick.
"""

import argparse
import json
import sqlite3
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from typing import Any, cast

from fathom.cli.arguments import (
    Parser,
    add_output_options,
    add_run_options,
    add_server_option,
    add_some_run_options,
    check_early,
    refuse,
)

REVIEWS = ("plan", "rounds", "off")
ORDERS = ("pause", "go", "stop", "add")
_RESEARCH = "research"
_TYPES = {"int": int, "float": float}
_SHARED: dict[str, Callable[[Parser], None]] = {  # options that several commands take
    "run": add_run_options,
    "run, unlisted": partial(add_run_options, is_listed=False),
    "output": add_output_options,
    "server": add_server_option,
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
    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    takes: Sequence[str] = ()  # options that it shares with others
    run_options: Sequence[str] = ()  # of a run, if it takes only some

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
            settle=_SETTLE.get(self.name),
        )
        self._add_arguments(parser)
        if self.name == _RESEARCH:
            parser.add_argument("--version", action="version", version=f"fathom {version('fathom-research')}")
        for name in self.takes:
            _SHARED[name](parser)
        if self.run_options:
            add_some_run_options(parser, self.run_options)
        return parser

    def _add_arguments(self, parser: Parser) -> None:
        """Add its own arguments: words for argparse, but an option without a metavar is a flag."""
        groups: dict[str, argparse._MutuallyExclusiveGroup] = {}
        for name, given in self.arguments.items():
            words = dict(given)
            group = words.pop("one_of", "")
            if group and group not in groups:
                groups[group] = parser.add_mutually_exclusive_group()
            if name.startswith("--") and "metavar" not in words:
                words.setdefault("action", "store_true")
            if "type" in words:
                words["type"] = _TYPES[words["type"]]
            (groups[group] if group else parser).add_argument(name, **words)

    def __call__(self, arguments: argparse.Namespace) -> int:
        """Carry it out; the exit code."""
        module, _, function = self.run.partition(":")
        work = getattr(import_module(f"fathom.cli.{module}"), function)
        return cast(int, work(arguments))


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


def _settle_ask(words: argparse.Namespace) -> str:
    if words.question is None and words.review not in (None, *REVIEWS):
        words.question, words.review = words.review, "rounds"
    if words.close and words.question is not None:
        return "A thread is closed without a question: fathom ask ID --close."
    return ""


def _settle_control(words: argparse.Namespace) -> str:
    if words.order not in ORDERS:
        near = get_close_matches(words.order, ORDERS, n=1)
        there = f"did you mean {near[0]}?" if near else f"there are {', '.join(ORDERS)}."
        return f"There is no order {words.order!r}; {there}"
    return ""


_SETTLE: dict[str, Callable[[argparse.Namespace], str]] = {
    "research": _settle_research,
    "ask": _settle_ask,
    "control": _settle_control,
}
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


def _nearest_command(words: Sequence[str]) -> str:
    """The command that one bare word nearly is: nobody asks that."""
    first = words[0]
    if first in COMMANDS or not first.isalpha():
        return ""
    # With options behind it, a word may well be a question: only what is nearly a command's name counts.
    is_bare = len(words) <= 2 and not any(w.startswith("-") for w in words)
    return next(iter(get_close_matches(first.lower(), COMMANDS, n=1, cutoff=0.7 if is_bare else 0.8)), "")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on standard error and exit code 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    command = COMMANDS.get(words[0], RESEARCH) if words else RESEARCH
    given = words[1:] if words and words[0] in COMMANDS else words
    parser = command.make_parser()
    if not words:
        parser.print_help()
        return 2
    if near := _nearest_command(words):
        return refuse(
            f"There is no command {words[0]!r}; did you mean {near}?"
            " To research that word, put it in a longer question."
        )
    arguments = parser.parse_args(given)
    from fathom.errors import BadInput

    try:
        check_early(arguments)
        return command(arguments)
    except (BadInput, sqlite3.Error) as error:
        why = str(error)
        if not isinstance(error, BadInput):
            from fathom import DeepResearcher

            why = DeepResearcher.describe_database_error(error)
        if not getattr(arguments, "json", False):
            return refuse(why)
        print(json.dumps({"error": why, "code": BadInput.code}), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("fathom: interrupted before a run began", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        sys.stderr.close()
        return 0

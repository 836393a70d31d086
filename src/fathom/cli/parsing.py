"""How words on the command line are taken apart: one clear sentence for what makes no sense, calm help.

Does not know any command. Loads nothing heavy, so that help is quick.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NoReturn

_WIDEST = 100
_NEAR = 0.7
_REQUIRED = "the following arguments are required: "


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that fits the terminal, and reads well in 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=min(get_terminal_size().columns, _WIDEST) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002 - argparse calls it so
        """Line by line; what does not fit goes on below the last column of its line."""
        return "\n".join(_filled(line, width) for line in text.splitlines())

    def _format_args(self, action: argparse.Action, default_metavar: str) -> str:
        """`PLACE …` for one or more, instead of `PLACE [PLACE ...]`."""
        if action.nargs == argparse.ONE_OR_MORE:
            return f"{self._metavar_formatter(action, default_metavar)(1)[0]} …"
        return super()._format_args(action, default_metavar)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """The preferred name of an option; older ones are accepted and not shown."""
        if not action.option_strings or "-h" in action.option_strings:
            return super()._format_action_invocation(action)
        name = action.option_strings[0]
        if isinstance(action, argparse.BooleanOptionalAction):
            return f"--[no-]{name.removeprefix('--')}"
        if action.nargs == 0:
            return name
        return f"{name} {self._format_args(action, self._get_default_metavar_for_optional(action))}"


def _filled(line: str, width: int) -> str:
    column = re.match(r"\s*(\S.*?\s{2,})?", line)
    hanging = " " * (len(column.group()) if column else 0)
    return fill(line, width, subsequent_indent=hanging, break_on_hyphens=False, break_long_words=False)


class Parser(argparse.ArgumentParser):
    """Takes a command's words; what it refuses, it refuses in one sentence with the nearest name it knows.

    `settle` looks at what was taken, may put it right, and says what is wrong with it, if anything is.
    """

    def __init__(
        self, *words: Any, settle: Callable[[argparse.Namespace], str] | None = None, **more: Any
    ) -> None:
        super().__init__(*words, **{"formatter_class": Help, "allow_abbrev": False, **more})
        self._settle = settle
        self.add_argument(
            "--config",
            dest="config_file",
            metavar="FILE",
            help="a settings file, TOML or JSON, instead of fathom.toml",
        )

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """The command's words, or a sentence and exit code 2."""
        taken, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self._refuse(self._not_known(unknown))
        if self._settle and (complaint := self._settle(taken)):
            self._refuse(complaint)
        return taken

    def error(self, message: str) -> NoReturn:
        """argparse's own complaint, as a sentence."""
        if message.startswith(_REQUIRED):
            message = f"{message.removeprefix(_REQUIRED)} is missing"
        said = re.sub(r"^argument (-[^\s/:]+)(/\S+)?: ", r"\1: ", message)
        self._refuse(f"{said.rstrip('.')}; {self.prog} --help shows what it takes.")

    def _not_known(self, unknown: Sequence[str]) -> str:
        flag = next((word for word in unknown if word.startswith("-")), None)
        if flag is None:
            return f"{unknown[0]!r} is one word too many; what belongs together goes in quotes."
        name = flag.partition("=")[0]
        near = get_close_matches(name, self._option_string_actions, n=1, cutoff=_NEAR)
        there = f"did you mean {near[0]}?" if near else f"{self.prog} --help lists them."
        return f"There is no option {name}; {there}"

    def _refuse(self, sentence: str) -> NoReturn:
        self.exit(2, f"fathom: {' '.join(sentence.split())}\n")


def refuse(sentence: str) -> int:
    """Say no before anything was parsed; the exit code."""
    print(f"fathom: {sentence}", file=sys.stderr)
    return 2

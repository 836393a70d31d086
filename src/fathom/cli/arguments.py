"""Parse the command line: a parser with one-sentence errors, and the options that commands share.

Does not know any command. Options of a run are generated from the fields of `RunConfig`, which is imported
only when needed, so that help is quick.
"""

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import TYPE_CHECKING, Any, NoReturn, get_args, get_origin

if TYPE_CHECKING:
    from fathom.settings import Settings

_WIDEST = 100
_NEAR = 0.7
_REQUIRED = "the following arguments are required: "
_YES_OR_NO = argparse.BooleanOptionalAction  # so that what the settings say can be taken back
_TYPES: dict[type, type] = {int: int, float: float}


class Help(argparse.RawDescriptionHelpFormatter):
    """Help that fits the terminal, and reads well in 80 columns."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=min(get_terminal_size().columns, _WIDEST) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002 - argparse calls it so
        """Line by line; what does not fit goes on below the last column of its line."""
        return "\n".join(_wrap_line(line, width) for line in text.splitlines())

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


def _wrap_line(line: str, width: int) -> str:
    column = re.match(r"\s*(\S.*?\s{2,})?", line)
    hanging = " " * (len(column.group()) if column else 0)
    return fill(line, width, subsequent_indent=hanging, break_on_hyphens=False, break_long_words=False)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence and suggest the nearest known name.

    `settle` may correct the parsed arguments, and returns what is wrong with them, if anything is.
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
            self._refuse(self._describe_unknown(unknown))
        if self._settle and (complaint := self._settle(taken)):
            self._refuse(complaint)
        return taken

    def error(self, message: str) -> NoReturn:
        """argparse's own complaint, as a sentence."""
        if message.startswith(_REQUIRED):
            message = f"{message.removeprefix(_REQUIRED)} is missing"
        said = re.sub(r"^argument (-[^\s/:]+)(/\S+)?: ", r"\1: ", message)
        self._refuse(f"{said.rstrip('.')}; {self.prog} --help shows what it takes.")

    def _describe_unknown(self, unknown: Sequence[str]) -> str:
        flag = next((word for word in unknown if word.startswith("-")), None)
        if flag is None:
            return f"{unknown[0]!r} is one word too many; what belongs together goes in quotes."
        name = flag.partition("=")[0]
        near = get_close_matches(name, self._option_string_actions, n=1, cutoff=_NEAR)
        there = f"did you mean {near[0]}?" if near else f"{self.prog} --help lists them."
        return f"There is no option {name}; {there}"

    def _refuse(self, sentence: str) -> NoReturn:
        self.exit(refuse(" ".join(sentence.split())))


def refuse(sentence: str) -> int:
    """Print a refusal and return the exit code."""
    if not sentence.isprintable():  # names of files and words of others
        from fathom.cli.text import plain

        sentence = plain(sentence)
    print(f"fathom: {sentence}", file=sys.stderr)
    return 2


def add_run_options(parser: argparse.ArgumentParser, *, is_listed: bool = True) -> None:
    """Everything a run may be told but its question; what is not said is as the settings have it.

    Where they are not listed, help says where they are.
    """
    from fathom.state.run_config import OPTIONS, RunConfig

    groups: dict[str, argparse._ArgumentGroup] = {}
    for name, field in RunConfig.model_fields.items():
        group = OPTIONS[name].group
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        words = _help(field.description or "", field.default) if is_listed else argparse.SUPPRESS
        _add_field(groups[group], name, field.annotation, words)
    if not is_listed:
        parser.epilog = (
            f"Every option of a run can be said too: fathom --help lists them.\n\n{parser.epilog or ''}"
        )
    find, *_, far = groups.values()
    for engine in ("google", "arxiv"):
        find.add_argument(
            f"--{engine}",
            action="append_const",
            const=engine,
            dest="engines",
            help=f"The same as --engines {engine}." if is_listed else argparse.SUPPRESS,
        )
    _add_dry_run(far)


def add_some_run_options(parser: argparse.ArgumentParser, names: Sequence[str]) -> None:
    """Those options of a run that another command takes too, without their older names."""
    from fathom.state.run_config import RunConfig

    group = parser.add_argument_group("how")
    for name in names:
        field = RunConfig.model_fields[name]
        words = _help(field.description or "", field.default)
        _add_field(group, name, field.annotation, words, with_aliases=False)
    _add_dry_run(group)


def _add_dry_run(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--dry-run", action="store_true", help="Only say what it would cost; nobody is asked anything."
    )


def _add_field(
    group: argparse._ArgumentGroup, name: str, kind: Any, words: str, *, with_aliases: bool = True
) -> None:
    from fathom.state.run_config import OPTIONS, flags_of

    option = OPTIONS[name]
    flags = flags_of(name) if with_aliases else flags_of(name)[:1]
    common: dict[str, Any] = {"dest": name, "default": None, "help": words}
    kinds = {kind, *get_args(kind)}
    if kind is bool:
        group.add_argument(*flags, action=_YES_OR_NO, **common)
        return
    common["metavar"] = option.metavar
    if get_origin(kind) is list and option.metavar == "NAMES":
        group.add_argument(*flags, type=_names, action="extend", **common)
    elif get_origin(kind) is list:
        group.add_argument(*flags, nargs="+", **common)
    elif get_origin(kind) is dict:
        group.add_argument(*flags, type=_pairs, action=_Merge, **common)
    elif option.bare:
        group.add_argument(*flags, nargs="?", const=option.bare, **common)
    else:
        number = next((_TYPES[one] for one in (int, float) if one in kinds), str)
        group.add_argument(*flags, type=number, **common)


def _help(description: str, default: Any) -> str:
    """A field's description, and its default where that says something."""
    says = isinstance(default, int | float | str) and not isinstance(default, bool)
    return f"{description.removesuffix('.')} ({default})." if says else description


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _pairs(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in _names(text)]
    if not all(sign and role.strip() and name.strip() for role, sign, name in pairs):
        raise argparse.ArgumentTypeError(f"{text} should be ROLE=NAME, as write=gpt-4.1")
    return {role.strip(): name.strip() for role, _, name in pairs}


class _Merge(argparse.Action):
    """Pairs that are said one after another, together."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - the signature is argparse's
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,  # noqa: ARG002
    ) -> None:
        setattr(namespace, self.dest, {**(getattr(namespace, self.dest) or {}), **values})


def add_server_option(parser: argparse.ArgumentParser) -> None:
    """For commands that go on with a run, whose server somebody at the keyboard must name."""
    parser.add_argument("--base-url", metavar="URL", help="confirm the model server of the run")


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """The options that every command with a report has."""
    out = parser.add_argument_group("what comes out")
    out.add_argument(
        "--format",
        default="markdown",
        metavar="FORM",
        help="what is printed: markdown (default), html, pdf, docx, json, bibtex, csl-json or ris",
    )
    out.add_argument(
        "--to",
        type=_new_report,
        metavar="FILE",
        help="write the report there instead of printing it; .html, .pdf, .docx … say the format",
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


def _new_report(name: str) -> Path:
    """A file that a report can be written to, checked before anything is paid."""
    from fathom.errors import BadInput
    from fathom.report.formats.registry import check_file

    try:
        check_file(Path(name))
    except BadInput as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return Path(name)


def read_request(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments for a `ResearchRequest`: only what was given, the rest is left to the settings."""
    from fathom.state import RunConfig

    said = {
        "query": getattr(arguments, "question", None),
        "output_format": getattr(arguments, "format", None),
    }
    said |= {name: getattr(arguments, name) for name in RunConfig.model_fields}
    return {name: value for name, value in said.items() if value is not None}


def check_early(arguments: argparse.Namespace) -> None:
    """Refuse what is no request, format, folder or run before large imports, which take seconds."""
    if form := getattr(arguments, "format", None):
        from fathom.cli.text import check_format

        check_format(form)
    if getattr(arguments, "question", None) is not None:
        from fathom.request import ResearchRequest

        ResearchRequest(**read_request(arguments)).refuse_unknown_places()
    named = [getattr(arguments, name, None) for name in ("id", "first", "second", "run_id")]
    runs = [name for name in named if name and not name.endswith(".json")]
    if runs:
        import asyncio

        from fathom import DeepResearcher

        async def look() -> None:
            researcher = DeepResearcher(read_settings(arguments))
            for run_id in runs:
                await researcher.run(run_id)

        asyncio.run(look())


def read_settings(arguments: argparse.Namespace) -> "Settings":
    """The settings of the process, with the file and the server that were named here."""
    from fathom.settings import load_settings

    return load_settings(arguments.config_file, base_url=getattr(arguments, "base_url", None))

"""The options that commands share: those of a run, made from the fields of `RunConfig`, and of the output.

Does not know any command. The fields are imported when they are needed, so that other help is quick.
"""

import argparse
from typing import TYPE_CHECKING, Any, get_args, get_origin

if TYPE_CHECKING:
    from fathom.settings.settings import Settings

_YES_OR_NO = argparse.BooleanOptionalAction  # so that what the settings say can be taken back
_TYPES: dict[type, type] = {int: int, float: float}


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Everything a run may be told but its question; what is not said is as the settings have it."""
    from fathom.state.run_config import OPTIONS, RunConfig

    groups: dict[str, argparse._ArgumentGroup] = {}
    for name, field in RunConfig.model_fields.items():
        group = OPTIONS[name].group
        if group not in groups:
            groups[group] = parser.add_argument_group(group)
        _add_field(groups[group], name, field.annotation, _help(field.description or "", field.default))
    find, *_, far = groups.values()
    for engine in ("google", "arxiv"):
        find.add_argument(
            f"--{engine}",
            action="append_const",
            const=engine,
            dest="engines",
            help=f"The same as --engines {engine}.",
        )
    far.add_argument(
        "--dry-run", action="store_true", help="Only say what it would cost; nobody is asked anything."
    )


def _add_field(group: argparse._ArgumentGroup, name: str, kind: Any, words: str) -> None:
    from fathom.state.run_config import OPTIONS, flags_of

    option = OPTIONS[name]
    common: dict[str, Any] = {"dest": name, "default": None, "help": words}
    kinds = {kind, *get_args(kind)}
    if kind is bool:
        group.add_argument(*flags_of(name), action=_YES_OR_NO, **common)
        return
    common["metavar"] = option.metavar
    if get_origin(kind) is list and option.metavar == "NAMES":
        group.add_argument(*flags_of(name), type=_names, action="extend", **common)
    elif get_origin(kind) is list:
        group.add_argument(*flags_of(name), nargs="+", **common)
    elif get_origin(kind) is dict:
        group.add_argument(*flags_of(name), type=_pairs, action=_Merge, **common)
    elif option.bare:
        group.add_argument(*flags_of(name), nargs="?", const=option.bare, **common)
    else:
        number = next((_TYPES[one] for one in (int, float) if one in kinds), str)
        group.add_argument(*flags_of(name), type=number, **common)


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


def request_words(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was said about a run, as words of a request; what was not said is left to the settings."""
    from fathom.state import RunConfig

    said = {
        "query": getattr(arguments, "question", None),
        "output_format": getattr(arguments, "format", None),
    }
    said |= {name: getattr(arguments, name) for name in RunConfig.model_fields}
    return {name: value for name, value in said.items() if value is not None}


def settings_of(arguments: argparse.Namespace) -> "Settings":
    """The settings of the process, with the file and the server that were named here."""
    from fathom.settings.settings import load_settings

    return load_settings(arguments.config_file, base_url=getattr(arguments, "base_url", None))

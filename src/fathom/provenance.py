"""What was set, and where: `fathom.toml`, `.env`, the environment. The later one wins.

Does not know what a setting means, and does not read the environment itself: it is given what stands there.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args, get_origin

from dotenv import dotenv_values
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from fathom.errors import BadInput

TOML = "fathom.toml"
DOTENV = ".env"
OURS = "FATHOM_"
CONFIG = f"{OURS}CONFIG"  # names a settings file
RUN = "run"  # the table of a run's usual knobs


@dataclass(frozen=True)
class Common:
    """A variable that other programs read too, under its own name."""

    variable: str


@dataclass(frozen=True)
class Said:
    """One value as it was written, and where; None is a variable that was set to nothing."""

    value: Any
    origin: str


@dataclass(frozen=True)
class Names:
    """Every setting by name, and every field of a run that may be set for all runs."""

    settings: Mapping[str, FieldInfo]
    run_config: Mapping[str, FieldInfo]
    aliases: Mapping[str, str] = field(default_factory=dict)  # older names of fields of a run

    def variables(self) -> dict[str, tuple[str, FieldInfo]]:
        """Every variable, the preferred ones last, with the setting it sets; a knob's is `run.NAME`."""
        common = {
            known.variable: (name, field)
            for name, field in self.settings.items()
            for known in field.metadata
            if isinstance(known, Common)
        }
        own = {f"{OURS}{name.upper()}": (name, field) for name, field in self.settings.items()}
        older = {alias: name for alias, name in self.aliases.items() if name in self.run_config}
        of_runs = {**older, **{name: name for name in self.run_config}}
        run_config = {
            f"{OURS}{word.upper()}": (f"{RUN}.{name}", self.run_config[name])
            for word, name in of_runs.items()
        }
        return {**common, **run_config, **own}


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting is a key, which is never shown and never written to a file of settings."""
    return SecretStr in (field.annotation, *get_args(field.annotation))


def said_in(
    folder: Path, environment: Mapping[str, str], names: Names, file: Path | None = None
) -> dict[str, Said]:
    """Everything that is set, by name; a name nobody knows is refused with the nearest one.

    `file` is read instead of the `fathom.toml` of the folder.
    """
    return {
        **_from_file(file or folder / TOML, names, is_needed=file is not None),
        **_from_variables(_dotenv(folder / DOTENV), names, f"{DOTENV}: "),
        **_from_variables(environment, names),
    }


def nested(said: Mapping[str, Said]) -> dict[str, Any]:
    """The values as settings take them: those of runs in a table of their own, nothing left out."""
    plain: dict[str, Any] = {}
    for name, one in said.items():
        if one.value is None:
            continue
        table, _, knob = name.rpartition(".")
        (plain.setdefault(table, {}) if table else plain)[knob] = one.value
    return plain


def _from_file(path: Path, names: Names, *, is_needed: bool) -> dict[str, Said]:
    written = _read_file(path, is_needed=is_needed)
    runs = written.pop(RUN, {})
    if not isinstance(runs, dict):
        raise BadInput(f"In {path.name}, run is a table: write [run] and the settings of a run below it.")
    of_runs = {**names.run_config, **{old: names.run_config.get(new) for old, new in names.aliases.items()}}
    for name in written:
        _refuse_stranger(path, name, [*names.settings], [*of_runs], "it belongs below [run]")
        if is_secret(names.settings[name]):
            raise BadInput(
                f"{path.name} holds a secret, {name}: keys are read from the environment or {DOTENV} only."
            )
    for name in runs:
        _refuse_stranger(path, name, [*of_runs], [*names.settings], "it belongs above [run]")
    runs = {names.aliases.get(name, name): value for name, value in runs.items()}
    entries = {**written, **{f"{RUN}.{name}": value for name, value in runs.items()}}
    return {name: Said(value, str(path)) for name, value in entries.items()}


def _read_file(path: Path, *, is_needed: bool) -> dict[str, Any]:
    """A settings file: JSON if its name says so, else TOML."""
    try:
        text = path.read_text("utf-8")
        found = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except FileNotFoundError:
        if is_needed:
            raise BadInput(f"There is no settings file {path}.") from None
        return {}
    except OSError as error:
        raise BadInput(f"The settings cannot be read: {path}: {error.strerror}.") from None
    except ValueError as error:  # not the format, or no text at all
        raise BadInput(f"The settings cannot be read: {path}: {' '.join(str(error).split())}.") from None
    if not isinstance(found, dict):
        raise BadInput(f"The settings cannot be read: {path}: it is no table of settings.")
    return found


def _refuse_stranger(
    path: Path, name: str, known: Sequence[str], elsewhere: Sequence[str], right_place: str
) -> None:
    if name in known:
        return
    if name in elsewhere:
        raise BadInput(f"{path.name} sets {name} in the wrong place: {right_place}.")
    raise BadInput(f"{path.name} sets {name}, which is no setting{_guess(nearest(name, known))}")


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name that a misspelt one nearly is; nothing if it is near to none."""
    word = name.lower().replace("-", "_").removeprefix(OURS.lower())
    same = [one for one in known if word in (one, one.rpartition("_")[0])]  # budget_usd without its unit
    return next(iter(same or get_close_matches(word, known, n=1)), "")


def _guess(name: str) -> str:
    return f"; did you mean {name}?" if name else "."


def _dotenv(path: Path) -> dict[str, str]:
    """What a `.env` says; a line left empty, as in the example to copy, says nothing."""
    if not path.is_file():
        return {}
    try:
        return {name: value for name, value in dotenv_values(path).items() if value}
    except (OSError, ValueError) as error:
        raise BadInput(f"The settings cannot be read: {path}: {error}.") from None


def _from_variables(there: Mapping[str, str], names: Names, place: str = "") -> dict[str, Said]:
    known = names.variables()
    for variable in there:
        if variable.upper().startswith(OURS) and variable.upper() not in {*known, CONFIG}:
            own = [one.removeprefix(OURS).lower() for one in known if one.startswith(OURS)]
            near = nearest(variable, own)
            guess = _guess(f"{OURS}{near.upper()}" if near else "")
            raise BadInput(f"{place}{variable} is no setting of Fathom{guess}")
    return dict(_read(there, known, place))


def _read(
    there: Mapping[str, str], known: Mapping[str, tuple[str, FieldInfo]], place: str
) -> Iterator[tuple[str, Said]]:
    written = {variable.upper(): text for variable, text in there.items()}
    for variable, (name, about) in known.items():
        if variable in written:
            text = written[variable]
            value = _parsed(text, about, variable) if text.strip() else None
            yield name, Said(value, f"{place}{variable}")


def _parsed(text: str, field: FieldInfo, variable: str) -> Any:
    """Lists and tables are JSON; a list may also be words with commas between them."""
    kinds = {get_origin(kind) for kind in (field.annotation, *get_args(field.annotation))}
    if list in kinds and not text.lstrip().startswith("["):
        return [word.strip() for word in text.split(",") if word.strip()]
    if not kinds & {list, dict}:
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise BadInput(f"The setting in {variable} cannot be read: it is no JSON.") from None


def knob_names(run_config: type[BaseModel], settings: type[BaseModel]) -> dict[str, FieldInfo]:
    """The knobs that may be set for all runs: those that are not settings already, as the model is."""
    return {n: field for n, field in run_config.model_fields.items() if n not in settings.model_fields}

"""Read settings and their origins: `fathom.toml`, `.env`, the environment. The later one wins."""

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

SETTINGS_FILE = "fathom.toml"
DOTENV = ".env"
VARIABLE_PREFIX = "FATHOM_"
CONFIG_VARIABLE = f"{VARIABLE_PREFIX}CONFIG"  # names a settings file
RUN_TABLE = "run"  # the table of a run's usual configuration


@dataclass(frozen=True)
class SharedVariable:
    """A variable that other programs read too, under its own name."""

    variable: str


@dataclass(frozen=True)
class SetValue:
    """One value as it was written, and where; None is a variable that was set to nothing."""

    value: Any
    origin: str


@dataclass(frozen=True)
class SettingNames:
    """Every setting by name, and every field of a run that may be set for all runs."""

    settings: Mapping[str, FieldInfo]
    run_config: Mapping[str, FieldInfo]
    aliases: Mapping[str, str] = field(default_factory=dict)  # older names of fields of a run

    def variables(self) -> dict[str, tuple[str, FieldInfo]]:
        """Every variable, the preferred ones last, with the setting it sets; one of a run is `run.NAME`."""
        common = {
            known.variable: (name, field)
            for name, field in self.settings.items()
            for known in field.metadata
            if isinstance(known, SharedVariable)
        }
        own = {f"{VARIABLE_PREFIX}{name.upper()}": (name, field) for name, field in self.settings.items()}
        older = {alias: name for alias, name in self.aliases.items() if name in self.run_config}
        of_runs = {**older, **{name: name for name in self.run_config}}
        run_config = {
            f"{VARIABLE_PREFIX}{word.upper()}": (f"{RUN_TABLE}.{name}", self.run_config[name])
            for word, name in of_runs.items()
        }
        return {**common, **run_config, **own}


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting is a key, which is never shown and never written to a file of settings."""
    return SecretStr in (field.annotation, *get_args(field.annotation))


def collect_values(
    folder: Path, environment: Mapping[str, str], names: SettingNames, file: Path | None = None
) -> dict[str, SetValue]:
    """Return all settings by name; refuse an unknown name and suggest the nearest one.

    `file` is read instead of the `fathom.toml` of the folder.
    """
    return {
        **_values_from_file(file or folder / SETTINGS_FILE, names, is_needed=file is not None),
        **_values_from_variables(_read_dotenv(folder / DOTENV), names, f"{DOTENV}: "),
        **_values_from_variables(environment, names),
    }


def nest_values(said: Mapping[str, SetValue]) -> dict[str, Any]:
    """The values as settings take them: those of runs in a table of their own, nothing left out."""
    plain: dict[str, Any] = {}
    for name, one in said.items():
        if one.value is None:
            continue
        table, _, own = name.rpartition(".")
        (plain.setdefault(table, {}) if table else plain)[own] = one.value
    return plain


def _values_from_file(path: Path, names: SettingNames, *, is_needed: bool) -> dict[str, SetValue]:
    written = _read_file(path, is_needed=is_needed)
    runs = written.pop(RUN_TABLE, {})
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
    entries = {**written, **{f"{RUN_TABLE}.{name}": value for name, value in runs.items()}}
    return {name: SetValue(value, str(path)) for name, value in entries.items()}


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
    raise BadInput(f"{path.name} sets {name}, which is no setting{_suggestion(nearest_name(name, known))}")


def nearest_name(name: str, known: Sequence[str]) -> str:
    """The known name that a misspelt one nearly is; nothing if it is near to none."""
    word = name.lower().replace("-", "_").removeprefix(VARIABLE_PREFIX.lower())
    same = [one for one in known if word in (one, one.rpartition("_")[0])]  # budget_usd without its unit
    return next(iter(same or get_close_matches(word, known, n=1)), "")


def _suggestion(name: str) -> str:
    return f"; did you mean {name}?" if name else "."


def _read_dotenv(path: Path) -> dict[str, str]:
    """Read a `.env` file; empty values, as in the example, are ignored."""
    if not path.is_file():
        return {}
    try:
        return {name: value for name, value in dotenv_values(path).items() if value}
    except (OSError, ValueError) as error:
        raise BadInput(f"The settings cannot be read: {path}: {error}.") from None


def _values_from_variables(
    there: Mapping[str, str], names: SettingNames, place: str = ""
) -> dict[str, SetValue]:
    known = names.variables()
    for variable in there:
        if variable.upper().startswith(VARIABLE_PREFIX) and variable.upper() not in {*known, CONFIG_VARIABLE}:
            own = [
                one.removeprefix(VARIABLE_PREFIX).lower() for one in known if one.startswith(VARIABLE_PREFIX)
            ]
            near = nearest_name(variable, own)
            guess = _suggestion(f"{VARIABLE_PREFIX}{near.upper()}" if near else "")
            raise BadInput(f"{place}{variable} is no setting of Fathom{guess}")
    return dict(_read_variables(there, known, place))


def _read_variables(
    there: Mapping[str, str], known: Mapping[str, tuple[str, FieldInfo]], place: str
) -> Iterator[tuple[str, SetValue]]:
    written = {variable.upper(): text for variable, text in there.items()}
    for variable, (name, about) in known.items():
        if variable in written:
            text = written[variable]
            value = _parse_value(text, about, variable) if text.strip() else None
            yield name, SetValue(value, f"{place}{variable}")


def _parse_value(text: str, field: FieldInfo, variable: str) -> Any:
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


def run_setting_names(run_config: type[BaseModel], settings: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a run that may be set for all runs; the model is a setting already."""
    return {n: field for n, field in run_config.model_fields.items() if n not in settings.model_fields}

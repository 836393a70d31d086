"""What was set, and where: `fathom.toml`, `.env`, the environment. The later one wins.

Does not know what a setting means, and does not read the environment itself: it is given what stands there.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
RUN = "run"  # the table of a run's usual knobs
# What people write for a knob that has another name.
_MEANT = {"search": "engines", "providers": "engines", "not": "exclude_domains", "only": "include_domains"}


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
    """Every setting by name, and every knob of a run that may be set for all runs."""

    settings: Mapping[str, FieldInfo]
    run_config: Mapping[str, FieldInfo]

    def variables(self) -> dict[str, tuple[str, FieldInfo]]:
        """Every variable, the preferred ones last, with the setting it sets; a knob's is `run.NAME`."""
        common = {
            known.variable: (name, field)
            for name, field in self.settings.items()
            for known in field.metadata
            if isinstance(known, Common)
        }
        own = {f"{OURS}{name.upper()}": (name, field) for name, field in self.settings.items()}
        run_config = {
            f"{OURS}{name.upper()}": (f"{RUN}.{name}", field) for name, field in self.run_config.items()
        }
        return {**common, **run_config, **own}


def is_secret(field: FieldInfo) -> bool:
    """Whether a setting is a key, which is never shown and never written to a file of settings."""
    return SecretStr in (field.annotation, *get_args(field.annotation))


def said_in(folder: Path, environment: Mapping[str, str], names: Names) -> dict[str, Said]:
    """Everything that is set, by name; a name nobody knows is refused with the nearest one."""
    return {
        **_from_toml(folder / TOML, names),
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


def _from_toml(path: Path, names: Names) -> dict[str, Said]:
    written = _toml(path)
    runs = written.pop(RUN, {})
    if not isinstance(runs, dict):
        raise BadInput(f"In {TOML}, run is a table: write [run] and the knobs below it.")
    for name in written:
        _refuse_stranger(name, names.settings, names.run_config, "it belongs below [run]")
        if is_secret(names.settings[name]):
            raise BadInput(
                f"{TOML} holds a secret, {name}: keys are read from the environment or {DOTENV} only."
            )
    for name in runs:
        _refuse_stranger(name, names.run_config, names.settings, "it belongs above [run]")
    entries = {**written, **{f"{RUN}.{name}": value for name, value in runs.items()}}
    return {name: Said(value, str(path)) for name, value in entries.items()}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"The settings cannot be read: {path}: {error.strerror}.") from None
    except ValueError as error:  # no TOML, or no text at all
        raise BadInput(f"The settings cannot be read: {path}: {' '.join(str(error).split())}.") from None


def _refuse_stranger(
    name: str, known: Mapping[str, FieldInfo], elsewhere: Mapping[str, FieldInfo], right_place: str
) -> None:
    if name in known:
        return
    if name in elsewhere:
        raise BadInput(f"{TOML} sets {name} in the wrong place: {right_place}.")
    raise BadInput(f"{TOML} sets {name}, which is no setting{_guess(nearest(name, [*known]))}")


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name that a misspelt one nearly is; nothing if it is near to none."""
    word = name.lower().replace("-", "_").removeprefix(OURS.lower())
    word = _MEANT.get(word, word)
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
        if variable.upper().startswith(OURS) and variable.upper() not in known:
            own = [one.removeprefix(OURS).lower() for one in known if one.startswith(OURS)]
            near = nearest(variable, own)
            guess = _guess(f"{OURS}{near.upper()}" if near else "")
            raise BadInput(f"{place}{variable} is no setting of Fathom{guess}")
    return dict(_read(there, known, place))


def _read(
    there: Mapping[str, str], known: Mapping[str, tuple[str, FieldInfo]], place: str
) -> Iterator[tuple[str, Said]]:
    written = {variable.upper(): text for variable, text in there.items()}
    for variable, (name, field) in known.items():
        if variable in written:
            text = written[variable]
            value = _parsed(text, field, variable) if text.strip() else None
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

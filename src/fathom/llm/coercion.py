"""Converting a model's values to a form's types: "4/5" and "high" to numbers, one entry to a list."""

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin

from pydantic import BaseModel

_GRADES = {
    "none": 0.0, "no": 0.0, "very low": 0.1, "low": 0.2, "poor": 0.2, "minor": 0.2, "partial": 0.5,
    "medium": 0.5, "moderate": 0.5, "fair": 0.5, "average": 0.5, "good": 0.8, "high": 0.9, "strong": 0.9,
    "very high": 1.0, "excellent": 1.0, "full": 1.0, "yes": 1.0,
}  # fmt: skip
_SHARE = re.compile(r"(-?(?<!\d)\d+(?:\.\d+)?)\s*(?:/|of|out of)\s*(\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_NOTHING = {"", "none", "n/a", "na", "null", "-", "nothing"}


def coerce_fields(value: Any, form: type[BaseModel]) -> Any:
    """Return the value with field names spelt as in the form, and values converted to the fields' types."""
    if not isinstance(value, dict):
        return value
    fields, names = _shape(form)
    found = {
        name if name in fields else names.get(_letters(str(name)), str(name)): entry
        for name, entry in value.items()
    }
    for name, field in fields.items():
        entry = found.get(name)
        if entry is None:
            if not field.is_required:
                found.pop(name, None)
        elif type(entry) is not field.fits:
            found[name] = field.convert(entry)
    return found


class _Field(NamedTuple):
    """What a field takes: values of type `fits` are left as they are, others are converted."""

    is_required: bool
    fits: type | None
    convert: Callable[[Any], Any]


@cache
def _shape(form: type[BaseModel]) -> tuple[dict[str, _Field], dict[str, str]]:
    """Return the fields of a form, and their names by their letters and digits alone."""
    fields = {name: _field(info.is_required(), info.annotation) for name, info in form.model_fields.items()}
    return fields, {_letters(name): name for name in fields}


def _field(is_required: bool, kind: Any) -> _Field:
    if get_origin(kind) is list:
        inner = get_args(kind)[0]
        return _Field(is_required, None if inner is str else list, lambda value: _to_list(value, inner))
    return _Field(is_required, kind if kind in (str, int) else None, lambda value: _to_kind(value, kind))


def _to_kind(value: Any, kind: Any) -> Any:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if kind is str:
        return _to_text(value)
    if kind in (int, float):
        return _to_number(value, kind)
    if kind is bool and isinstance(value, str):
        return value.strip().strip(".!").lower()
    return value


def _to_list(value: Any, kind: Any) -> Any:
    if isinstance(value, str) and value.strip().lower() in _NOTHING:
        return []
    if isinstance(value, dict) and value:
        entries = list(value.values())
        value = entries if entries and all(isinstance(entry, dict) for entry in entries) else [value]
    if isinstance(value, str) and kind is str:
        value = [part.strip() for part in re.split(r"[,;\n]", value) if part.strip()]
    if kind is str and isinstance(value, list):
        return [_to_text(entry) for entry in value if entry is not None]
    return value


def _to_text(value: Any) -> Any:
    if isinstance(value, list):
        return "; ".join(str(entry) for entry in value)
    return str(value) if isinstance(value, bool) else value


def _to_number(value: Any, kind: Any) -> Any:
    if isinstance(value, str):
        value = _find_number(value, kind)
    if isinstance(value, float) and not math.isfinite(value):
        return None if kind is int else 0.0
    return round(value) if kind is int and isinstance(value, float) else value


def _find_number(words: str, kind: Any) -> Any:
    """Return the number in the words, or the one a grade stands for: of 5 for whole numbers, else of 1."""
    said = words.strip().strip(".!").lower()
    if share := _SHARE.search(said):
        part, whole = float(share.group(1)), float(share.group(2))
        return part if kind is int else part / whole if whole else None
    if number := _NUMBER.search(said):
        found = float(number.group().replace(",", "."))
        return found / 100 if kind is float and "%" in said else found
    grade = _GRADES.get(said)
    return words if grade is None else max(1, round(5 * grade)) if kind is int else grade


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())

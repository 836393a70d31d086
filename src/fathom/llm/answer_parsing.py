"""Parse a form (a pydantic model) from whatever a model wrote.

Valid JSON is read as is; json-repair repairs the rest; pydantic validates. Reasoning text is removed before
parsing.
"""

import json
import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

from json_repair import repair_json
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

_GRADES = {
    "none": 0.0, "no": 0.0, "very low": 0.1, "low": 0.2, "poor": 0.2, "minor": 0.2, "partial": 0.5,
    "medium": 0.5, "moderate": 0.5, "fair": 0.5, "average": 0.5, "good": 0.8, "high": 0.9, "strong": 0.9,
    "very high": 1.0, "excellent": 1.0, "full": 1.0, "yes": 1.0,
}  # fmt: skip

_SHARE = re.compile(r"(-?(?<!\d)\d+(?:\.\d+)?)\s*(?:/|of|out of)\s*(\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")
_EMPTY_WORDS = {"", "none", "n/a", "na", "null", "-", "nothing"}


def coerce_fields(value: Any, form: type[BaseModel]) -> Any:
    """Return the value with the form's field names, and values converted to the fields' types."""
    if not isinstance(value, dict):
        return value
    fields = form.model_fields
    names = {_letters(name): name for name in fields}
    found = {
        name if name in fields else names.get(_letters(str(name)), str(name)): entry
        for name, entry in value.items()
    }
    for name, field in fields.items():
        entry = found.get(name)
        if entry is not None:
            found[name] = _convert(entry, field.annotation)
        elif not field.is_required():
            found.pop(name, None)
    return found


def _convert(value: Any, kind: Any) -> Any:
    return _to_list(value, get_args(kind)[0]) if get_origin(kind) is list else _to_kind(value, kind)


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
    if isinstance(value, str) and value.strip().lower() in _EMPTY_WORDS:
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
    """Return the number in the words, or the one a grade stands for: out of 5 for integers, else out of 1."""
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


_MAX_UNIT_CHARS = 400
_MIN_REPEATS = 5
_MIN_LOOP_CHARS = 120  # a row of dashes is no loop
_INNER_LOOP = re.compile(r"(.{2,60}?)\1{7,}", re.DOTALL)
_MIN_INNER_CHARS = 48
_MAX_SEARCHED_CHARS = 3_000


def cut_repetition(text: str) -> str:
    """Return the text up to where its end starts to loop, with the repeated part once."""
    for size in range(1, min(_MAX_UNIT_CHARS, len(text) // _MIN_REPEATS) + 1):
        unit = text[-size:]
        if text.endswith(unit * max(_MIN_REPEATS, -(-_MIN_LOOP_CHARS // size))):
            end = len(text)
            while text.endswith(unit, 0, end - size):
                end -= size
            return text[:end]
    return text


def is_repetitive(text: str) -> bool:
    """Tell whether some words come eight times or more in a row."""
    loops = _INNER_LOOP.finditer(text[:_MAX_SEARCHED_CHARS])
    return any(len(loop.group()) >= _MIN_INNER_CHARS for loop in loops)


F = TypeVar("F", bound=BaseModel)
_TAG = re.compile(r"<(/?)(think|thinking|reasoning|reflection)>", re.IGNORECASE)
_UNOPENED = re.compile(r"^.*?</(?:think|thinking|reasoning|reflection)>", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(r"^\s*<(?:think|thinking|reasoning|reflection)>.*", re.DOTALL | re.IGNORECASE)
_OPENING = re.compile(r"[{\[]")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MAX_DROPPED = 50
_MAX_VALUES = 60
_MAX_ENTRIES = 500

# Only the beginning of an endless answer is parsed, to bound the time.
_MAX_CHARS = 200_000
_MAX_REPAIRED_CHARS = 60_000


class UnusableAnswer(ValueError):
    """The text holds no such form; the message says what is wrong, for a repair call."""


def parse_answer(text: str, form: type[F]) -> F:
    """Parse the form in the text: bare, fenced, inside prose, truncated, misspelt, or with bad entries."""
    answer = strip_thinking(text)
    fault = ""
    for values in _read_values(answer):
        for candidate in _candidates(values, form):
            try:
                return _validate(candidate, form)
            except ValidationError as error:
                fault = fault or _describe_errors(error)
    raise UnusableAnswer(fault or "there is no JSON object in it")


def strip_thinking(text: str) -> str:
    """Return the text without reasoning; tags inside a JSON answer are kept."""
    text = text[:_MAX_CHARS]
    if text.lstrip().startswith("{"):
        return text.strip()
    return _UNCLOSED.sub("", _UNOPENED.sub("", _drop_tagged(text))).strip()


def replace_lone_surrogates(text: str) -> str:
    """Join surrogate pairs, and replace lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _drop_tagged(text: str) -> str:
    """Drop everything between an opening tag and its next closing tag, in one pass."""
    kept, begun, name = [0], -1, ""
    ends = {tag.group(2).lower(): tag.start() for tag in _TAG.finditer(text) if tag.group(1)}
    for tag in _TAG.finditer(text):
        is_end, kind = bool(tag.group(1)), tag.group(2).lower()
        if begun < 0 and not is_end and tag.start() < ends.get(kind, -1):
            begun, name = tag.start(), kind
        elif begun >= 0 and is_end and kind == name:
            kept += [begun, tag.end()]
            begun = -1
    return "".join(text[start:end] for start, end in zip(kept[::2], [*kept[1::2], len(text)], strict=True))


def _read_values(text: str) -> Iterator[list[Any]]:
    """Yield the JSON values of the text, parsed more and more leniently."""
    has_surrogates = bool(_SURROGATE.search(text))  # json-repair's output is fixed, the decoder's is not
    if not has_surrogates:
        yield list(_sound_values(text, is_strict=True))
    repaired = _repair_text(cut_repetition(text))
    yield [repaired]
    if isinstance(repaired, list):
        yield repaired
    if not has_surrogates:
        yield list(_sound_values(text, is_strict=False))


def _sound_values(text: str, *, is_strict: bool) -> Iterator[Any]:
    """Yield the valid values of the text in order; if strict, only those before the first broken one."""
    decoder, start = json.JSONDecoder(), 0
    for _ in range(_MAX_VALUES):
        opening = _OPENING.search(text, start)
        if opening is None:
            return
        try:
            value, start = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            if is_strict:
                return
            start = opening.end()
        else:
            yield value


def _repair_text(text: str) -> Any:
    try:
        repaired = repair_json(text[:_MAX_REPAIRED_CHARS], ensure_ascii=False)
        return from_json(replace_lone_surrogates(repaired)) if repaired else None
    except (ValueError, RecursionError):  # nested too deeply
        return None


def _candidates(values: list[Any], form: type[BaseModel]) -> list[dict[str, Any]]:
    """Return candidate objects for the form: unwrapped, wrapped, or one-entry objects joined."""
    meant = [value for value in values if isinstance(value, dict | list) and value != []]
    found = [_fit(value, form) for value in meant]
    only = _only_list(form)
    if only and len(found) > 1:
        entries = [v[only] for v in found if isinstance(v, dict) and isinstance(v.get(only), list)]
        if len(entries) == len(found) and all(len(entry) == 1 for entry in entries):
            found.insert(0, {only: [entry[0] for entry in entries]})
    return [value for value in found if isinstance(value, dict)]


def _fit(value: Any, form: type[BaseModel]) -> Any:
    only, known = _only_list(form), set(form.model_fields)
    kind = _entry_kind(form, only)
    if isinstance(value, list):
        if not only:
            return value[0]
        return {only: value} if kind is None or any(isinstance(entry, dict) for entry in value) else None
    fitted = coerce_fields(value, form)
    if known & set(fitted):
        return fitted
    inner = next((v for v in value.values() if isinstance(v, dict)), None)
    if len(value) == 1 and inner is not None:
        return _fit(inner, form)
    is_entry = kind is not None and len(set(coerce_fields(value, kind)) & set(kind.model_fields)) > 1
    return {only: [value]} if is_entry else fitted


@cache
def _only_list(form: type[BaseModel]) -> str:
    """Return the name of the form's only required field if it is a list, else ""."""
    names = [name for name, info in form.model_fields.items() if info.is_required()]
    return names[0] if len(names) == 1 and get_origin(form.model_fields[names[0]].annotation) is list else ""


def _entry_kind(form: type[BaseModel], only: str) -> type[BaseModel] | None:
    kind = get_args(form.model_fields[only].annotation)[0] if only else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _validate(value: dict[str, Any], form: type[F]) -> F:
    """Validate the form, without list entries that do not fit, repeat another or loop."""
    value = {name: _drop_repeated_entries(entry) for name, entry in value.items()}
    try:
        return form.model_validate(value)
    except ValidationError as error:
        bad = {(str(at[0]), int(at[1])) for e in error.errors() if _is_entry(at := e["loc"])}
        if not 0 < len(bad) <= _MAX_DROPPED:
            raise
    for name in {name for name, _ in bad}:
        value[name] = [item for place, item in enumerate(value[name]) if (name, place) not in bad]
    return form.model_validate(value)


def _drop_repeated_entries(entries: Any) -> Any:
    if not isinstance(entries, list):
        return entries
    kept: list[Any] = []
    for entry in entries[:_MAX_ENTRIES]:
        words = [w for w in entry.values() if isinstance(w, str)] if isinstance(entry, dict) else []
        if not (isinstance(entry, dict) and entry in kept) and not any(map(is_repetitive, words)):
            kept.append(entry)
    return kept


def _is_entry(place: tuple[int | str, ...]) -> bool:
    return len(place) >= 2 and isinstance(place[0], str) and isinstance(place[1], int)


def _describe_errors(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[:3]
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in first)

"""Reading a form out of whatever a model wrote.

Does not know models. Thinking is taken out first, never after parsing has failed.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from fathom.llm.coercing import coerced
from fathom.llm.lenient import read
from fathom.llm.looping import is_looping, without_loop

F = TypeVar("F", bound=BaseModel)

_TAG = re.compile(r"<(/?)(think|thinking|reasoning|reflection)>", re.IGNORECASE)
_UNOPENED = re.compile(r"^.*?</(?:think|thinking|reasoning|reflection)>", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(r"^\s*<(?:think|thinking|reasoning|reflection)>.*", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```(?:json|JSON)?\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPENED = re.compile(r"[{\[]")
_MOST_DROPPED = 50
_MOST_OBJECTS = 60
_MOST_ENTRIES = 500
# Models that say the same for ever must not keep everybody waiting. Characters: of an answer, and of what is
# read again because what begins there has no end, in lengths of the answer and beside them.
_MOST_CHARS = 200_000
_MOST_LENGTHS, _MOST_BESIDE = 3, 20_000


class NotAForm(ValueError):
    """The text holds no such form; the message says what is wrong with it, for a repair turn."""


def without_thinking(text: str) -> str:
    """The text without what the model thought aloud; tags inside an answer are words of the answer."""
    text = text[:_MOST_CHARS]
    if text.lstrip().startswith("{"):
        return text.strip()
    return _UNCLOSED.sub("", _UNOPENED.sub("", _closed(text))).strip()


def _closed(text: str) -> str:
    """The text without what stands between two tags of a kind; gone through once, however many there are."""
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


def parsed(text: str, form: type[F]) -> F:
    """The form in the text: bare, fenced, in prose, cut off, badly spelt, or with a bad entry in a list."""
    said = without_thinking(text)
    wrong = ""
    for words in _once(said):
        for candidate in _meant(_candidates(words), form):
            try:
                return _validated(candidate, form)
            except ValidationError as error:
                wrong = wrong or _told(error)
    raise NotAForm(wrong or "there is no JSON object in it")


def _once(said: str) -> Iterator[str]:
    """All of it and, for whoever found nothing there, as far as it does not repeat itself."""
    yield said
    if (cut := without_loop(said)) != said:
        yield cut


def _candidates(text: str) -> list[Any]:
    """Every JSON value that can be read out of the text, whole ones first, then those that were cut off."""
    pieces = [text, *_FENCED.findall(text)]
    whole: list[Any] = []
    cut: list[Any] = []
    left = _MOST_LENGTHS * len(text) + _MOST_BESIDE
    for piece in dict.fromkeys(pieces):
        start = 0
        for _ in range(_MOST_OBJECTS):
            opened = _OPENED.search(piece, start)
            if opened is None or left < 0:
                break
            value, length = _loaded(piece[opened.start() :])
            left -= 0 if length else len(piece) - opened.start()
            if isinstance(value, dict) or (isinstance(value, list) and value):
                (whole if length else cut).append(value)
            start = opened.start() + max(1, length)
    return whole + cut


def _loaded(text: str) -> tuple[Any, int]:
    """The value at the beginning of the text, and how long it is; 0 when it has no end."""
    try:
        return from_json(text), len(text)  # nothing follows it: as most models answer most of the time
    except ValueError:
        pass
    if end := _balanced_end(text):
        try:
            return from_json(text[:end]), end
        except ValueError:
            pass
    return read(text)


def _meant(candidates: list[Any], form: type[BaseModel]) -> list[Any]:
    """The candidates as the form has it: unwrapped, wrapped, or one entry an object put together."""
    found: list[Any] = [_wrapped(candidate, form) for candidate in candidates]
    only = _only_list(form)
    if only and len(found) > 1:
        entries = [v[only] for v in found if isinstance(v, dict) and isinstance(v.get(only), list)]
        if len(entries) == len(found) and all(len(entry) == 1 for entry in entries):
            found.insert(0, {only: [entry[0] for entry in entries]})
    return [value for value in found if isinstance(value, dict)]


def _wrapped(value: Any, form: type[BaseModel]) -> Any:
    only, known = _only_list(form), set(form.model_fields)
    if isinstance(value, list):
        return {only: value} if only else value[0]
    found = coerced(value, form)
    if known & set(found):
        return found
    inner = next((v for v in value.values() if isinstance(v, dict)), None)
    if len(value) == 1 and inner is not None:
        return _wrapped(inner, form)
    kind = _entry_kind(form, only)
    is_entry = kind is not None and len(set(coerced(value, kind)) & set(kind.model_fields)) > 1
    return {only: [value]} if is_entry else found


@cache
def _only_list(form: type[BaseModel]) -> str:
    """The name of the form's one field, when that is a list; empty otherwise."""
    names = list(form.model_fields)
    return names[0] if len(names) == 1 and get_origin(form.model_fields[names[0]].annotation) is list else ""


def _entry_kind(form: type[BaseModel], only: str) -> type[BaseModel] | None:
    kind = get_args(form.model_fields[only].annotation)[0] if only else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _balanced_end(text: str) -> int:
    """Where the first value closes; 0 when it never does."""
    depth, is_string, is_escaped = 0, False, False
    for place, character in enumerate(text):
        if is_string:
            if is_escaped:
                is_escaped = False
            elif character == "\\":
                is_escaped = True
            elif character == '"':
                is_string = False
        elif character == '"':
            is_string = True
        elif character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return place + 1
    return 0


def _validated(value: dict[str, Any], form: type[F]) -> F:
    """The form, without the list entries that do not fit it, say nothing new, or never end."""
    value = {name: _distinct(entry) for name, entry in value.items()}
    try:
        return form.model_validate(value)
    except ValidationError as error:
        bad = {(str(at[0]), int(at[1])) for e in error.errors() if _is_entry(at := e["loc"])}
        if not 0 < len(bad) <= _MOST_DROPPED:
            raise
    for name in {name for name, _ in bad}:
        value[name] = [item for place, item in enumerate(value[name]) if (name, place) not in bad]
    return form.model_validate(value)


def _distinct(entries: Any) -> Any:
    if not isinstance(entries, list):
        return entries
    kept: list[Any] = []
    for entry in entries[:_MOST_ENTRIES]:
        words = [w for w in entry.values() if isinstance(w, str)] if isinstance(entry, dict) else []
        if not (isinstance(entry, dict) and entry in kept) and not any(map(is_looping, words)):
            kept.append(entry)
    return kept


def _is_entry(place: tuple[int | str, ...]) -> bool:
    return len(place) >= 2 and isinstance(place[0], str) and isinstance(place[1], int)


def _told(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[:3]
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in first)

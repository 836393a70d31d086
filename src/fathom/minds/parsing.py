"""Reading a form out of whatever a model wrote.

Does not know models. Thinking is taken out first, never after parsing has failed.
"""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

F = TypeVar("F", bound=BaseModel)

_THINKING = re.compile(r"<(think|thinking|reasoning|reflection)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_UNOPENED = re.compile(r"^.*?</(?:think|thinking|reasoning|reflection)>", re.DOTALL | re.IGNORECASE)
_UNCLOSED = re.compile(r"^\s*<(?:think|thinking|reasoning|reflection)>.*", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```(?:json|JSON)?\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_MOST_DROPPED = 50


class NotAForm(ValueError):
    """The text holds no such form; the message says what is wrong with it, for a repair turn."""


def without_thinking(text: str) -> str:
    """The text without what the model thought aloud; tags inside an answer are words of the answer."""
    if text.lstrip().startswith("{"):
        return text.strip()
    return _UNCLOSED.sub("", _UNOPENED.sub("", _THINKING.sub("", text))).strip()


def parsed(text: str, form: type[F]) -> F:
    """The form in the text: bare, fenced, inside prose, cut off, or with a bad entry in a list."""
    wrong = ""
    for candidate in _candidates(without_thinking(text)):
        try:
            return _validated(candidate, form)
        except ValidationError as error:
            wrong = wrong or _told(error)
    raise NotAForm(wrong or "there is no JSON object in it")


def _candidates(text: str) -> list[Any]:
    """Every JSON object that can be read out of the text, whole ones first, then those that were cut off."""
    pieces = [text, *_FENCED.findall(text)]
    pieces += [text[found.start() :] for found in re.finditer(r"\{", text)][:5]
    whole: list[Any] = []
    cut: list[Any] = []
    for piece in map(str.strip, pieces):
        if not piece.startswith("{"):
            continue
        end = _balanced_end(piece)
        for form_of_it in (piece, _TRAILING_COMMA.sub(r"\1", piece)):
            value = _loaded(form_of_it)
            if isinstance(value, dict):
                (whole if end else cut).append(value)
                break
    return whole + cut


def _loaded(text: str) -> Any:
    end = _balanced_end(text)
    try:
        return from_json(text[:end] if end else text, allow_partial="off" if end else "trailing-strings")
    except ValueError:
        return None


def _balanced_end(text: str) -> int:
    """Where the first object closes; 0 when it never does."""
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
    """The form, without the list entries that do not fit it."""
    for _ in range(_MOST_DROPPED):
        try:
            return form.model_validate(value)
        except ValidationError as error:
            entry = next((e["loc"] for e in error.errors() if _is_entry(e["loc"])), None)
            if entry is None:
                raise
            name, place = str(entry[0]), int(entry[1])
            kept = [item for index, item in enumerate(value[name]) if index != place]
            value = {**value, name: kept}
    return form.model_validate(value)


def _is_entry(place: tuple[int | str, ...]) -> bool:
    return len(place) >= 2 and isinstance(place[0], str) and isinstance(place[1], int)


def _told(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[:3]
    return "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in first)

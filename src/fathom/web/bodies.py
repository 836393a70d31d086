"""What a served graph must not be sent: records made by hand, and settings or answers that are none.

LangGraph passes what it is sent on to the graph, where plain JSON in the place of a record is an error of the
server. Here it is refused before, in one sentence. Does not know who asks.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_type_hints

from pydantic import BaseModel, TypeAdapter, ValidationError

from fathom.request import describe_validation_error
from fathom.state import ResearchState, ReviewAnswer, RunConfig

_STATE = re.compile(r"^(?:/noauth)?/threads/[^/]+/state/?$")
_THREADS = re.compile(r"^(?:/noauth)?/threads/?$")
_RUNS = re.compile(r"^(?:/noauth)?/(?:threads/[^/]+/)?runs(?:/(?:wait|stream|batch|crons))?/?$")
_INTERRUPT = re.compile(r"^[0-9a-f]{32}$")
_CHAT = "chat"  # the graph that is talked to in messages
MAX_BODY_BYTES = 20_000_000


def is_checked(method: str, path: str) -> bool:
    """Tell whether the body of such a request must be looked at."""
    return method in ("POST", "PATCH", "PUT") and any(
        known.match(path) for known in (_STATE, _THREADS, _RUNS)
    )


def fault_of(path: str, body: bytes) -> str:
    """Return what is wrong with a body, in one sentence; "" if nothing is, or if others will say it."""
    try:
        given = json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        return "The body is not JSON."
    requests = given if isinstance(given, list) else [given]
    return next((fault for one in requests if (fault := _fault(path, one))), "")


def _fault(path: str, given: Any) -> str:
    if not isinstance(given, dict):
        return "The body is not an object."
    if _STATE.match(path):
        return _fault_of_values(given.get("values"))
    if _THREADS.match(path):
        return "A thread is begun empty, without supersteps." if given.get("supersteps") else ""
    command = given.get("command")
    if isinstance(command, dict) and (command.get("update") or command.get("goto")):
        return "A run is told only how to go on: a command has nothing but resume."
    answer = command.get("resume") if isinstance(command, dict) else None
    if given.get("assistant_id") != _CHAT and (fault := _fault_of_answer(answer)):
        return fault
    for settings in _settings(given):
        try:
            RunConfig.model_validate(settings)
        except ValidationError as error:
            return describe_validation_error(error)
    return ""


def _fault_of_answer(answer: Any) -> str:
    """An answer to a plan, or one for each of several that wait, by their ids."""
    is_by_id = isinstance(answer, dict) and answer and all(_INTERRUPT.match(name) for name in answer)
    for one in answer.values() if is_by_id else [answer]:
        try:
            if one is not None:
                ReviewAnswer.model_validate(one)
        except ValidationError as error:
            return f"That is no answer to a plan: {describe_validation_error(error)}"
    return ""


def _settings(given: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings of a run, in both places where they may stand; names of others' settings are left out."""
    config = given.get("config")
    places = (given.get("context"), config.get("configurable") if isinstance(config, dict) else None)
    for place in places:
        if isinstance(place, dict):
            yield {name: value for name, value in place.items() if name in RunConfig.model_fields}


def _fault_of_values(values: Any) -> str:
    """Plain words may be set from outside; records are made by the steps of a run alone."""
    if values is None:
        return ""
    for part in values if isinstance(values, list) else [values]:
        if not isinstance(part, dict):
            return "The values of a state are an object."
        for name, value in part.items():
            if name in RunConfig.model_fields or name == "run_config":
                return f"{name!r} is a setting; a run's settings cannot be changed."
            if fault := _fault_of_value(name, value):
                return fault
    return ""


def _fault_of_value(name: str, value: Any) -> str:
    kind = _adapters().get(name)
    if kind is None:
        return ""
    try:
        found = kind.validate_python(value)
    except ValidationError:
        return f"That is no {name!r} of a run."
    if any(isinstance(one, BaseModel) for one in (found if isinstance(found, list) else [found])):
        return f"{name!r} is made by the steps of a run and cannot be set from outside."
    return ""


@cache
def _adapters() -> dict[str, TypeAdapter[Any]]:
    return {name: TypeAdapter(kind) for name, kind in get_type_hints(ResearchState).items()}

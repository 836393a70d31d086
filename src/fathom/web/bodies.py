"""What bodies of requests tell: what a served graph must not be sent, and how many runs a request starts.

LangGraph passes what it is sent on to the graph, where plain JSON in the place of a record is an error of the
server. Here it is refused before, in one sentence. Does not know who asks, nor how many runs may be started.
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
_STARTS = re.compile(
    r"^(?:/noauth)?/(?:threads/[^/]+/)?runs(?:/(?:wait|stream|batch))?/?$"
    r"|^/a2a/[^/]+/?$"
    r"|^(?:/app)?/api/runs(?:/[^/]+/(?:follow-up|update|fork))?/?$"  # the page's own
    r"|^(?:/app)?/api/(?:audits|batches(?:/[^/]+/go-on)?)/?$"
)
_MANY = re.compile(r"^(?:/noauth)?/(?:threads/[^/]+/)?runs/batch/?$")
_AGENTS = re.compile(r"^/a2a/")
_QUESTIONS = re.compile(r"^(?:/app)?/api/batches/?$")
# What agents call that starts nothing, by the names of both versions of A2A; anything else may start a run.
_STARTS_NOTHING = frozenset(
    {"tasks/get", "tasks/cancel", "GetTask", "CancelTask", "ListTasks", "GetExtendedAgentCard"}
)


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


def may_start_runs(method: str, path: str) -> bool:
    """Tell whether such a request may start runs."""
    return method == "POST" and bool(_STARTS.match(path))


def is_counted_by_body(path: str) -> bool:
    """Tell whether only the body says how many runs a request starts."""
    return any(known.match(path) for known in (_MANY, _AGENTS, _QUESTIONS))


def starts_in_turn(path: str) -> bool:
    """Tell whether the runs of a request are started a few at a time, as those of a batch of questions."""
    return bool(_QUESTIONS.match(path))


def count_runs(path: str, body: bytes) -> int:
    """Return how many runs a request starts; one if that cannot be told."""
    if not is_counted_by_body(path):
        return 1
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        return 1
    if _MANY.match(path):
        return len(given) if isinstance(given, list) else 1
    if _AGENTS.match(path):
        return 0 if isinstance(given, dict) and _names_no_start(given.get("method")) else 1
    questions = given.get("questions") if isinstance(given, dict) else None
    lines = questions.splitlines() if isinstance(questions, str) else []
    asked = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return max(1, len(asked))


def _names_no_start(method: Any) -> bool:
    return isinstance(method, str) and method in _STARTS_NOTHING

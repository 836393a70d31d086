"""Which requests start runs, and how many: some start none or many, and only their body tells.

Does not know how many may be started.
"""

import json
import re
from typing import Any

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

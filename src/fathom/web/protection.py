"""Refuse requests that a local server must not obey: from foreign pages, for other names, too many, or wrong.

A page in somebody's browser can send requests to a server on this machine. Three checks stop it. The `Host`
header must be a name the operator allows, or a rebinding name could read answers. A request that comes from
a page must come from an allowed origin. A body must be JSON, because a browser sends other kinds across
origins without asking first; only the page's own uploads are plain bytes.

LangGraph passes what it is sent on to the graph, where plain JSON in the place of a record is an error of the
server. Here it is refused before, in one sentence. Every refusal is `{"detail": "…", "code": "…"}`.
"""

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, get_type_hints
from urllib.parse import urlsplit

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python
from starlette.requests import Request
from starlette.responses import JSONResponse

from fathom.errors import BadInput, FathomError, RunStopped
from fathom.request import describe_validation_error
from fathom.state import ResearchState, ReviewAnswer, RunConfig

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
}
_STATE = re.compile(r"^(?:/noauth)?/threads/[^/]+/state/?$")
_THREADS = re.compile(r"^(?:/noauth)?/threads/?$")
_RUNS = re.compile(r"^(?:/noauth)?/(?:threads/[^/]+/)?runs(?:/(?:wait|stream|batch|crons))?/?$")
_INTERRUPT = re.compile(r"^[0-9a-f]{32}$")
_CHAT = "chat"  # the graph that is talked to in messages
MAX_BODY_BYTES = 20_000_000  # of requests to the graph
_MAX_FORM_BYTES = 1_000_000  # of requests of the page
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


Scope = dict[str, Any]
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TAKES_A_FILE = re.compile(r"^(?:/app)?/api/uploads$")
_PRIVATE_NETWORK = b"access-control-request-private-network"
_MINUTE_S = 60.0


def refuse(why: str, status: int = 400, code: str = "") -> JSONResponse:
    """Say no in one sentence; without a code of an error, the status tells it (docs/errors.md)."""
    usual = "not_allowed" if status in (401, 403) else "bad_input"
    return JSONResponse({"detail": why, "code": code or usual}, status, SAFE)


@dataclass(frozen=True)
class RefusedRequest:
    """Why a request is not served."""

    status: int
    why: str


class RateLimit:
    """At most so many events in any minute."""

    def __init__(self, limit: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._clock = clock
        self._times: deque[float] = deque()

    def is_exceeded(self, count: int = 1, *, may_fill: bool = False) -> bool:
        """Count so many events; tell whether they are too many, and then count none of them.

        Those that may fill the minute need one place, and take as many more as there are.
        """
        now = self._clock()
        while self._times and self._times[0] <= now - _MINUTE_S:
            self._times.popleft()
        room = self._limit - len(self._times)
        count = min(count, max(1, room)) if may_fill else count
        if count > max(0, room):
            return True
        self._times.extend([now] * count)
        return False


class Protection:
    """ASGI middleware that answers forbidden requests itself and passes the others on."""

    def __init__(
        self, app: Any, *, hosts: Sequence[str], origins: Sequence[str], runs_per_minute: int
    ) -> None:
        self._app = app
        self._hosts = frozenset(host.lower().strip("[]") for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._rate = RateLimit(runs_per_minute)
        self._runs_per_minute = runs_per_minute

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Serve or refuse one request."""
        refusal = self._refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None and scope["type"] == "http":
            refusal, receive = await self._check_body(scope["method"], scope["path"], receive)
        if refusal is None:
            await self._app(_without_private_network(scope), receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": refusal.why[:100]})
        else:
            await refuse(refusal.why, refusal.status)(scope, receive, send)

    def _refusal(self, scope: Scope) -> RefusedRequest | None:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        method = scope.get("method", "GET")
        if not self._is_own_host(headers.get("host", "")):
            return RefusedRequest(421, "This server does not answer to that name; see FATHOM_ALLOWED_HOSTS.")
        if not self._is_allowed_page(headers, method):
            return RefusedRequest(
                403, "Pages of that origin may not use this server; see FATHOM_ALLOWED_ORIGINS."
            )
        is_file = method == "PUT" and _TAKES_A_FILE.match(scope["path"])
        if method in _WITH_BODY and not (is_file and _is_file(headers)) and not _is_json_or_empty(headers):
            return RefusedRequest(415, "Send the body as application/json.")
        return None

    async def _check_body(self, method: str, path: str, receive: Any) -> tuple[RefusedRequest | None, Any]:
        """Refuse a body that is wrong or starts too many runs; whoever reads next gets it again."""
        body, is_start, is_graphs = b"", method == "POST" and _STARTS.match(path), is_checked(method, path)
        if is_graphs or (is_start and is_counted_by_body(path)):
            found, receive = await _read_body(receive)
            if isinstance(found, RefusedRequest):
                return found, receive
            body = found
        fault = await asyncio.to_thread(fault_of, path, body) if is_graphs else ""
        if fault:
            return RefusedRequest(422, fault), receive
        most = self._runs_per_minute
        runs = await asyncio.to_thread(count_runs, path, body) if is_start else 0
        if self._rate.is_exceeded(runs, may_fill=bool(_QUESTIONS.match(path))):
            return RefusedRequest(429, f"More than {most} runs were started within a minute."), receive
        return None, receive

    def _is_own_host(self, host: str) -> bool:
        return _host_name(f"//{host}") in self._hosts

    def _is_allowed_page(self, headers: dict[str, str], method: str) -> bool:
        """Tell whether no page asks, or one that may; following a link is no request of a page."""
        origin = headers.get("origin", "").lower().rstrip("/")
        if origin:
            is_same = urlsplit(origin).netloc == headers.get("host", "").lower()
            return origin in self._origins or is_same
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            return True
        is_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        return method == "GET" and is_link


async def _read_body(receive: Any) -> tuple[bytes | RefusedRequest, Any]:
    """Read a body, and return it with what lets others read it again."""
    body, is_more = bytearray(), True
    while is_more:
        message = await receive()
        if message["type"] != "http.request":
            return RefusedRequest(400, "The request broke off."), receive
        body += message.get("body", b"")
        is_more = message.get("more_body", False)
        if len(body) > MAX_BODY_BYTES:
            return RefusedRequest(413, f"The body is larger than {MAX_BODY_BYTES:,} bytes."), receive
    waiting = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return bytes(body), receive_again


def _without_private_network(scope: Scope) -> Scope:
    """Take a browser's question about private networks out of a preflight of an origin that is allowed.

    LangGraph's own middleware answers it, but Starlette's for CORS, which runs before, refuses the preflight.
    """
    if scope.get("method") != "OPTIONS":
        return scope
    kept = [pair for pair in scope["headers"] if pair[0].lower() != _PRIVATE_NETWORK]
    return {**scope, "headers": kept}


def _host_name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _is_file(headers: dict[str, str]) -> bool:
    """Whether the body is bytes of no kind, which no page of another origin sends without asking first."""
    return headers.get("content-type", "").strip().lower() == "application/octet-stream"


def _is_json_or_empty(headers: dict[str, str]) -> bool:
    kind = headers.get("content-type", "").split(";")[0].strip().lower()
    if kind:
        return kind == "application/json"
    return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers


def is_checked(method: str, path: str) -> bool:
    """Tell whether the body of such a request must be looked at."""
    return method in ("POST", "PATCH", "PUT") and any(
        known.match(path) for known in (_STATE, _THREADS, _RUNS)
    )


def fault_of(path: str, body: bytes) -> str:
    """Return what is wrong with a body, in one sentence; "" if nothing is, or if others will say it."""
    try:
        given = _parse_json(body)
    except BadInput as error:
        return str(error)
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
            return describe_validation_error(error, name_of=str)
    return ""


def _fault_of_answer(answer: Any) -> str:
    """An answer to a plan, or one for each of several that wait, by their ids."""
    is_by_id = isinstance(answer, dict) and answer and all(_INTERRUPT.match(name) for name in answer)
    for one in answer.values() if is_by_id else [answer]:
        try:
            if one is not None:
                ReviewAnswer.model_validate(one)
        except ValidationError as error:
            return f"That is no answer to a plan: {describe_validation_error(error, name_of=str)}"
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


def is_counted_by_body(path: str) -> bool:
    """Tell whether only the body says how many runs a request starts."""
    return any(known.match(path) for known in (_MANY, _AGENTS, _QUESTIONS))


def count_runs(path: str, body: bytes) -> int:
    """Return how many runs a request starts; one if that cannot be told."""
    if not is_counted_by_body(path):
        return 1
    try:
        given = _parse_json(body)
    except BadInput:
        return 1
    if _MANY.match(path):
        return len(given) if isinstance(given, list) else 1
    if _AGENTS.match(path):
        method = given.get("method") if isinstance(given, dict) else None
        return 0 if isinstance(method, str) and method in _STARTS_NOTHING else 1
    questions = given.get("questions") if isinstance(given, dict) else None
    lines = questions.splitlines() if isinstance(questions, str) else []
    asked = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return max(1, len(asked))


def refuse_error(error: FathomError | ValidationError) -> JSONResponse:
    """Say what went wrong in one sentence."""
    if isinstance(error, ValidationError):
        return refuse(describe_validation_error(error))
    if isinstance(error, BadInput):
        is_missing = str(error).startswith(("There is no run", "There is no batch", "There is no audit"))
        return refuse(str(error), 404 if is_missing else 400, error.code)
    return refuse(str(error), 409 if isinstance(error, RunStopped) else 502, error.code)


def json_reply(content: object) -> JSONResponse:
    """Answer with records, dataclasses and plain values."""
    return JSONResponse(to_jsonable_python(content), headers={**SAFE, "cache-control": "no-store"})


async def read_bytes(request: Request, most: int) -> bytes:
    """Return the body; BadInput if it is longer."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise BadInput(f"That is larger than {most:,} bytes.")
    return bytes(body)


def _parse_json(body: bytes) -> Any:
    try:
        return json.loads(body) if body.strip() else {}
    except (ValueError, RecursionError):
        raise BadInput("The body is not JSON.") from None


async def read_body(request: Request) -> dict[str, Any]:
    """Return the body, which is an object or nothing."""
    given = _parse_json(await read_bytes(request, _MAX_FORM_BYTES))
    if not isinstance(given, dict):
        raise BadInput("The body is not an object.")
    return given

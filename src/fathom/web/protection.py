"""Refuse requests that a local server must not obey: from foreign pages, for other names, or too many.

A page in somebody's browser can send requests to a server on this machine. Three checks stop it. The `Host`
header must be a name the operator allows, or a rebinding name could read answers. A request that comes from
a page must come from an allowed origin. A body must be JSON, because a browser sends other kinds across
origins without asking first; only the page's own uploads are plain bytes. Does not know routes beyond which
of them take a file.
"""

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fathom.web.bodies import (
    MAX_BODY_BYTES,
    count_runs,
    fault_of,
    is_checked,
    is_counted_by_body,
    may_start_runs,
    starts_in_turn,
)

Scope = dict[str, Any]
_WITH_BODY = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_TAKES_A_FILE = re.compile(r"^(?:/app)?/api/uploads$")
_PRIVATE_NETWORK = b"access-control-request-private-network"
_MINUTE_S = 60.0


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
            await _send_refusal(send, refusal)

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
        body, is_start, is_graphs = b"", may_start_runs(method, path), is_checked(method, path)
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
        if self._rate.is_exceeded(runs, may_fill=starts_in_turn(path)):
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


def refusal_code(status: int) -> str:
    """Return the code of a refusal that no error stands behind (docs/errors.md)."""
    return "not_allowed" if status in (401, 403) else "bad_input"


async def _send_refusal(send: Any, refusal: RefusedRequest) -> None:
    body = json.dumps({"detail": refusal.why, "code": refusal_code(refusal.status)}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

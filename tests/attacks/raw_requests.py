"""Raw requests to a real `langgraph dev` and a real `fathom serve`.

Foreign origins and names, odd bodies, states made by hand, no key, and the key of somebody else.
"""

import http.client
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from standins.browser import PageServer
from standins.devserver import DevServer
from standins.documents import stocked

from attacks.attempt import Attempt

_EVIL = "https://foreign.example"
_JSON = {"content-type": "application/json"}
_RPC = {**_JSON, "accept": "application/json, text/event-stream"}
_DEV_PATHS = (
    "/threads", "/runs", "/runs/stream", "/runs/wait", "/assistants/search", "/app/api/runs", "/a2a/chat",
)  # fmt: skip
_SERVE_PATHS = ("/api/runs", "/api/forecast", "/mcp")
_KINDS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", "")
_NONSENSE = ("{", "[" * 5_000, '"x"', "null", "\x00", "[]", '{"jsonrpc": "2.0"}')
_STATES: tuple[Any, ...] = (
    {"claims": [{"id": "x"}]}, {"claims": "x"}, {"pages": [{}]}, {"report": {}}, {"question": 5},
    {"run_config": {"budget_usd": 1e9}}, {"budget_usd": 1e9}, {"costs": [{"usd": -1}]},
    {"judgements": [None]}, "x", 5, [1], [{"claims": [1]}],
)  # fmt: skip
_RUNS: tuple[Any, ...] = (
    {"context": {"budget_usd": "much"}}, {"context": {"budget_usd": -1}}, {"context": {"depth": "x"}},
    {"config": {"configurable": {"budget_usd": "much"}}}, {"command": {"resume": "x"}},
    {"command": {"resume": {"action": "x"}}}, {"command": {"update": {"claims": [1]}}},
    {"command": {"goto": "publish"}}, {"webhook": "https://foreign.example/hook"},
)  # fmt: skip
Server = DevServer | PageServer


def attack_with_requests(folder: Path) -> Iterator[Attempt]:
    """Every request to `langgraph dev`: none starts a run, fails in the server, or is told at length."""
    server = DevServer(folder, _settings(folder)).start()
    try:
        yield from _from_outside(server, _DEV_PATHS)
        for path in ("/mcp", "/mcp/"):
            status, body = _ask(server, "POST", path, "{}", _JSON)
            yield Attempt(f"closed: POST {path}", status in (403, 404, 405), f"{status} {body[:60]}")
        yield from _made_by_hand(server)
    finally:
        server.stop()


def attack_the_page_server(folder: Path, more: Mapping[str, str] | None = None) -> Iterator[Attempt]:
    """The same to `fathom serve`, with its page and `/mcp`."""
    settings = {**_settings(folder), "FATHOM_LOCAL_SERVERS": "{}", "FATHOM_MODEL": "none", **(more or {})}
    server = PageServer(folder / "shelf", settings).start()
    try:
        yield from _from_outside(server, _SERVE_PATHS)
        for path in ("/mcp", "/api/runs"):
            for body in _NONSENSE:
                yield _refused(f"body {body[:6]!r} to {path}", *_ask(server, "POST", path, body, _RPC))
        for given in ({"budget_usd": 1e6}, {"docs": ["/etc"]}, {"question": 5}, {"depth": "x"}):
            yield _refused_call(server, {"question": "Why?", **given})
    finally:
        server.stop()


def attack_with_keys(folder: Path) -> Iterator[Attempt]:
    """Two keys: without one nothing is served, and one reads nothing of the other's, over `/a2a` neither."""
    settings = {**_settings(folder), "FATHOM_API_KEYS": '["first-key", "second-key"]'}
    server = DevServer(folder, settings).start()
    mine, theirs = {**_RPC, "x-api-key": "first-key"}, {**_RPC, "x-api-key": "second-key"}
    try:
        for path in _DEV_PATHS:
            for name, headers in (("no key", _RPC), ("a wrong key", {**_RPC, "x-api-key": "first-kez"})):
                status, body = _ask(server, "POST", path, "{}", headers)
                yield Attempt(f"{name}: POST {path}", status in (401, 403), f"{status} {body[:80]}")
        _, found = _ask(server, "POST", "/assistants/search", '{"graph_id": "chat"}', mine)
        agent = f"/a2a/{json.loads(found)[0]['assistant_id']}"
        status, told = _ask(server, "POST", agent, _message("A secret of tides?"), mine)
        assert status == 200, told
        task = json.loads(told)["result"]
        yield from _of_another_key(server, agent, task, theirs)
    finally:
        server.stop()


def _of_another_key(
    server: Server, agent: str, task: dict[str, Any], theirs: dict[str, str]
) -> Iterator[Attempt]:
    thread = task["contextId"]
    run = json.dumps({"assistant_id": "chat", "input": {"messages": []}, "values": {}})
    calls: list[tuple[str, str, str]] = [
        ("POST", agent, _message("And?", contextId=thread)),
        ("POST", agent, _message("And?", contextId=thread, taskId=task["id"])),
        ("POST", agent, _message("And?", "message/stream", contextId=thread)),
        ("POST", agent, _call("tasks/get", {"id": task["id"], "contextId": thread})),
        ("POST", agent, _call("tasks/get", {"id": task["id"]})),
        ("POST", agent, _call("tasks/cancel", {"id": task["id"], "contextId": thread})),
        ("POST", agent, _call("tasks/resubscribe", {"id": task["id"]})),
        *(("GET", f"/threads/{thread}{part}", "") for part in ("", "/state", "/runs", "/history")),
        *(("POST", f"/threads/{thread}{part}", run) for part in ("/state", "/runs", "/runs/wait", "/copy")),
        ("DELETE", f"/threads/{thread}", ""),
    ]
    for method, path, body in calls:
        status, told = _ask(server, method, path, body, theirs)
        is_refused = status in (403, 404, 409) or (status == 200 and '"error"' in told)
        name = json.loads(body).get("method", "") if body else ""
        is_kept = "secret" not in told.replace(body, "")
        yield Attempt(
            f"another key: {method} {path} {name}", is_refused and is_kept, f"{status} {told[:120]}"
        )
    status, told = _ask(server, "POST", "/threads/search", "{}", theirs)
    yield Attempt("another key: threads that are listed", json.loads(told) == [], told[:120])


def _settings(folder: Path) -> dict[str, str]:
    shelf = stocked(folder / "shelf")
    (folder / "fathom.toml").write_text(f'[run]\ndocs = ["{shelf}"]\nrounds = 1\n', "utf-8")
    return {"FATHOM_HOME": str(folder / "home"), "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)])}


def _from_outside(server: Server, paths: tuple[str, ...]) -> Iterator[Attempt]:
    """What a page, a rebound name or a form would send."""
    for path in paths:
        for name, headers in (
            ("foreign origin", {**_RPC, "origin": _EVIL}),
            ("foreign name", {**_RPC, "host": f"foreign.example:{server.port}"}),
            ("cross-site", {**_RPC, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}),
            *((f"body of kind {kind or 'none'}", {"content-type": kind} if kind else {}) for kind in _KINDS),
        ):
            status, body = _ask(server, "POST", path, "{}", headers)
            is_stopped = status in (403, 415, 421)
            yield Attempt(f"{name}: POST {path}", is_stopped, f"{status} {body[:120]}")


def _made_by_hand(server: Server) -> Iterator[Attempt]:
    _, body = _ask(server, "POST", "/threads", '{"graph_id": "research"}', _JSON)
    thread = json.loads(body)["thread_id"]
    for values in _STATES:
        status, told = _ask(server, "POST", f"/threads/{thread}/state", json.dumps({"values": values}), _JSON)
        yield _refused(f"state made by hand: {json.dumps(values)[:40]}", status, told)
    for given in _RUNS:
        words = json.dumps({"assistant_id": "research", "input": {"question": "Why?"}, **given})
        status, told = _ask(server, "POST", f"/threads/{thread}/runs/wait", words, _JSON)
        yield _refused(f"run with {json.dumps(given)[:40]}", status, told)
    for nonsense in _NONSENSE[:5]:
        status, told = _ask(server, "POST", f"/threads/{thread}/state", nonsense, _JSON)
        yield _refused(f"body {nonsense[:6]!r}", status, told)


def _refused(name: str, status: int, body: str) -> Attempt:
    """A refusal by the caller's fault, in few words; the MCP package has words of its own."""
    is_told_shortly = "Traceback" not in body and ("pydantic.dev" not in body or '"jsonrpc"' in body)
    return Attempt(name, 400 <= status < 500 and is_told_shortly, f"{status} {body[:120]}")


def _refused_call(server: Server, arguments: dict[str, Any]) -> Attempt:
    """A call of the tool `research`, whose refusal is an answer of the protocol."""
    begun = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    _, _, session = _exchange(server, "POST", "/mcp", _call("initialize", begun), _RPC)
    headers = {**_RPC, "mcp-session-id": session, "mcp-protocol-version": "2025-06-18"}
    _ask(server, "POST", "/mcp", '{"jsonrpc": "2.0", "method": "notifications/initialized"}', headers)
    call = _call("tools/call", {"name": "research", "arguments": arguments})
    status, told = _ask(server, "POST", "/mcp", call, headers)
    is_refused = status >= 400 or '"isError":true' in told.replace(" ", "") or '"error"' in told
    name = f"/mcp research with {json.dumps(arguments)}"
    return Attempt(name, status < 500 and is_refused and "Traceback" not in told, f"{status} {told[-160:]}")


def _message(text: str, method: str = "message/send", **more: str) -> str:
    message = {"role": "user", "messageId": "m", "parts": [{"kind": "text", "text": text}], **more}
    return _call(method, {"message": message})


def _call(method: str, params: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": "1", "method": method, "params": params})


def _ask(server: Server, method: str, path: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
    return _exchange(server, method, path, body, headers)[:2]


def _exchange(
    server: Server, method: str, path: str, body: str, headers: dict[str, str]
) -> tuple[int, str, str]:
    """Status, body, and the session that was opened."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        told = answer.read().decode("utf-8", "replace")
        return answer.status, told, answer.getheader("mcp-session-id") or ""
    finally:
        connection.close()

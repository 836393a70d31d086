"""Raw requests to a real `langgraph dev`: foreign origins and names, odd bodies, states made by hand."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from standins.devserver import DevServer
from standins.documents import stocked

from attacks.attempt import Attempt

_EVIL = "https://foreign.example"
_JSON = {"content-type": "application/json"}
_PATHS = ("/threads", "/runs", "/runs/stream", "/runs/wait", "/assistants/search", "/app/api/runs")
_KINDS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonx", "")
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


def attack_with_requests(folder: Path) -> Iterator[Attempt]:
    """Every request; none may start a run, be answered with an error of the server, or be told at length."""
    shelf = stocked(folder / "shelf")
    settings = {"FATHOM_HOME": str(folder / "home"), "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)])}
    server = DevServer(folder, settings).start()
    try:
        for path in _PATHS:
            for name, headers in (
                ("foreign origin", {**_JSON, "origin": _EVIL}),
                ("foreign name", {**_JSON, "host": f"foreign.example:{server.port}"}),
                ("cross-site", {**_JSON, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}),
                *(
                    (f"body of kind {kind or 'none'}", {"content-type": kind} if kind else {})
                    for kind in _KINDS
                ),
            ):
                yield _refused(f"{name}: POST {path}", *_ask(server, "POST", path, "{}", headers))
        yield from _closed(server)
        yield from _made_by_hand(server)
    finally:
        server.stop()


def _closed(server: DevServer) -> Iterator[Attempt]:
    for path in ("/mcp", "/mcp/"):
        status, body = _ask(server, "POST", path, "{}", _JSON)
        yield Attempt(f"closed: POST {path}", status in (403, 404, 405), f"{status} {body[:60]}")


def _made_by_hand(server: DevServer) -> Iterator[Attempt]:
    _, body = _ask(server, "POST", "/threads", '{"graph_id": "research"}', _JSON)
    thread = json.loads(body)["thread_id"]
    for values in _STATES:
        status, told = _ask(server, "POST", f"/threads/{thread}/state", json.dumps({"values": values}), _JSON)
        yield _refused(f"state made by hand: {json.dumps(values)[:40]}", status, told)
    for given in _RUNS:
        words = json.dumps({"assistant_id": "research", "input": {"question": "Why?"}, **given})
        status, told = _ask(server, "POST", f"/threads/{thread}/runs/wait", words, _JSON)
        yield _refused(f"run with {json.dumps(given)[:40]}", status, told)
    for nonsense in ("{", "[" * 5_000, '"x"', "null", "\x00"):
        status, told = _ask(server, "POST", f"/threads/{thread}/state", nonsense, _JSON)
        yield _refused(f"body {nonsense[:6]!r}", status, told)


def _refused(name: str, status: int, body: str) -> Attempt:
    is_short = "Traceback" not in body and "errors.pydantic.dev" not in body
    return Attempt(name, 400 <= status < 500 and is_short, f"{status} {body[:120]}")


def _ask(server: DevServer, method: str, path: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()

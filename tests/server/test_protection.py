"""A real `langgraph dev` obeys nobody but its operator: requests of a page, a false name, a stranger."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from standins.devserver import DevServer

pytestmark = pytest.mark.server
STUDIO = "https://smith.langchain.com"


def ask(
    server: DevServer, method: str, path: str, body: str | None = None, **headers: str
) -> tuple[int, dict[str, str], Any]:
    """One raw request; the status, the headers and the body as JSON where it is JSON."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    try:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, names)
        answer = connection.getresponse()
        told, text = {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        return answer.status, told, json.loads(text) if "json" in told.get("content-type", "") else text
    finally:
        connection.close()


def post(server: DevServer, path: str, given: object, **headers: str) -> tuple[int, Any]:
    status, _, body = ask(server, "POST", path, json.dumps(given), Content_Type="application/json", **headers)
    return status, body


def test_a_page_of_another_origin_starts_nothing(server: DevServer) -> None:
    for path in ("/threads", "/runs", "/runs/stream", "/assistants/search"):
        status, _, _ = ask(
            server, "POST", path, "{}", Content_Type="text/plain", Origin="https://evil.example"
        )
        assert status == 403
        assert ask(server, "POST", path, "{}", Content_Type="text/plain")[0] == 415
        assert post(server, path, {}, Origin="https://evil.example")[0] == 403


def test_a_rebinding_name_reads_nothing(server: DevServer) -> None:
    status, _, body = ask(server, "GET", "/info", Host=f"evil.example:{server.port}")
    assert status == 421
    assert "FATHOM_ALLOWED_HOSTS" in body["detail"]


def test_studio_keeps_working(server: DevServer) -> None:
    wanted = {
        "Access_Control_Request_Method": "POST",
        "Access_Control_Request_Headers": "content-type,x-auth-scheme",
    }
    private = {"Access_Control_Request_Private_Network": "true"}
    status, told, said = ask(server, "OPTIONS", "/threads", Origin=STUDIO, **wanted, **private)
    assert status == 200, said
    assert told["access-control-allow-origin"] == STUDIO
    headers = {
        "Origin": STUDIO,
        "Sec_Fetch_Site": "cross-site",
        "Sec_Fetch_Mode": "cors",
        "X_Auth_Scheme": "langsmith",
    }
    status, told, thread = ask(server, "POST", "/threads", "{}", Content_Type="application/json", **headers)
    assert status == 200
    assert told["access-control-allow-origin"] == STUDIO
    assert ask(server, "GET", f"/threads/{thread['thread_id']}", **headers)[0] == 200


def test_unused_doors_are_closed(server: DevServer) -> None:
    assert post(server, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})[0] == 404


def test_agents_are_guarded_as_pages_are(server: DevServer) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "message/send"}
    assert post(server, "/a2a/chat", call, Origin="https://evil.example")[0] == 403
    assert ask(server, "POST", "/a2a/chat", json.dumps(call), Content_Type="text/plain")[0] == 415


def test_a_budget_above_the_operators_is_refused(server: DevServer, shelf: Path) -> None:
    for context in ({"budget_usd": 1_000_000}, {"budget_usd": 10.5}):
        given = {
            "assistant_id": "research",
            "input": {"question": "Why?"},
            "context": {**context, "docs": [str(shelf)]},
        }
        thread = post(server, "/threads", {})[1]["thread_id"]
        status, body = post(server, f"/threads/{thread}/runs/wait", given)
        assert status == 200
        assert "FATHOM_CEILINGS" in body["__error__"]["message"]


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory, shelf: Path) -> Iterator[DevServer]:
    """A server that asks for keys."""
    settings = {
        "FATHOM_HOME": str(tmp_path_factory.mktemp("keyed-home")),
        "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)]),
        "FATHOM_API_KEYS": json.dumps(["first-key", "second-key"]),
    }
    started = DevServer(tmp_path_factory.mktemp("keyed"), settings).start()
    yield started
    started.stop()


def test_without_a_key_nothing_is_served(keyed: DevServer) -> None:
    assert post(keyed, "/threads", {})[0] == 401
    assert post(keyed, "/threads", {}, X_Auth_Scheme="langsmith")[0] == 401
    assert post(keyed, "/threads/search", {}, X_Api_Key="wrong")[0] == 401
    assert post(keyed, "/a2a/chat", {"jsonrpc": "2.0", "id": 1, "method": "message/send"})[0] == 401


def test_one_key_never_sees_the_threads_of_another(keyed: DevServer, shelf: Path) -> None:
    mine, theirs = {"X_Api_Key": "first-key"}, {"Authorization": "Bearer second-key"}
    status, thread = post(keyed, "/threads", {}, **mine)
    assert status == 200
    name = thread["thread_id"]
    run = {
        "assistant_id": "research",
        "input": {"question": "What is it?"},
        "context": {"docs": [str(shelf)]},
    }
    assert post(keyed, f"/threads/{name}/runs/wait", run, **mine)[0] == 200
    assert ask(keyed, "GET", f"/threads/{name}/state", **mine)[0] == 200
    for path in (
        f"/threads/{name}",
        f"/threads/{name}/state",
        f"/threads/{name}/runs",
        f"/threads/{name}/history",
    ):
        assert ask(keyed, "GET", path, **theirs)[0] in (403, 404)
    for path in (
        f"/threads/{name}/runs",
        f"/threads/{name}/copy",
        f"/threads/{name}/state",
        f"/threads/{name}/runs/wait",
    ):
        assert post(keyed, path, {**run, "values": {}}, **theirs)[0] in (403, 404, 409), (
            path
        )  # 409: nothing to copy
    assert post(keyed, "/threads/search", {}, **theirs) == (200, [])
    assert len(post(keyed, "/threads/search", {}, **mine)[1]) == 1
    assert "first-key" not in keyed.log

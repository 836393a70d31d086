"""The MCP server with the package's own client: over standard input and output, and over HTTP."""

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, TextContent, TextResourceContents
from standins.documents import stocked

from fathom.settings import Settings
from fathom.web.app import make_page_app

pytestmark = [pytest.mark.whole]
QUESTION = "How much power does the Rance tidal plant have?"


def _environment(home: Path) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")},
        "FATHOM_HOME": str(home),
        "FATHOM_LOCAL_SERVERS": "{}",
        "FATHOM_MODEL": "none",
    }


def _stdio(tmp_path: Path, shelf: Path) -> Client:
    arguments = ["-m", "fathom", "mcp", "--docs", str(shelf)]
    environment = _environment(tmp_path / "home")
    return Client(
        StdioServerParameters(command=sys.executable, args=arguments, env=environment, cwd=str(tmp_path))
    )


@contextmanager
def _port() -> Iterator[socket.socket]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        yield listening


@asynccontextmanager
async def _http(settings: Settings) -> AsyncIterator[str]:
    with _port() as listening:
        config = uvicorn.Config(make_page_app(settings), log_level="warning", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        work = asyncio.create_task(server.serve(sockets=[listening]))
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        finally:
            server.should_exit = True
            await work


def _settings(tmp_path: Path, shelf: Path, **more: Any) -> Settings:
    run = {"docs": [str(shelf)]}
    words = {"home": tmp_path / "home", "docs_roots": [shelf], "run": run, "model": "none", **more}
    return Settings.model_validate(words)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    return stocked(tmp_path / "shelf")


def _structured(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    first = result.content[0]
    assert isinstance(first, TextContent)
    assert json.loads(first.text) == result.structured_content  # clients that know no structure read the text
    return dict(result.structured_content)


def _refusal(result: CallToolResult) -> str:
    assert result.is_error
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


async def test_a_question_becomes_a_report_with_quotations_and_progress(tmp_path: Path, shelf: Path) -> None:
    told: list[str] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async with _stdio(tmp_path, shelf) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {
            "research",
            "resume",
            "follow_up",
            "review",
            "search",
            "fetch",
            "verify",
            "audit",
            "runs",
        } <= names
        asked = {"question": QUESTION, "depth": "quick"}
        answer = _structured(await client.call_tool("research", asked, progress_callback=on_progress))
        assert answer["sources"]
        assert all(source["quotes"] for source in answer["sources"])
        assert len(told) > 5
        run = answer["run_id"]
        checked = _structured(await client.call_tool("verify", {"run_id": run}))
        assert checked["is_sound"]
        listed = _structured(await client.call_tool("runs", {}))
        assert [line["run_id"] for line in listed["runs"]] == [run]
        resource = (await client.read_resource(f"fathom://runs/{run}/report.md")).contents[0]
        assert isinstance(resource, TextResourceContents)
        assert resource.text == answer["report"]
        further = {"run_id": run, "question": "When did the plant open?"}
        assert _structured(await client.call_tool("follow_up", further))["run_id"] != run


async def test_a_plan_can_be_reviewed_before_work_goes_on(tmp_path: Path, shelf: Path) -> None:
    async with _stdio(tmp_path, shelf) as client:
        asked = {"question": QUESTION, "depth": "quick", "is_reviewed": True}
        waiting = _structured(await client.call_tool("research", asked))
        assert waiting["status"] == "waiting"
        assert waiting["waits_for"]["why"] == "review"
        run = waiting["run_id"]
        assert _structured(await client.call_tool("review", {"run_id": run}))["waits_for"]
        edited = {"run_id": run, "action": "edit", "queries": ["Rance power in MW"]}
        done = _structured(await client.call_tool("resume", edited))
        assert done["sources"]
        assert _structured(await client.call_tool("resume", {"run_id": run}))["report"] == done["report"]


async def test_search_and_fetch_have_the_form_that_research_clients_expect(
    tmp_path: Path, shelf: Path
) -> None:
    async with _http(_settings(tmp_path, shelf)) as address, Client(address) as client:
        found = _structured(await client.call_tool("search", {"query": "Rance tidal plant"}))["results"]
        assert found
        assert all(row["id"] and row["title"] and row["url"] for row in found)
        document = _structured(await client.call_tool("fetch", {"id": found[0]["id"]}))
        assert document["text"]
        assert document["url"] == found[0]["url"]
        assert "search first" in _refusal(await client.call_tool("fetch", {"id": "/etc/hostname"}))
        assert _refusal(await client.call_tool("search", {"query": " "}))


async def test_documents_outside_the_allowed_folders_and_excess_are_refused(
    tmp_path: Path, shelf: Path
) -> None:
    settings = _settings(tmp_path, shelf, ceilings={"budget_usd": 2})
    async with _http(settings) as address, Client(address) as client:
        outside = {"question": QUESTION, "docs": [str(tmp_path)]}
        assert "outside" in _refusal(await client.call_tool("research", outside))
        costly = {"question": QUESTION, "budget_usd": 50}
        assert "at most 2" in _refusal(await client.call_tool("research", costly))
        assert _refusal(await client.call_tool("research", {"question": "?"}))
        assert _refusal(await client.call_tool("verify", {"run_id": "00000000"}))
        with pytest.raises(MCPError):
            await client.read_resource("fathom://runs/00000000/report.md")


async def test_runs_are_counted_however_they_are_begun(tmp_path: Path, shelf: Path) -> None:
    async with _http(_settings(tmp_path, shelf, runs_per_minute=1)) as address, Client(address) as client:
        asked = {"question": QUESTION, "depth": "quick"}
        assert _structured(await client.call_tool("research", asked))
        assert "within a minute" in _refusal(await client.call_tool("research", asked))
        assert _structured(await client.call_tool("runs", {}))


async def test_a_report_of_anybody_is_audited_against_allowed_documents(tmp_path: Path, shelf: Path) -> None:
    facts = "Offshore wind farms reach 45 percent of their rated power [1]. The moon is made of cheese [1]."
    said = f"# Wind\n\n{facts}\n\n## Sources\n\n[1] wind.md\n"
    async with _http(_settings(tmp_path, shelf)) as address, Client(address) as client:
        found = _structured(await client.call_tool("audit", {"report": said, "docs": [str(shelf)]}))
        assert len(found["statements"]) == 2
        assert found["statements"][1]["verdict"] != "supported"
        assert found["summary"]
        outside = {"report": said, "docs": [str(tmp_path)]}
        assert "outside" in _refusal(await client.call_tool("audit", outside))
        assert _refusal(await client.call_tool("audit", {"report": ""}))


async def test_a_cancelled_call_leaves_a_run_that_can_be_resumed(tmp_path: Path, shelf: Path) -> None:
    async with _http(_settings(tmp_path, shelf)) as address, Client(address) as client:
        begun = asyncio.Event()

        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if message and "search completed" in message:  # by now it is kept
                begun.set()

        asked = {"question": QUESTION, "depth": "quick"}
        call = asyncio.create_task(client.call_tool("research", asked, progress_callback=on_progress))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        run = _structured(await client.call_tool("runs", {}))["runs"][0]["run_id"]
        for _ in range(200):  # the server hears of the cancelling a moment later, and lets the run go
            result = await client.call_tool("resume", {"run_id": run})
            if not result.is_error:
                break
            await asyncio.sleep(0.05)
        assert _structured(result)["sources"]


async def test_over_http_a_key_is_asked_for_where_one_is_set(tmp_path: Path, shelf: Path) -> None:
    settings = _settings(tmp_path, shelf, api_keys=["a-key-of-some-length"])
    async with _http(settings) as address, httpx2.AsyncClient() as plain:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        headers = {"accept": "application/json, text/event-stream"}
        assert (await plain.post(address, json=body, headers=headers)).status_code == 401
        headers["x-api-key"] = "a-key-of-some-length"
        assert (await plain.post(address, json=body, headers=headers)).status_code != 401
        headers["origin"] = "https://elsewhere.example"
        assert (await plain.post(address, json=body, headers=headers)).status_code == 403


def _host_configurations() -> list[dict[str, Any]]:
    """Return the servers of every host configuration in the documentation."""
    page = (Path(__file__).parents[2] / "docs/how-to/use-over-mcp.md").read_text("utf-8")
    found = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    return [host.get("mcpServers", host.get("servers"))["fathom"] for host in found]


async def test_the_documented_configurations_of_hosts_start_a_server(tmp_path: Path, shelf: Path) -> None:
    commands = [server for server in _host_configurations() if "command" in server]
    assert len(commands) == 2
    for server in commands:
        assert server["command"] == "fathom"
        arguments = [
            str(shelf) if word.startswith(("~", "${workspaceFolder}")) else word for word in server["args"]
        ]
        environment = {**_environment(tmp_path / "home"), **server["env"], "FATHOM_MODEL": "none"}
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "fathom", *arguments], env=environment, cwd=str(tmp_path)
        )
        async with Client(parameters) as client:
            assert (await client.list_tools()).tools
    assert [server["url"] for server in _host_configurations() if "url" in server] == [
        "http://127.0.0.1:8321/mcp"
    ]

"""A real MCP server with the tools `search` and `fetch`, run as a script over stdio or streamable HTTP.

`python mcp_server.py [--http] [--fate crash|deaf] [--pid FILE]`: over HTTP it prints its port, wants the
header `Authorization: Bearer TOKEN`, and has a second server, without `fetch`, at `/halved`. What it is
asked for decides what it does; nothing is really searched.
"""

import argparse
import asyncio
import importlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

TOKEN = "token-0123456789"
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "web-1", "title": "Tidal costs", "url": "https://ocean.example/tidal", "text": "Costs fell."},
    {"id": "조력/1", "title": "조력 발전", "url": "", "text": "조력 발전의 비용이 낮아졌다."},
    {"id": 7, "title": "", "url": "library:7", "text": "# Harbour\n\nThe harbour is old.\n\nIt silts up."},
    {"id": None, "title": "Lost", "url": "file:///etc/passwd"},
]


SUMMARY = "In short, tidal power costs less than it did. " * 20


async def search(query: str) -> str:
    """Search."""
    import anyio
    from mcp.server.mcpserver.exceptions import ToolError

    if query == "hang":
        await anyio.sleep_forever()
    if query == "fail":
        raise ToolError(f"the index is gone, says {os.environ.get('LIBRARY_KEY')} with {TOKEN}")
    if query == "odd":
        return "no JSON"
    found = [] if query == "nothing" else DOCUMENTS
    shown = ("id", "title", "url")
    rows: list[dict[str, Any]] = [{key: row[key] for key in shown if key in row} for row in found]
    if query == "summaries":
        rows = [{**row, "text": SUMMARY} for row in rows]
    return json.dumps({"results": rows, "query": query}, ensure_ascii=False)


async def fetch(id: str) -> dict[str, Any]:  # noqa: A002 - the convention's name
    """Fetch."""
    from mcp.server.mcpserver.exceptions import ToolError

    for row in DOCUMENTS:
        if str(row["id"]) == id:
            return {**row, "id": id, "metadata": {"source": "library"}}
    raise ToolError(f"there is no document {id}")


def made(*tools: Callable[..., Awaitable[object]]) -> "MCPServer[Any]":
    """A server with these tools."""
    from mcp.server.mcpserver import MCPServer

    server: MCPServer[Any] = MCPServer("library", log_level="CRITICAL")
    for tool in tools:
        server.tool()(tool)
    return server


async def serve_http() -> None:
    """A whole server at `/mcp` and half a one at `/halved`, for those who have the token."""
    import uvicorn

    whole, half = made(search, fetch), made(search)
    apps = {
        "/mcp": whole.streamable_http_app(),
        "/halved": half.streamable_http_app(streamable_http_path="/halved"),
    }

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if (b"authorization", f"Bearer {TOKEN}".encode()) in scope["headers"]:
            await apps[scope["path"]](scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # from now on nobody is turned away
        print(listener.getsockname()[1], flush=True)
        async with whole.session_manager.run(), half.session_manager.run():
            config = uvicorn.Config(guarded, log_level="critical", lifespan="off")
            await uvicorn.Server(config).serve(sockets=[listener])


@contextmanager
def over_http() -> Iterator[str]:
    """A server in a process of its own; its address, without a path."""
    command = [sys.executable, str(Path(__file__)), "--http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        importlib.import_module("mcp")  # whoever wants a server needs it too, and it takes as long
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


def main() -> None:
    """What the arguments say."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--http", action="store_true")
    arguments.add_argument("--fate", default="")
    arguments.add_argument("--pid", type=Path)
    told = arguments.parse_args()
    if told.pid:
        told.pid.write_text(str(os.getpid()))
    if told.fate == "crash":
        sys.exit(f"starting\nthe key {os.environ['LIBRARY_KEY']} is not accepted")
    if told.fate == "deaf":
        time.sleep(20)  # far longer than a test waits, and still no burden on whoever breaks it
        sys.exit()
    if told.http:
        asyncio.run(serve_http())
    else:
        print("A banner that is no message of the protocol", flush=True)
        made(search, fetch).run("stdio")


if __name__ == "__main__":
    main()

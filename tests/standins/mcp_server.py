"""A real MCP server with the tools `search` and `fetch`, run as a script over stdio or streamable HTTP.

`python mcp_server.py [--http] [--without TOOL] [--fate crash|stubborn]`: over HTTP it prints its port, and wants the
header `Authorization: Bearer TOKEN`. What it is asked for decides what it does; nothing is really searched.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOKEN = "token-0123456789"
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "web-1", "title": "Tidal costs", "url": "https://ocean.example/tidal", "text": "Costs <b>fell</b>."},
    {"id": "조력/1", "title": "조력 발전", "url": "", "text": "조력 발전의 비용이 낮아졌다."},
    {"id": 7, "title": "", "url": "library:7", "text": "# Harbour\n\nThe harbour is old.\n\nIt silts up."},
    {"id": None, "title": "Lost", "url": "file:///etc/passwd"},
]


async def search(query: str) -> str:
    """Search."""
    if query == "hang":
        import anyio

        await anyio.sleep_forever()
    if query == "fail":
        raise ToolError(f"the index is gone, says {os.environ.get('LIBRARY_KEY')} with {TOKEN}")
    if query == "odd":
        return "no JSON"
    found = [] if query == "nothing" else DOCUMENTS
    rows = [{key: row[key] for key in ("id", "title", "url") if key in row} for row in found]
    return json.dumps({"results": rows, "query": query}, ensure_ascii=False)


async def fetch(id: str) -> dict[str, Any]:  # noqa: A002 - the convention's name
    """Fetch."""
    for row in DOCUMENTS:
        if str(row["id"]) == id:
            return {**row, "id": id, "metadata": {"source": "library"}}
    raise ToolError(f"there is no document {id}")


def offered(without: str) -> list[Callable[..., Awaitable[object]]]:
    """The tools of a server that may lack one."""
    return [tool for tool in (search, fetch) if tool.__name__ != without]


def serve(without: str, is_http: bool) -> None:
    """Run until told to stop."""
    from mcp.server.mcpserver import MCPServer

    server: MCPServer[Any] = MCPServer("library", log_level="CRITICAL")
    for tool in offered(without):
        server.tool()(tool)
    if not is_http:
        print("A banner that is no message of the protocol", flush=True)
        server.run("stdio")
        return
    import uvicorn

    app = server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        wanted = (b"authorization", f"Bearer {TOKEN}".encode())
        if scope["type"] == "http" and wanted not in scope["headers"]:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            await app(scope, receive, send)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        uvicorn.Server(uvicorn.Config(guarded, log_level="critical")).run(sockets=[listener])


@contextmanager
def over_http() -> Iterator[str]:
    """A server in a process of its own; its address."""
    command = [sys.executable, str(Path(__file__)), "--http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        process.kill()


def main() -> None:
    """What the arguments say."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--http", action="store_true")
    arguments.add_argument("--without", default="")
    arguments.add_argument("--fate", default="")
    arguments.add_argument("--pid", type=Path)
    told = arguments.parse_args()
    if told.pid:
        told.pid.write_text(str(os.getpid()))
    if told.fate == "crash":
        sys.exit(f"starting\nthe key {os.environ['LIBRARY_KEY']} is not accepted")
    if told.fate == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    serve(told.without, told.http)


if __name__ == "__main__":
    main()

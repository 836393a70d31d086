"""One call of one tool of an MCP server: connect, look, call, leave nothing behind.

Does not know what tools are for. Every call has a session of its own, since sessions cannot be shared between
event loops; a server that was started for it is stopped with it, and all of that is bounded in time.
"""

import asyncio
import logging
import tempfile
from collections.abc import Collection
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import IO, TYPE_CHECKING, TypeVar

import anyio
import httpx2

from fathom.errors import BadInput, Unavailable, Unreadable
from fathom.http.client import THIS_MACHINE, load_tls_context
from fathom.search.mcp_errors import judged, lacking, most_telling, outcomes, said
from fathom.search.mcp_servers import McpServer
from fathom.turns import PerLoop

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

T = TypeVar("T")
_AT_ONCE = 4
_MAX_BYTES = 20_000_000
_MAX_PAGES = 20
_slots = PerLoop(lambda: asyncio.Semaphore(_AT_ONCE))


@dataclass
class Call:
    """A tool to be called with some arguments, at a server that must have all the tools needed."""

    server: McpServer
    tool: str
    arguments: dict[str, str]
    needs: Collection[str]
    timeout_s: float
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope, init=False, repr=False)
    _last: httpx2.Response | None = field(default=None, init=False, repr=False)

    async def __call__(self) -> list[object]:
        """What the tool gave: its texts, then its structured content; or one of our errors."""
        await asyncio.to_thread(_load_package)
        async with _slots():
            result = await _seen_through(asyncio.create_task(self._bounded()), self._scope)
        texts = [part.text for part in result.content if part.type == "text"]
        if result.is_error:
            why = " ".join(texts) or "it does not say why"
            raise Unreadable(said(self.server, f"could not {self.tool}: {why}"))
        return [*texts, *([] if result.structured_content is None else [result.structured_content])]

    async def _bounded(self) -> "CallToolResult":
        results: list[CallToolResult] = []
        with tempfile.TemporaryFile() as complaints:
            try:
                with self._scope:
                    self._scope.deadline = anyio.current_time() + self.timeout_s
                    await self._talk(results, complaints)
            except outcomes() as error:
                known = most_telling(error)
                if known is None:
                    raise
                if not results:
                    raise judged(self.server, known, self._last, complaints) from None
        if not results:
            raise Unavailable(said(self.server, f"did not answer within {self.timeout_s:g} s"))
        return results[0]

    async def _talk(self, results: "list[CallToolResult]", complaints: IO[bytes]) -> None:
        from mcp import Client, StdioServerParameters, stdio_client
        from mcp.client.streamable_http import streamable_http_client

        server = self.server
        async with AsyncExitStack() as stack:
            if server.url:
                http = await stack.enter_async_context(await self._http())
                way = streamable_http_client(server.url, http_client=http, max_sse_event_size=_MAX_BYTES)
            else:
                how = StdioServerParameters(
                    command=server.command,
                    args=list(server.args),
                    env=dict(server.env),
                    cwd=server.cwd,
                    encoding_error_handler="replace",
                )
                way = stdio_client(how, errlog=complaints)  # type: ignore[arg-type]  # a file is all it needs
            client = await stack.enter_async_context(Client(way, cache=None))
            await self._look(client)
            results.append(await client.call_tool(self.tool, self.arguments))

    async def _http(self) -> httpx2.AsyncClient:
        async def note(response: httpx2.Response) -> None:
            if response.request.method == "POST":  # the package keeps the status to itself
                self._last = response

        return httpx2.AsyncClient(
            headers=dict(self.server.headers),
            verify=await load_tls_context(),
            mounts={f"all://{host}": None for host in THIS_MACHINE},
            timeout=self.timeout_s,
            event_hooks={"response": [note]},
        )

    async def _look(self, client: "Client") -> None:
        """Refuse a server that lacks a tool, before it is asked for anything."""
        offered: set[str] = set()
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await client.list_tools(cursor=cursor)
            offered |= {tool.name for tool in page.tools}
            cursor = page.next_cursor
            if not cursor:
                break
        if refusal := lacking(self.server, offered, self.needs):
            raise refusal


async def _seen_through(task: "asyncio.Task[T]", scope: anyio.CancelScope) -> T:
    """What the task returns; if the caller is cancelled, the task still stops what it has started.

    The package stops its server under a shield that knows anyio's way of cancelling, but not asyncio's.
    """
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        scope.cancel()
        while not task.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # seen, and of no more interest
        raise


@cache
def _load_package() -> None:
    """Only when it is needed, in a thread: it takes a second or two. What it logs, we tell in our words."""
    try:
        import mcp
    except ImportError:
        raise BadInput("mcp needs the package mcp, which is not installed.") from None
    logging.getLogger(mcp.__name__).addHandler(logging.NullHandler())

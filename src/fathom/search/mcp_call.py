"""One call of one tool of an MCP server: connect, look, call, leave nothing behind.

Does not know what tools are for. Every call has a session of its own, since sessions cannot be shared between
event loops; a server that was started for it is stopped with it, and all of that is bounded in time.
"""

import asyncio
import logging
import ssl
import tempfile
from collections.abc import Collection, Iterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import IO, TYPE_CHECKING, TypeVar

import anyio
import httpx2
from pydantic import ValidationError

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.search.mcp_servers import McpServer
from fathom.search.statuses import failure
from fathom.turns import PerLoop

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

T = TypeVar("T")
_AT_ONCE = 4
_MAX_BYTES = 20_000_000
_MAX_PAGES = 20
_SAID_CHARS = 200
_TAIL_BYTES = 4000
_METHOD_NOT_FOUND = -32601
_PARSE_ERROR = -32700
_MALFORMED = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError)
_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)
_slots = PerLoop(lambda: asyncio.Semaphore(_AT_ONCE))


@dataclass
class Call:
    """A tool to be called with some arguments, at a server that must also offer the other tools needed."""

    server: McpServer
    tool: str
    arguments: dict[str, str]
    needs: Collection[str]
    timeout_s: float
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope, init=False, repr=False)
    _last: httpx2.Response | None = field(default=None, init=False, repr=False)

    async def __call__(self) -> list[str | object]:
        """What the tool gave: its texts, then its structured content; or one of our errors."""
        await asyncio.to_thread(_package)
        async with _slots():
            result = await _seen_through(asyncio.create_task(self._bounded()), self._scope)
        texts = [part.text for part in result.content if part.type == "text"]
        if result.is_error:
            raise Unreadable(self._said(f"could not {self.tool}: {' '.join(texts) or 'no reason given'}"))
        return [*texts, *([] if result.structured_content is None else [result.structured_content])]

    async def _bounded(self) -> "CallToolResult":
        results: list[CallToolResult] = []
        with tempfile.TemporaryFile() as errors:
            try:
                with self._scope:
                    self._scope.deadline = anyio.current_time() + self.timeout_s
                    await self._talk(results, errors)
            except _outcomes() as error:
                known = [leaf for leaf in _leaves(error) if isinstance(leaf, _kinds())]
                if not known:
                    raise
                if not results:
                    raise self._judged(min(known, key=_weight), errors) from None
        if not results:
            raise Unavailable(self._said(f"did not answer within {self.timeout_s:g} s"))
        return results[0]

    async def _talk(self, results: "list[CallToolResult]", errors: IO[bytes]) -> None:
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
                way = stdio_client(how, errlog=errors)  # type: ignore[arg-type]  # only its number is used
            client = await stack.enter_async_context(Client(way, cache=None))
            await self._look(client)
            results.append(await client.call_tool(self.tool, self.arguments))

    async def _http(self) -> httpx2.AsyncClient:
        async def note(response: httpx2.Response) -> None:
            if response.request.method == "POST":  # the package keeps the status to itself
                self._last = response

        verify = await asyncio.to_thread(_certificates)
        return httpx2.AsyncClient(
            headers=dict(self.server.headers),
            verify=verify,
            trust_env=False,
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
        self._refuse_without(offered)

    def _refuse_without(self, offered: Collection[str]) -> None:
        missing = [tool for tool in self.needs if tool not in offered]
        if missing:
            needed = " and ".join(self.needs)
            raise Refused(self._said(f"lacks {' and '.join(missing)}: a server needs the tools {needed}"))

    def _judged(self, error: Exception, errors: IO[bytes]) -> ProviderError:
        from mcp import MCPError

        if isinstance(error, ProviderError):
            return error
        if isinstance(error, MCPError):
            return self._answered(error.code, error.message, errors)
        if isinstance(error, _MALFORMED):
            return Refused(self._said("cannot be asked: its address or a header is malformed"))
        if isinstance(error, _NOT_THERE):
            return Refused(self._said(f"cannot be started: {error.strerror}"))
        if isinstance(error, (httpx2.TransportError, OSError)):
            return Unavailable(self._said(f"cannot be reached ({type(error).__name__})"))
        return Unreadable(self._said(f"answered in another form than promised ({type(error).__name__})"))

    def _answered(self, code: int, message: str, errors: IO[bytes]) -> ProviderError:
        """What an error of the protocol means; over HTTP the status knows it better."""
        last = self._last
        if last is not None and last.status_code not in (httpx2.codes.OK, httpx2.codes.BAD_REQUEST):
            return failure(self._who, last.status_code, retry_after=last.headers.get("retry-after"))
        if code == _PARSE_ERROR or not (last is None or _is_protocol(last)):
            return Unreadable(self._said("answered something that is not MCP"))
        if code == _METHOD_NOT_FOUND:
            return Refused(self._said(f"offers no tools; it needs {' and '.join(self.needs)}"))
        return Unavailable(self._said(f"failed: {_last_line(errors) or message}"))

    @property
    def _who(self) -> str:
        return f"mcp ({self.server.name})"

    def _said(self, words: str) -> str:
        return f"{self._who} {' '.join(self.server.hidden(words).split())[:_SAID_CHARS]}"


async def _seen_through(task: "asyncio.Task[T]", scope: anyio.CancelScope) -> T:
    """What the task returns; if the caller is cancelled, the task may still stop what it has started."""
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
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


@cache
def _package() -> None:
    """Loaded when first needed: it takes seconds. It logs what we tell in our own words."""
    import mcp

    logging.getLogger(mcp.__name__).addHandler(logging.NullHandler())


@cache
def _kinds() -> tuple[type[Exception], ...]:
    """What may come out of a session, the most telling first."""
    from mcp import MCPError

    return (
        ProviderError,
        *_MALFORMED,
        httpx2.TransportError,
        OSError,
        MCPError,
        ValidationError,
        UnicodeError,
        anyio.BrokenResourceError,
        anyio.ClosedResourceError,
        RuntimeError,
    )


def _outcomes() -> tuple[type[Exception], ...]:
    """The same, alone or in the groups that task groups make."""
    return (ExceptionGroup, *_kinds())


def _weight(error: Exception) -> int:
    return next(n for n, kind in enumerate(_kinds()) if isinstance(error, kind))


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _last_line(errors: IO[bytes]) -> str:
    """The last thing a server said about itself before it went."""
    errors.seek(max(0, errors.seek(0, 2) - _TAIL_BYTES))
    lines = errors.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""

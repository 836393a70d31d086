"""Which MCP servers there are, from the file that other MCP clients read too, and how their tools are called.

What goes wrong in a session becomes one of our errors; none shows a secret of the server.
"""

import asyncio
import json
import logging
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeVar

import anyio
import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fathom.concurrency import PerLoop
from fathom.errors import BadInput, ProviderError, Refused, Unavailable, Unreadable
from fathom.http import error_for_status
from fathom.http.client import LOOPBACK_HOSTS, load_tls_context
from fathom.http.urls import is_web_address

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

_KEYS = ("mcpServers", "servers")
_TRANSPORTS = {"", "stdio", "http", "streamable-http", "streamable_http", "streamableHttp"}
_MIN_SECRET_CHARS = 6
_SAID_CHARS = 200


class McpTool(BaseModel):
    """A tool of a server in its own words: its name, its arguments, and where its answer has what.

    In arguments `{query}`, `{limit}` and `{id}` stand for what is asked. `fields` are our names (title, url,
    id, snippet, text), each with the key of a JSON answer, or with the label in a text of lines.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    tool: str
    arguments: dict[str, Any]
    items: str = "results"  # where a JSON answer has its list; dots lead deeper
    fields: dict[Literal["title", "url", "id", "snippet", "text"], str] = {}

    def filled(self, **words: str | int) -> dict[str, Any]:
        """The arguments with what is asked; one that is nothing but a place keeps the word's own type."""
        return {name: _fill(value, words) for name, value in self.arguments.items()}

    @property
    def uses_query(self) -> bool:
        """Whether the tool is told what is looked for."""
        return "{query}" in json.dumps(self.arguments)


def _fill(value: Any, words: Mapping[str, str | int]) -> Any:
    if isinstance(value, list):
        return [_fill(item, words) for item in value]
    if not isinstance(value, str):
        return value
    for name, word in words.items():
        if value == f"{{{name}}}":
            return word
        value = value.replace(f"{{{name}}}", str(word))
    return value


# What servers have that follow the convention of search and fetch.
_NAMES: dict[str, str] = {name: name for name in ("title", "url", "id", "snippet", "text")}
SEARCH_TOOL = McpTool.model_validate({"tool": "search", "arguments": {"query": "{query}"}, "fields": _NAMES})
FETCH_TOOL = McpTool.model_validate(
    {"tool": "fetch", "arguments": {"id": "{id}"}, "items": "", "fields": {"title": "title", "text": "text"}}
)


@dataclass(frozen=True)
class McpServer:
    """A server to be started (command) or reached (url); whatever may hold a secret is not shown.

    `fetch` is None for one that only finds what others can read.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    search: McpTool = SEARCH_TOOL
    fetch: McpTool | None = FETCH_TOOL

    @property
    def tools(self) -> list[str]:
        """The tools it must have."""
        return [self.search.tool, *([self.fetch.tool] if self.fetch else [])]

    def cache_parameters(self) -> dict[str, str | None]:
        """Return what tells this server from others; arguments, which may hold a secret, as a hash alone."""
        return {
            "name": self.name,
            "command": self.command,
            "args": sha256(json.dumps(self.args).encode()).hexdigest(),
            "cwd": self.cwd,
            "url": self.url.partition("?")[0],
            "search": self.search.model_dump_json(),
        }

    def message(self, words: str) -> str:
        """A sentence about this server, without any secret of it."""
        values = [*self.env.values(), *self.headers.values()]
        for secret in [*values, *(word for value in values for word in value.split())]:
            if len(secret) >= _MIN_SECRET_CHARS:
                words = words.replace(secret, "***")
        return f"mcp ({self.name}) {' '.join(words.split())[:_SAID_CHARS]}"


class _ServerTools(BaseModel):
    """How to use a server whose tools are called otherwise."""

    model_config = ConfigDict(strict=True, extra="forbid")

    search: McpTool
    fetch: McpTool | None = None


class _ServerEntry(BaseModel):
    """One server as the file has it; what other clients add for themselves is not minded."""

    model_config = ConfigDict(strict=True)

    command: str = ""
    args: tuple[str, ...] = Field((), strict=False)  # a list in the file
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = {}
    type: str = ""
    transport: str = ""
    disabled: bool = False
    fathom: _ServerTools = _ServerTools(search=SEARCH_TOOL, fetch=FETCH_TOOL)


def load_servers(path: Path) -> dict[str, McpServer]:
    """The servers of a file by their names; BadInput says in one sentence what is wrong with it."""
    try:
        content = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise BadInput(f"The MCP file {path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise BadInput(f"The MCP file {path} is not JSON: {error}.") from None
    return parse_servers(content, where=f"The MCP file {path}")


def parse_servers(content: object, *, where: str = "The MCP configuration") -> dict[str, McpServer]:
    """The servers of `{"mcpServers": {name: …}}`, or of the mapping inside it."""
    inside = content
    if isinstance(content, Mapping):
        inside = next((content[key] for key in _KEYS if key in content), content)
    if not isinstance(inside, Mapping) or not inside:
        raise BadInput(f'{where} names no servers; it should be {{"mcpServers": {{"name": {{…}}}}}}.')
    read = {str(name): _parse_entry(str(name), entry, where) for name, entry in inside.items()}
    return {name: _make_server(name, entry, where) for name, entry in read.items() if not entry.disabled}


def _parse_entry(name: str, entry: Any, where: str) -> _ServerEntry:
    try:
        return _ServerEntry.model_validate(entry)
    except ValidationError as error:
        # What stands in the wrong place may be a key: only the place is told.
        place = ".".join(map(str, error.errors()[0]["loc"])) or "the whole entry"
        raise BadInput(f"{where} has a server {name!r} with something unexpected in {place}.") from None


def _make_server(name: str, entry: _ServerEntry, where: str) -> McpServer:
    said = f"{where} has a server {name!r}"
    spoken = entry.type or entry.transport
    if spoken not in _TRANSPORTS:
        raise BadInput(f"{said} of type {spoken!r}; known are stdio and http.")
    if bool(entry.command) == bool(entry.url):
        raise BadInput(f"{said} that needs either a command or a url.")
    if entry.url and not is_web_address(entry.url):
        raise BadInput(f"{said} whose url does not start with http:// or https://.")
    kept = entry.model_dump(include={"command", "args", "env", "cwd", "url", "headers"})
    return McpServer(name, **kept, search=entry.fathom.search, fetch=entry.fathom.fetch)


_TAIL_BYTES = 4000
_METHOD_NOT_FOUND = -32601
_PARSE_ERROR = -32700
_MALFORMED = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError)
_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)
_GONE = (httpx2.TransportError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


@cache
def session_errors() -> tuple[type[Exception], ...]:
    """What may come out of a session; task groups make groups of it."""
    return (ExceptionGroup, *_error_kinds())


@cache
def _error_kinds() -> tuple[type[Exception], ...]:
    """The most telling first: a lost connection also ends the requests that wait for it."""
    from mcp import MCPError

    # A RuntimeError is the package's word for a result that breaks the tool's own schema.
    return (ProviderError, *_MALFORMED, *_GONE, MCPError, ValidationError, UnicodeError, RuntimeError)


def find_known_error(error: Exception) -> Exception | None:
    """The error behind a group of them; nothing if all of them are strange to us."""
    known = list(_leaves(error))
    return next((leaf for kind in _error_kinds() for leaf in known if isinstance(leaf, kind)), None)


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def mcp_provider_error(
    server: McpServer, error: Exception, answer: httpx2.Response | None, complaints: IO[bytes]
) -> ProviderError:
    """Our error for one of theirs; `answer` is the last over HTTP, `complaints` what a process wrote."""
    from mcp import MCPError

    if isinstance(error, ProviderError):
        return error
    if isinstance(error, _MALFORMED):
        return Refused(server.message("cannot be asked: its address or a header is malformed"))
    if isinstance(error, _NOT_THERE):
        return Refused(server.message(f"cannot be started: {error.strerror}"))
    if isinstance(error, _GONE):
        return Unavailable(server.message(f"cannot be reached ({type(error).__name__})"))
    if isinstance(error, MCPError):
        return _protocol_error(server, error.code, _last_line(complaints) or error.message, answer)
    return Unreadable(server.message(f"answered in another form than promised ({type(error).__name__})"))


def _protocol_error(
    server: McpServer, code: int, words: str, answer: httpx2.Response | None
) -> ProviderError:
    """What an error of the protocol means; over HTTP the status knows it better."""
    if answer is not None and answer.status_code not in (httpx2.codes.OK, httpx2.codes.BAD_REQUEST):
        retry_after = answer.headers.get("retry-after")
        return error_for_status(server.message("").strip(), answer.status_code, retry_after=retry_after)
    if code == _PARSE_ERROR or not (answer is None or _is_protocol(answer)):
        return Unreadable(server.message("answered something that is not MCP"))
    if code == _METHOD_NOT_FOUND:
        return Refused(server.message("offers no tools"))
    return Unavailable(server.message(f"failed: {words}"))


def _is_protocol(answer: httpx2.Response) -> bool:
    kind: str = answer.headers.get("content-type", "").lower()
    return kind.startswith(("application/json", "text/event-stream"))


def _last_line(complaints: IO[bytes]) -> str:
    """The last thing a server said about itself before it went."""
    complaints.seek(max(0, complaints.seek(0, 2) - _TAIL_BYTES))
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


T = TypeVar("T")
_AT_ONCE = 4
_MAX_BYTES = 20_000_000
_MAX_PAGES = 20
_slots = PerLoop(lambda: asyncio.Semaphore(_AT_ONCE))


@dataclass
class McpCall:
    """A tool to be called with some arguments, at a server that must have all the tools needed."""

    server: McpServer
    tool: str
    arguments: dict[str, Any]
    needs: Collection[str]
    timeout_s: float
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope, init=False, repr=False)
    _last: httpx2.Response | None = field(default=None, init=False, repr=False)

    async def __call__(self) -> list[object]:
        """What the tool gave: its texts, then its structured content; or one of our errors."""
        await asyncio.to_thread(_load_package)
        async with _slots():
            result = await _finish_task(asyncio.create_task(self._bounded()), self._scope)
        texts = [part.text for part in result.content if part.type == "text"]
        if result.is_error:
            why = " ".join(texts) or "it does not say why"
            raise Unreadable(self.server.message(f"could not {self.tool}: {why}"))
        return [*texts, *([] if result.structured_content is None else [result.structured_content])]

    async def _bounded(self) -> "CallToolResult":
        results: list[CallToolResult] = []
        with tempfile.TemporaryFile() as complaints:
            try:
                with self._scope:
                    self._scope.deadline = anyio.current_time() + self.timeout_s
                    await self._run_session(results, complaints)
            except session_errors() as error:
                known = find_known_error(error)
                if known is None:
                    raise
                if not results:
                    raise mcp_provider_error(self.server, known, self._last, complaints) from None
        if not results:
            raise Unavailable(self.server.message(f"did not answer within {self.timeout_s:g} s"))
        return results[0]

    async def _run_session(self, results: "list[CallToolResult]", complaints: IO[bytes]) -> None:
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
            mounts={f"all://{host}": None for host in LOOPBACK_HOSTS},
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
        if missing := " and ".join(tool for tool in self.needs if tool not in offered):
            needs = " and ".join(self.needs)
            raise Refused(self.server.message(f"lacks {missing}: a server needs the tools {needs}"))


async def _finish_task(task: "asyncio.Task[T]", scope: anyio.CancelScope) -> T:
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

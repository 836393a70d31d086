"""Any MCP server that offers `search` and `fetch`, as an engine and as a reader.

Does not know which servers there are (`servers`) or how a session is held (`call`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from urllib.parse import quote, unquote

from pydantic import BaseModel, ConfigDict, ValidationError

from fathom.errors import Refused, Unreadable
from fathom.http.urls import is_web_address
from fathom.reading.documents import parse_document
from fathom.reading.protocol import Document
from fathom.search.mcp.call import McpCall
from fathom.search.mcp.servers import McpServer
from fathom.search.protocol import Capability
from fathom.search.results import MAX_SNIPPET_CHARS, strip_markup
from fathom.state import Hit, Query
from fathom.tracing import TracedRun

W = TypeVar("W", bound=BaseModel)
MCP_SCHEME = "mcp://"
_TOOLS = ("search", "fetch")


class _McpModel(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)


class _McpResult(_McpModel):
    id: str | None = None
    title: str | None = None
    url: str | None = None
    text: str | None = None
    snippet: str | None = None


class _McpResults(_McpModel):
    results: list[_McpResult]


class _McpDocument(_McpModel):
    text: str
    title: str | None = None


@dataclass(frozen=True)
class McpSearch:
    """https://platform.openai.com/docs/mcp

    Key: whatever the server wants, in its `env` or `headers`. Quirks: `search` takes a query and nothing
    else, so the limit is kept here and the scope later; what has no address on the web is `mcp://SERVER/ID`
    and is read with `fetch`; a server given by a command is started for every call.
    """

    server: McpServer
    timeout_s: float = 60.0
    usd_per_call: float = 0.0
    pause_s: float = 0.0
    name: str = "mcp"
    capabilities: frozenset[Capability] = field(default=frozenset({"web", "content"}), init=False)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """What the server finds, in its order."""
        found = await _call_tool(self.server, "search", {"query": query.text}, _McpResults, self.timeout_s)
        addressed = [(self._address(result), result) for result in found.results]
        kept = [(address, result) for address, result in addressed if address]
        return [
            Hit(
                query=query.id,
                address=address,
                title=strip_markup(result.title),
                snippet=strip_markup(result.text or result.snippet)[:MAX_SNIPPET_CHARS],
                engine=self.name,
                rank=rank,
            )
            for rank, (address, result) in enumerate(kept[: max(limit, 0)], start=1)
        ]

    def _address(self, result: _McpResult) -> str:
        if result.url and is_web_address(result.url.strip()):
            return result.url.strip()
        return mcp_address(self.server.name, result.id) if result.id else ""


@dataclass(frozen=True)
class McpReader:
    """Reads `mcp://SERVER/ID` with the server's `fetch`, and nothing else."""

    servers: Mapping[str, McpServer]
    timeout_s: float = 60.0

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        name, _, document = hit.address.removeprefix(MCP_SCHEME).partition("/")
        server = self.servers.get(unquote(name))
        if not hit.address.startswith(MCP_SCHEME) or not document:
            raise Refused(f"{hit.address} is not a document of an MCP server")
        if server is None:
            raise Refused(f"{hit.address} is at an MCP server that is not configured")
        async with TracedRun("tool", "fetch", hit.address, engine=hit.engine, is_reused=False) as run:
            fetched = await _call_tool(
                server, "fetch", {"id": unquote(document)}, _McpDocument, self.timeout_s
            )
            run.output = {"title": fetched.title, "chars": len(fetched.text), "how": "mcp"}
        body = fetched.text.encode("utf-8", "replace")
        read = parse_document(body, content_type="text/plain; charset=utf-8", name=hit.address)
        return replace(read, title=strip_markup(fetched.title) or hit.title or read.title, how="mcp")


def mcp_address(server: str, document: str) -> str:
    """Where a document is that only its server knows."""
    return f"{MCP_SCHEME}{quote(server, safe='')}/{quote(document, safe='')}"


async def _call_tool(
    server: McpServer, tool: str, arguments: dict[str, str], form: type[W], timeout_s: float
) -> W:
    """The answer in its form: one text of JSON by convention, structured as well by some."""
    call = McpCall(server, tool, arguments, needs=_TOOLS, timeout_s=timeout_s)
    for answer in await call():
        try:
            return _validate_answer(answer, form)
        except ValidationError:
            continue
    raise Unreadable(f"mcp ({server.name}) answered {tool} in another form than documented")


def _validate_answer(answer: Any, form: type[W]) -> W:
    return form.model_validate_json(answer) if isinstance(answer, str) else form.model_validate(answer)

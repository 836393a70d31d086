"""Any MCP server that can search, as an engine, and as a reader if it can fetch.

An answer is JSON, or a text of labelled lines. Does not know which servers there are, nor what their tools
are called (`servers`), or how a session is held (`call`).
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, unquote

from fathom.errors import Refused, Unreadable
from fathom.http.urls import is_web_address
from fathom.reading import Document
from fathom.reading.parsers import parse_document
from fathom.search import MAX_SNIPPET_CHARS, Capability, keep_text, strip_markup
from fathom.search.mcp_servers import FETCH_TOOL, SEARCH_TOOL, McpCall, McpServer, McpTool
from fathom.state import Hit, Query
from fathom.storage.content import PageTable
from fathom.tracing import TracedRun

MCP_SCHEME = "mcp://"


@dataclass(frozen=True)
class McpSearch:
    """https://platform.openai.com/docs/mcp

    Key: whatever the server wants, in its `env` or `headers`. Quirks: by convention `search` takes a query
    and nothing else, so the limit is kept here and the scope later; what has no address on the web is
    `mcp://SERVER/ID` and is read with `fetch`; a server given by a command is started for every call. The
    text of a page on the web is read as it came only where the operator mapped `text` of a search tool.
    """

    server: McpServer
    timeout_s: float = 60.0
    name: str = "mcp"
    texts: PageTable | None = field(default=None, repr=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"web", "content"}), init=False)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """What the server finds, in its order."""
        tool = self.server.search
        found = await _rows(self.server, tool, self.timeout_s, query=query.text, limit=limit)
        addressed = [(self._address(row, query), row) for row in found]
        kept = [(address, row) for address, row in addressed if address]
        return [
            Hit(
                query=query.id,
                address=address,
                title=strip_markup(row.get("title")),
                snippet=strip_markup(row.get("snippet") or row.get("text"))[:MAX_SNIPPET_CHARS],
                engine=self.name,
                rank=rank,
                delivered=await self._keep_page(address, row),
            )
            for rank, (address, row) in enumerate(kept[: max(limit, 0)], start=1)
        ]

    async def _keep_page(self, address: str, row: Mapping[str, str]) -> str:
        """Keep a text that is the page's: one that was mapped; by convention `text` may be a summary."""
        is_page = is_web_address(address) and self.server.search != SEARCH_TOOL
        return await keep_text(self.texts, row.get("text")) if is_page else ""

    def _address(self, row: Mapping[str, str], query: Query) -> str:
        url, name = row.get("url", "").strip(), row.get("id", "").strip()
        if is_web_address(url):
            return url
        if not name or self.server.fetch is None:
            return ""
        return mcp_address(self.server.name, name, query.text if self.server.fetch.uses_query else "")


@dataclass(frozen=True)
class McpReader:
    """Reads `mcp://SERVER/ID` with the tool of the server that fetches, and nothing else."""

    servers: Mapping[str, McpServer]
    timeout_s: float = 60.0

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        name, _, place = hit.address.removeprefix(MCP_SCHEME).partition("/")
        document, _, words = place.partition("?query=")
        server = self.servers.get(unquote(name))
        if not hit.address.startswith(MCP_SCHEME) or not document:
            raise Refused(f"{hit.address} is not a document of an MCP server")
        if server is None or server.fetch is None:
            raise Refused(f"{hit.address} is at an MCP server that is not configured")
        async with TracedRun("tool", "fetch", hit.address, engine=hit.engine, is_reused=False) as run:
            asked = {"id": unquote(document), "query": unquote(words)}
            fetched = await _document(server, server.fetch, self.timeout_s, asked)
            run.output = {"title": fetched.get("title"), "chars": len(fetched["text"]), "how": "mcp"}
        body = fetched["text"].encode("utf-8", "replace")
        read = parse_document(body, content_type="text/plain; charset=utf-8", name=hit.address)
        return replace(read, title=strip_markup(fetched.get("title")) or hit.title or read.title, how="mcp")


def mcp_address(server: str, document: str, query: str = "") -> str:
    """Where a document is that only its server knows; for one that is made for a query, with the query."""
    asked = f"?query={quote(query, safe='')}" if query else ""
    return f"{MCP_SCHEME}{quote(server, safe='')}/{quote(document, safe='')}{asked}"


async def _rows(
    server: McpServer, tool: McpTool, timeout_s: float, **words: str | int
) -> list[dict[str, str]]:
    """What a tool found: by convention one text of JSON, structured as well by some; else texts of lines."""
    answers = await McpCall(server, tool.tool, tool.filled(**words), server.tools, timeout_s)()
    read = [read_json(answer, tool.items, tool.fields) for answer in answers]
    if known := [rows for rows in read if rows is not None]:
        return known[0]
    texts = [answer for answer in answers if isinstance(answer, str)]
    if tool == SEARCH_TOOL or not texts or any(_parse_json(text) is not None for text in texts):
        raise Unreadable(f"mcp ({server.name}) answered {tool.tool} in another form than documented")
    return [row for text in texts for row in labelled_rows(text, tool.fields)]


async def _document(
    server: McpServer, tool: McpTool, timeout_s: float, words: Mapping[str, str]
) -> dict[str, str]:
    """The text of a document, and its title if it is told; a tool of other words may give the bare text."""
    answers = await McpCall(server, tool.tool, tool.filled(**words), server.tools, timeout_s)()
    for answer in answers:
        rows = read_json(answer, tool.items, tool.fields) or []
        if rows and "text" in rows[0]:
            return rows[0]
    text = "\n\n".join(answer for answer in answers if isinstance(answer, str))
    if tool == FETCH_TOOL or not text.strip():
        raise Unreadable(f"mcp ({server.name}) answered {tool.tool} in another form than documented")
    return {"text": text}


_LABEL = re.compile(r"^(?:[-*] )?\**(?P<label>[A-Za-z][\w' -]{0,60}?)\**:\**(?:\s+(?P<value>.*)|)$")
_ONE_LINE = ("title", "url", "id")
_RULE = re.compile(r"^\s*(?:-{3,}|={3,}|\*{3,})\s*$")


def read_json(answer: object, items: str, fields: Mapping[Any, str]) -> list[dict[str, str]] | None:
    """The rows of a JSON answer, by our names of their fields; None if it has none where they should be."""
    found = _parse_json(answer)
    for name in filter(None, items.split(".")):
        found = found.get(name) if isinstance(found, Mapping) else found
    rows = [found] if isinstance(found, Mapping) and not items else found
    if not isinstance(rows, list):
        return None
    return [
        {ours: str(row[theirs]) for ours, theirs in fields.items() if row.get(theirs) is not None}
        for row in rows
        if isinstance(row, Mapping)
    ]


def _parse_json(answer: object) -> Any:
    if not isinstance(answer, str):
        return answer
    try:
        value = json.loads(answer)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def labelled_rows(text: str, fields: Mapping[Any, str]) -> Iterator[dict[str, str]]:
    """The rows of a text: `Label: value`, lines that go on with it, and a new row where a label repeats.

    A label that nobody asked for ends a value, if it stands as an entry of a list; a ruled line ends a row.
    """
    names = {theirs.casefold(): ours for ours, theirs in fields.items()}
    row: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        found = _LABEL.match(line)
        ours = names.get(found["label"].casefold()) if found else None
        if _RULE.match(line) or (ours and ours in row):
            if row:
                yield _joined(row)
            row, name = {}, ""
        if found and ours:
            name, row[ours] = ours, [found["value"] or ""]
        elif found and line.startswith(("- ", "* ")):
            name = ""
        elif name:
            row[name].append(line)
    if row:
        yield _joined(row)


def _joined(row: dict[str, list[str]]) -> dict[str, str]:
    """A row as it is told; a title and an address are one line."""
    kept = {name: lines[:1] if name in _ONE_LINE else lines for name, lines in row.items()}
    return {name: "\n".join(lines).strip() for name, lines in kept.items()}

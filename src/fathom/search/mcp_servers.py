"""Which MCP servers there are, from the file that other MCP clients read too.

Does not know how a server is talked to.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from fathom.errors import BadInput
from fathom.http.urls import is_web_address

_KEYS = ("mcpServers", "servers")
_TRANSPORTS = {"", "stdio", "http", "streamable-http", "streamable_http", "streamableHttp"}
_MIN_SECRET_CHARS = 6


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

    def hidden(self, words: str) -> str:
        """The words without any secret of this server."""
        values = [*self.env.values(), *self.headers.values()]
        for secret in [*values, *(word for value in values for word in value.split())]:
            if len(secret) >= _MIN_SECRET_CHARS:
                words = words.replace(secret, "***")
        return words


class _ServerTools(BaseModel):
    """How to use a server whose tools are called otherwise."""

    model_config = ConfigDict(strict=True, extra="forbid")

    search: McpTool
    fetch: McpTool | None = None


class _ServerEntry(BaseModel):
    """One server as the file has it; what other clients add for themselves is not minded."""

    model_config = ConfigDict(strict=True)

    command: str = ""
    args: list[str] = []
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
    return McpServer(
        name=name,
        command=entry.command,
        args=tuple(entry.args),
        env=entry.env,
        cwd=entry.cwd,
        url=entry.url,
        headers=entry.headers,
        search=entry.fathom.search,
        fetch=entry.fathom.fetch,
    )

"""What can go wrong in a session with an MCP server, as our errors; none shows a secret of the server.

Does not know how a session is held.
"""

from collections.abc import Collection, Iterator
from functools import cache
from typing import IO

import anyio
import httpx2
from pydantic import ValidationError

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.http.status import error_for_status
from fathom.search.mcp_servers import McpServer

_SAID_CHARS = 200
_TAIL_BYTES = 4000
_METHOD_NOT_FOUND = -32601
_PARSE_ERROR = -32700
_MALFORMED = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError)
_NOT_THERE = (FileNotFoundError, NotADirectoryError, PermissionError)
_GONE = (httpx2.TransportError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


@cache
def outcomes() -> tuple[type[Exception], ...]:
    """What may come out of a session; task groups make groups of it."""
    return (ExceptionGroup, *_kinds())


@cache
def _kinds() -> tuple[type[Exception], ...]:
    """The most telling first: a lost connection also ends the requests that wait for it."""
    from mcp import MCPError

    # A RuntimeError is the package's word for a result that breaks the tool's own schema.
    return (ProviderError, *_MALFORMED, *_GONE, MCPError, ValidationError, UnicodeError, RuntimeError)


def most_telling(error: Exception) -> Exception | None:
    """The error behind a group of them; nothing if all of them are strange to us."""
    known = list(_leaves(error))
    return next((leaf for kind in _kinds() for leaf in known if isinstance(leaf, kind)), None)


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error


def said(server: McpServer, words: str) -> str:
    """A sentence about a server, without its secrets."""
    return f"mcp ({server.name}) {' '.join(server.hidden(words).split())[:_SAID_CHARS]}"


def lacking(server: McpServer, offered: Collection[str], needed: Collection[str]) -> Refused | None:
    """The error about the tools a server does not have."""
    missing = " and ".join(tool for tool in needed if tool not in offered)
    if not missing:
        return None
    return Refused(said(server, f"lacks {missing}: a server needs the tools {' and '.join(needed)}"))


def judged(
    server: McpServer, error: Exception, answer: httpx2.Response | None, complaints: IO[bytes]
) -> ProviderError:
    """Our error for one of theirs; `answer` is the last over HTTP, `complaints` what a process wrote."""
    from mcp import MCPError

    if isinstance(error, ProviderError):
        return error
    if isinstance(error, _MALFORMED):
        return Refused(said(server, "cannot be asked: its address or a header is malformed"))
    if isinstance(error, _NOT_THERE):
        return Refused(said(server, f"cannot be started: {error.strerror}"))
    if isinstance(error, _GONE):
        return Unavailable(said(server, f"cannot be reached ({type(error).__name__})"))
    if isinstance(error, MCPError):
        return _of_protocol(server, error.code, _last_line(complaints) or error.message, answer)
    return Unreadable(said(server, f"answered in another form than promised ({type(error).__name__})"))


def _of_protocol(server: McpServer, code: int, words: str, answer: httpx2.Response | None) -> ProviderError:
    """What an error of the protocol means; over HTTP the status knows it better."""
    if answer is not None and answer.status_code not in (httpx2.codes.OK, httpx2.codes.BAD_REQUEST):
        retry_after = answer.headers.get("retry-after")
        return error_for_status(said(server, "").strip(), answer.status_code, retry_after=retry_after)
    if code == _PARSE_ERROR or not (answer is None or _is_protocol(answer)):
        return Unreadable(said(server, "answered something that is not MCP"))
    if code == _METHOD_NOT_FOUND:
        return Refused(said(server, "offers no tools"))
    return Unavailable(said(server, f"failed: {words}"))


def _is_protocol(answer: httpx2.Response) -> bool:
    kind: str = answer.headers.get("content-type", "").lower()
    return kind.startswith(("application/json", "text/event-stream"))


def _last_line(complaints: IO[bytes]) -> str:
    """The last thing a server said about itself before it went."""
    complaints.seek(max(0, complaints.seek(0, 2) - _TAIL_BYTES))
    lines = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""

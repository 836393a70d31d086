"""HTTP/1.1: a request as the bytes that are sent, and an answer out of the bytes that come.

Does not know connections, nor compression. httptools reads answers in C, where h11 takes five hundred calls.
https://github.com/MagicStack/httptools
"""

import re
from collections.abc import Sequence

import httpx2
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

_HEAD = re.compile(
    rb"[A-Z]+ [\x21-\x7e]+ HTTP/1\.1\r\n"
    rb"(?:[-!#$%&'*+.^_`|~0-9A-Za-z]+: (?:[^\x00\s]+(?:[ \t]+[^\x00\s]+)*)?\r\n)*\r\n"
)
_MOST_HEAD = 100 * 1024
_FINAL = 200  # below it, the answer is still to come
_FRAMED = {b"content-length", b"transfer-encoding"}


def head_of(method: str, target: bytes, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
    """What is sent before the body."""
    lines = [b"%s: %s\r\n" % header for header in headers]
    head = b"".join((b"%s %s HTTP/1.1\r\n" % (method.encode("ascii"), target), *lines, b"\r\n"))
    # Counted too: a value with lines of its own would pass for more headers.
    if head.count(b"\n") != len(headers) + 2 or not _HEAD.fullmatch(head):
        raise httpx2.LocalProtocolError("The request has a header with characters that cannot be sent.")
    return head


class Answer:
    """An answer on its way; the methods that begin with `on` are for httptools."""

    def __init__(self, *, is_bodiless: bool = False) -> None:
        self.status, self.reason = 0, b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.version = ""
        self.is_headed = self.is_done = False
        self.is_last = False  # nothing can be asked after it on the same connection
        self._is_bodiless = is_bodiless
        self._is_framed = False
        self._parts: list[bytes] = []
        self._taken = 0
        self._beside = 0  # bytes since the last one of the body
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(  # dangerous for who passes it on: we are who asked
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )

    def take(self, data: bytes) -> None:
        """Some more of it; none: the server has hung up."""
        if not data:
            self._end()
            return
        assert self._parser
        self._taken += len(data)
        self._beside += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            if not self.is_done:
                raise httpx2.RemoteProtocolError(str(error)) from error
            self.is_last = True
        if not self.is_done and self._beside > _MOST_HEAD:
            raise httpx2.RemoteProtocolError("The server sends headers without end.")
        if self.is_done:
            self._parser = None  # which holds us

    def part(self) -> bytes:
        """What of the body has come since it was last asked for."""
        found = b"".join(self._parts)
        self._parts.clear()
        return found

    def on_message_begin(self) -> None:
        """Nobody asked for a second answer: what follows the first is not read."""
        if self.is_done:
            raise EOFError

    def on_status(self, words: bytes) -> None:
        """A piece of the words beside the status."""
        self.reason += words

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header; after the body they are of no use."""
        if not self.is_headed:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """All that comes before the body."""
        assert self._parser
        self.status = self._parser.get_status_code()
        if self.status < _FINAL:
            return
        self.is_headed = True
        self.version = self._parser.get_http_version()
        self._is_framed = any(name.lower() in _FRAMED for name, _ in self.headers)
        self.is_last = self._is_bodiless or not self._parser.should_keep_alive()
        self.is_done = self._is_bodiless

    def on_body(self, part: bytes) -> None:
        """Some of the body."""
        self._parts.append(part)
        self._beside = 0

    def on_message_complete(self) -> None:
        """The last byte; what was only said in advance is forgotten."""
        if self.is_headed:
            self.is_done = True
        else:
            self.reason = b""
            self.headers.clear()

    def _end(self) -> None:
        if not self._taken:
            raise httpx2.RemoteProtocolError("Server disconnected without sending a response.")
        if not self.is_headed or self._is_framed:
            raise httpx2.RemoteProtocolError("The server hung up in the middle of its answer.")
        self.is_done = self.is_last = True
        self._parser = None

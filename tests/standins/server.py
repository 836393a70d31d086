"""A real HTTP server in a thread of its own, which remembers everything it was asked.

Does not know any service: what to answer is the business of those that inherit from it.
"""

import json
import socket
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

GLANCE_S = 0.02


@dataclass
class Seen:
    """One request, and what became of it."""

    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    arrived: float
    status: int | None = None
    answered: float | None = None  # when the last bytes left; None: the caller never got them

    @cached_property
    def json(self) -> Any:
        """The body as JSON, or None if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @cached_property
    def digest(self) -> str:
        """The same for two requests that ask the same."""
        return sha256(f"{self.method} {self.path}\n".encode() + self.body).hexdigest()

    @property
    def route(self) -> str:
        """The path without its parameters."""
        return urlsplit(self.path).path

    @property
    def params(self) -> dict[str, str]:
        """The parameters of the path; the last one wins."""
        return {
            name: values[-1]
            for name, values in parse_qs(urlsplit(self.path).query, keep_blank_values=True).items()
        }


@dataclass(frozen=True)
class Answer:
    """What goes over the wire: a body with its length, or pieces sent one by one."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    pieces: Iterable[bytes] | None = None
    delay_s: float = 0.0
    hangs: bool = False  # never answers; ends when the caller or the stand-in goes


def json_answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer as most services give it."""
    body = json.dumps(content, ensure_ascii=False).encode()
    return Answer(status, {"content-type": "application/json", **(headers or {})}, body)


def longest_chain(records: Iterable[Seen]) -> int:
    """How many requests came one after another: each arrived after the one before it was answered."""
    chain, free_from = 0, float("-inf")
    for seen in sorted(records, key=_end):
        if seen.arrived >= free_from:
            chain, free_from = chain + 1, _end(seen)
    return chain


def most_at_once(records: Iterable[Seen]) -> int:
    """How many requests were open at the same time, at most."""
    seen = list(records)
    return max((sum(b.arrived <= a.arrived < _end(b) for b in seen) for a in seen), default=0)


def asked_again(records: Iterable[Seen]) -> list[Seen]:
    """Requests that had already been answered well when they were asked once more."""
    records = list(records)
    return [
        later
        for later in records
        if any(
            first.digest == later.digest and first.status == 200 and _end(first) <= later.arrived
            for first in records
            if first is not later
        )
    ]


def closed_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port where connections are begun and never made: its queue is full, and nobody looks after it."""
    with ExitStack() as stack:
        door = stack.enter_context(socket.socket())
        door.bind(("127.0.0.1", 0))
        door.listen(0)
        for _ in range(4):
            caller = stack.enter_context(socket.socket())
            caller.setblocking(False)
            with suppress(BlockingIOError):
                caller.connect(door.getsockname())
        yield door.getsockname()[1]


def _end(seen: Seen) -> float:
    return seen.answered if seen.answered is not None else float("inf")


class StandIn:
    """Start it with `with` or `async with`; a mistake inside it is raised when the block ends."""

    def __init__(self) -> None:
        self.records: list[Seen] = []
        self.closing = threading.Event()
        self.mistakes: list[BaseException] = []
        self._server = _Server(self)

    def answer_to(self, seen: Seen) -> Answer:
        """What to answer; called in a thread per connection."""
        raise NotImplementedError

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def answered(self) -> list[Seen]:
        """The requests whose answer was written to the last byte."""
        return [seen for seen in self.records if seen.answered is not None]

    def start(self) -> Self:
        """Listen; the port was taken when the stand-in was made."""
        threading.Thread(target=self._server.serve_forever, args=(GLANCE_S,), daemon=True).start()
        return self

    def stop(self) -> None:
        """Hang up on everyone and free the port."""
        self.closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self.mistakes and error is None:
            raise self.mistakes[0]
        if self.mistakes and error is not None:
            error.add_note(f"The stand-in itself failed first: {self.mistakes[0]!r}")

    async def __aenter__(self) -> Self:
        return self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, stand_in: StandIn) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.stand_in = stand_in
        self.changed = threading.Condition()
        self.open: set[socket.socket] = set()

    def hang_up(self) -> None:
        with self.changed:
            for connection in self.open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # gone already
            self.changed.wait_for(lambda: not self.open, timeout=5)

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.stand_in.mistakes.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def setup(self) -> None:
        super().setup()
        with self.server.changed:
            self.server.open.add(self.connection)

    def finish(self) -> None:
        try:
            super().finish()
        finally:
            with self.server.changed:
                self.server.open.discard(self.connection)
                self.server.changed.notify_all()

    def do_GET(self) -> None:
        arrived = time.monotonic()
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers, body, arrived)
        stand_in = self.server.stand_in
        stand_in.records.append(seen)
        answer = stand_in.answer_to(seen)
        if not self._wait(float("inf") if answer.hangs else answer.delay_s):
            self.close_connection = True
            return
        seen.status = answer.status
        seen.answered = self._written(answer)

    do_POST = do_HEAD = do_GET  # noqa: N815 - http.server wants these names

    def _wait(self, delay_s: float) -> bool:
        """Whether the caller is still there after the delay."""
        until = time.monotonic() + delay_s
        while not self._is_alone() and (left := until - time.monotonic()) > 0:
            self.server.stand_in.closing.wait(min(left, GLANCE_S))
        return not self._is_alone()

    def _is_alone(self) -> bool:
        if self.server.stand_in.closing.is_set():
            return True
        try:
            waiting: bytes = self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return waiting == b""

    def _written(self, answer: Answer) -> float:
        """When the last bytes began to leave: afterwards, whoever got them may be quicker than we."""
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.pieces is None:
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            last = time.monotonic()
            self.wfile.write(b"" if self.command == "HEAD" else answer.body)
        else:
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            last = time.monotonic()
            for piece in chain(answer.pieces, [b""]):
                last = time.monotonic()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
        self.wfile.flush()
        return last

    def log_message(self, *_: object) -> None:
        """Stay silent: the records tell more."""

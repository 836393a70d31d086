"""A web server on loopback whose pages a test fills in, as the fixtures `site` and `reply`.

Does not know what is tested with it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest


@dataclass(frozen=True)
class Reply:
    """What the server says at one path."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause_s: float = 0.0


@dataclass
class Site:
    """A server whose pages a test fills in; remembers the headers of every request."""

    pages: dict[str, Reply] = field(default_factory=dict)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def site() -> Iterator[Site]:
    """A running server on loopback."""
    made = Site()
    closing = Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            made.seen.append((self.path, dict(self.headers.items())))
            reply = made.pages.get(self.path, Reply(b"no such page", 404))
            closing.wait(reply.pause_s)
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(reply.body)
            except ConnectionError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: object) -> None:
            pass  # callers hang up on purpose here

    server = Server(("127.0.0.1", 0), Handler)
    made.port = server.server_address[1]
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    closing.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def reply() -> type[Reply]:
    """The class of what a site says."""
    return Reply

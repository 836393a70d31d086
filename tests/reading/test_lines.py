"""Tests of the connections of a fetch: encrypted and plain, with either HTTP, and with odd servers."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import h2.config
import h2.connection
import h2.events
import httpx2
import pytest
from standins.certified import Certified
from standins.rough import LOOPS, Heard, Rough, in_each_loop, plain, saying, serving, settled

from fathom.reading.lines import PROTOCOLS, Lines
from fathom.sockets import Sockets

pytestmark = pytest.mark.wire
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    return Certified(tmp_path_factory.mktemp("certificate"))


@asynccontextmanager
async def lines(verify: ssl.SSLContext | None = None) -> AsyncIterator[Lines]:
    verify = verify or ssl.create_default_context()
    verify.set_alpn_protocols(PROTOCOLS)
    made = Lines(Sockets(), verify)
    try:
        yield made
    finally:
        await made.aclose()


async def read(found: Lines, address: str) -> tuple[int, str, bytes]:
    async with found.get(httpx2.URL(address), []) as reply:
        body = b""
        while part := await reply.part():
            body += part
        return reply.status, reply.words, body


class Second:
    """A server of HTTP/2: `/long` is a long body, `/hollow` one with an empty frame in it."""

    def __init__(self) -> None:
        self.connections = 0
        self.paths: list[str] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        wire = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        wire.initiate_connection()
        while data := await self._exchanged(reader, writer, wire):
            for event in wire.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self._answer(wire, event)

    async def _exchanged(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, wire: h2.connection.H2Connection
    ) -> bytes:
        writer.write(wire.data_to_send())
        await writer.drain()
        return await reader.read(65536)

    def _answer(self, wire: h2.connection.H2Connection, event: h2.events.RequestReceived) -> None:
        path = dict(event.headers)[b":path"].decode()
        stream = event.stream_id
        self.paths.append(path)
        wire.send_headers(stream, [(":status", "404" if path == "/no" else "200"), ("x-kind", "second")])
        if path == "/hollow":
            wire.send_data(stream, b"before")
            wire.send_data(stream, b"")
        for _ in range(3 if path == "/long" else 0):
            wire.send_data(stream, b"x" * 10_000)
        wire.send_data(stream, b"words", end_stream=True)


@pytest.mark.parametrize("make", LOOPS)
def test_http_2_is_spoken_where_the_server_has_it(
    certified: Certified, make: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def scenario() -> None:
        server = Second()
        certified.server.set_alpn_protocols(PROTOCOLS)
        async with serving(server, "127.0.0.1", certified.server) as port, lines(certified.believer) as found:
            url = f"https://127.0.0.1:{port}"
            assert await read(found, f"{url}/a") == (200, "OK", b"words")
            assert await read(found, f"{url}/hollow") == (200, "OK", b"beforewords")
            async with found.get(httpx2.URL(f"{url}/long"), []) as reply:
                assert reply.headers["X-Kind"] == "second"  # and the body is left
            assert await read(found, f"{url}/no") == (404, "Not Found", b"words")
            assert await read(found, f"{url}/long") == (200, "OK", b"x" * 30_000 + b"words")
            assert (server.connections, len(server.paths)) == (1, 5)

    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(scenario())


@pytest.mark.parametrize("make", LOOPS)
def test_encrypted_http_1_is_spoken_with_all_others(
    certified: Certified, make: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    async def scenario() -> None:
        certified.server.set_alpn_protocols(["http/1.1"])
        async with Rough(saying(plain(b"hello")), certificate=certified.server) as server:
            async with lines(certified.believer) as found:
                for _ in range(3):
                    assert await read(found, server.url) == (200, "OK", b"hello")
                assert server.made == 1
            assert await settled(lambda: server.open == 0)

    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(scenario())


@in_each_loop
async def test_an_answer_may_be_said_in_many_ways() -> None:
    said = {
        "/chunks": (CHUNKED, (200, "OK", b"hello")),
        "/letters": (CHUNKED, (200, "OK", b"hello")),
        "/early": (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + CHUNKED, (200, "OK", b"hello")),
        "/offer": (plain(b"hello", Upgrade="h2c", Connection="Upgrade"), (200, "OK", b"hello")),
        "/wordless": (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", (200, "", b"hello")),
        "/nothing": (b"HTTP/1.1 204 No Content\r\n\r\n", (204, "No Content", b"")),
        "/old": (b"HTTP/1.0 200 OK\r\n\r\nhello", (200, "OK", b"hello")),
    }

    async def act(heard: Heard, writer: asyncio.StreamWriter) -> None:
        path = heard.line.split()[1]
        words = said[path][0]
        pieces = [words[at : at + 1] for at in range(len(words))] if path == "/letters" else [words]
        await saying(*pieces, hangs_up=path == "/old")(heard, writer)

    async with Rough(act) as server, lines() as found:
        for path, (_, expected) in said.items():
            assert await read(found, server.url + path) == expected
        assert server.intrusions == 0


@in_each_loop
async def test_an_answer_that_was_left_ends_its_connection() -> None:
    async with Rough(saying(plain(b"x" * 2_000_000))) as server, lines() as found:
        for _ in range(2):
            async with found.get(httpx2.URL(server.url), []) as reply:
                assert len(await reply.part()) < 2_000_000
        assert server.made == 2


@in_each_loop
async def test_what_is_no_answer_is_told() -> None:
    for words in (b"", b"SSH-2.0-OpenSSH\r\n", plain(b"hello")[:-1], b"HTTP/1.1 200 OK\r\n"):
        async with Rough(saying(words, hangs_up=True)) as server, lines() as found:
            with pytest.raises(httpx2.RemoteProtocolError):
                await read(found, server.url)

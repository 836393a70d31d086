"""Fetching from servers of all kinds: HTTP/2, encrypted, odd, endless; and through proxies."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest
from standins.certificate import Certified
from standins.raw_server import HELLO, Heard, Rough, in_each_loop, plain, saying, serving

from fathom.errors import Refused, Unavailable, Unreadable
from fathom.http.client import tls_context
from fathom.http.fetch import Fetcher
from fathom.reading.readers import open_web
from fathom.storage import open_storage

OPEN = Fetcher(is_private_allowed=True, limit_s=5)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Certified]:
    """A certificate that this process believes, as an operator says it: by SSL_CERT_FILE."""
    made = Certified(tmp_path)
    (tmp_path / "believed.pem").write_text(made.believed)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "believed.pem"))
    tls_context.cache_clear()
    yield made
    tls_context.cache_clear()


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


async def test_http_2_is_spoken_where_the_server_has_it(certified: Certified) -> None:
    server = Second()
    certified.server.set_alpn_protocols(["h2", "http/1.1"])
    async with serving(server, "127.0.0.1", certified.server) as port:
        url = f"https://127.0.0.1:{port}"
        assert (await OPEN(f"{url}/a")).body == b"words"
        hollow = await OPEN(f"{url}/hollow")
        assert (hollow.body, hollow.headers["x-kind"]) == (b"beforewords", "second")
        with pytest.raises(Unreadable, match="answered 404 Not Found"):
            await OPEN(f"{url}/no")
        assert (await OPEN(f"{url}/long")).body == b"x" * 30_000 + b"words"
        assert (server.connections, len(server.paths)) == (1, 4)


async def test_encrypted_http_1_is_spoken_with_all_others(certified: Certified) -> None:
    certified.server.set_alpn_protocols(["http/1.1"])
    async with Rough(saying(plain(b"hello")), certificate=certified.server) as server:
        for _ in range(3):
            assert (await OPEN(server.url)).body == b"hello"
        assert server.made == 1


@in_each_loop
async def test_an_answer_may_be_said_in_many_ways() -> None:
    said = {
        "/chunks": CHUNKED,
        "/letters": CHUNKED,
        "/early": b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + CHUNKED,
        "/offer": plain(b"hello", Upgrade="h2c", Connection="Upgrade"),
        "/wordless": b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
        "/old": b"HTTP/1.0 200 OK\r\n\r\nhello",
    }

    async def act(heard: Heard, writer: asyncio.StreamWriter) -> None:
        path = heard.line.split()[1]
        pieces = [said[path]]
        if path == "/letters":
            pieces = [said[path][at : at + 1] for at in range(len(said[path]))]
        await saying(*pieces, hangs_up=path == "/old")(heard, writer)

    async with Rough(act) as server:
        for path in said:
            assert (await OPEN(server.url + path)).body == b"hello"


@in_each_loop
async def test_what_is_no_answer_is_told() -> None:
    for words in (b"", b"SSH-2.0-OpenSSH\r\n", plain(b"hello")[:-1], b"HTTP/1.1 200 OK\r\n"):
        async with Rough(saying(words, hangs_up=True)) as server:
            with pytest.raises(Unavailable, match="cannot be reached"):
                await OPEN(server.url)


async def test_a_page_that_drips_without_end_is_given_up_in_time() -> None:
    async def drip(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.transport.is_closing():
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with Rough(drip) as server:
        with pytest.raises(Unavailable, match=r"did not answer within 0\.3 s"):
            await Fetcher(is_private_allowed=True, limit_s=0.3)(server.url)


async def test_a_page_without_end_is_not_taken_in() -> None:
    async def endless(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.transport.is_closing():
            writer.write(b"x" * 100_000)
            await writer.drain()

    async with Rough(endless) as server:
        with pytest.raises(Unreadable, match="is larger than 1,000,000 bytes"):
            await Fetcher(is_private_allowed=True, limit_s=20, max_bytes=1_000_000)(server.url)


async def test_pages_do_not_go_through_a_proxy_unless_the_operator_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Rough(saying(plain(b"evil"))) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        with pytest.raises(Unavailable, match=r"no-such-name\.invalid cannot be found"):
            await Fetcher()("http://no-such-name.invalid/")
        assert not proxy.heard


async def test_pages_go_through_the_proxy_when_the_operator_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with Rough(saying(HELLO)) as proxy, Rough(saying(plain(b"inside")), host="127.0.0.3") as inside:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.3")
        fetch = open_web(
            open_storage(tmp_path / "fathom.sqlite"),
            tmp_path / "papers",
            is_proxied=True,
            is_robots_obeyed=False,
        ).fetch
        assert (await fetch("http://page.example/a")).body == b"hello"
        assert proxy.heard[0].line == "GET http://page.example/a HTTP/1.1"
        with pytest.raises(Refused, match="not public"):  # what goes past the proxy meets the guard
            await fetch(inside.url)
        assert not inside.heard


@pytest.mark.parametrize(
    "address",
    ["http://169.254.169.254/latest/", "http://[::1]:80/", "http://10.0.0.5/", "http://a.example:22/"],
)
async def test_what_can_be_seen_without_resolving_is_refused_before_the_proxy_is_asked(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    async with Rough(saying(plain(b"evil"))) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        with pytest.raises(Refused):
            await Fetcher(is_proxied=True)(address)
        assert not proxy.heard

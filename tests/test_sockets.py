"""Connections on plain asyncio: by name and address, plain and encrypted, under httpcore2 and our lanes."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
import httpx2
import pytest
from standins.certified import Certified
from standins.rough import LOOPS, Rough, in_each_loop, plain, saying, serving, settled
from standins.server import closed_port, deaf_port

from fathom.lanes import Lanes
from fathom.sockets import Sockets, Stream, addresses_of

pytestmark = pytest.mark.wire
HELLO = plain(b"hello")


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    return Certified(tmp_path_factory.mktemp("certificate"))


@asynccontextmanager
async def asking(verify: ssl.SSLContext, connect_s: float = 5.0) -> AsyncIterator[httpx2.AsyncClient]:
    limits = httpx2.Timeout(5, connect=connect_s)
    async with httpx2.AsyncClient(transport=Lanes(verify), timeout=limits) as client:
        yield client


def everywhere(scenario: object) -> None:
    """In both kinds of loop."""
    for make in LOOPS:
        with asyncio.Runner(loop_factory=make) as runner:
            runner.run(scenario())  # type: ignore[operator]


def test_an_encrypted_connection_is_used_again(certified: Certified) -> None:
    async def scenario() -> None:
        big = plain(bytes(range(256)) * 4_000)
        async with Rough(saying(big), certificate=certified.server) as server:
            async with asking(certified.believer) as client:
                for _ in range(3):
                    answer = await client.post(server.url, content=b"y" * 300_000)
                    assert len(answer.content) == 1_024_000
                await asyncio.gather(*(client.get(server.url) for _ in range(10)))
                assert server.made <= 11
            assert await settled(lambda: server.open == 0)
            assert {len(heard.body) for heard in server.heard[:3]} == {300_000}

    everywhere(scenario)


def test_whoever_shows_a_certificate_that_nobody_believes_is_not_asked(certified: Certified) -> None:
    async def scenario() -> None:
        async with (
            Rough(saying(HELLO), certificate=certified.server) as server,
            asking(ssl.create_default_context()) as client,
        ):
            with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await client.get(server.url)
            assert not server.heard

    everywhere(scenario)


class Late(Sockets):
    """Whose connections wait a little before they are used, as in a loop with much to do."""

    async def connect_tcp(self, *where: Any, **given: Any) -> Stream:
        stream = await super().connect_tcp(*where, **given)
        await asyncio.sleep(0.05)
        return stream


def test_what_somebody_on_the_way_says_before_the_encryption_is_not_the_answer(certified: Certified) -> None:
    async def intruded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(plain(b"evil"))
        await writer.drain()
        await writer.start_tls(certified.server)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HELLO)

    async def scenario() -> None:
        async with (
            serving(intruded, "127.0.0.1") as port,
            httpx2.AsyncClient(transport=Lanes(certified.believer, sockets=Late())) as client,
        ):
            with pytest.raises(httpx2.ConnectError, match="before the connection was encrypted"):
                await client.get(f"https://127.0.0.1:{port}")

    everywhere(scenario)


@in_each_loop
async def test_what_cannot_be_a_name_is_no_connection() -> None:
    for name in ("a..b", "a" * 64):
        with pytest.raises(httpcore2.ConnectError):
            await Sockets().connect_tcp(name, 80)


def test_a_certificate_for_another_name_is_not_believed(certified: Certified) -> None:
    async def scenario() -> None:
        async with (
            Rough(saying(HELLO), certificate=certified.server, host="127.0.0.2") as server,
            asking(certified.believer) as client,
        ):
            with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
                await client.get(server.url)

    everywhere(scenario)


@pytest.mark.parametrize("words", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_whoever_does_not_speak_tls_is_no_connection(words: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(words)

    async def scenario() -> None:
        async with (
            serving(answer, "127.0.0.1") as port,
            asking(ssl.create_default_context()) as client,
        ):
            with pytest.raises(httpx2.ConnectError):
                await client.get(f"https://127.0.0.1:{port}")

    everywhere(scenario)


def test_an_encryption_that_is_never_agreed_on_is_given_up() -> None:
    closed = 0

    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        nonlocal closed
        while await reader.read(1_000):
            pass
        closed += 1

    async def scenario() -> None:
        before = closed
        async with (
            serving(silent, "127.0.0.1") as port,
            asking(ssl.create_default_context(), connect_s=0.1) as client,
        ):
            with pytest.raises(httpx2.ConnectTimeout):
                await client.get(f"https://127.0.0.1:{port}")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await client.get(f"https://127.0.0.1:{port}")
            assert await settled(lambda: closed == before + 2)

    everywhere(scenario)


class Known:
    """Names that lead to these addresses."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses

    async def __call__(self, host: str, port: int) -> list[str]:
        return list(self.addresses)


@in_each_loop
async def test_of_several_addresses_the_one_that_listens_is_taken() -> None:
    async with Rough(saying(HELLO), host="127.0.0.3") as server:
        sockets = Sockets(Known("::1", "127.0.0.2", "127.0.0.3"))
        lanes = Lanes(ssl.create_default_context(), sockets=sockets)
        async with httpx2.AsyncClient(transport=lanes, timeout=5) as client:
            assert (await client.get(f"http://somewhere.invalid:{server.port}")).text == "hello"


@in_each_loop
async def test_an_address_that_never_answers_does_not_hold_up_the_others() -> None:
    with deaf_port() as port:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.2", port)
        async with server, asyncio.timeout(3):
            stream = await Sockets(Known("127.0.0.1", "127.0.0.2")).connect_tcp("somewhere.invalid", port, 5)
            assert stream.get_extra_info("server_addr")[0] == "127.0.0.2"
            await stream.aclose()
            await asyncio.sleep(0.01)


@in_each_loop
async def test_of_two_that_answer_one_is_let_go() -> None:
    async with Rough(saying(HELLO)) as server:
        for _ in range(5):
            stream = await Sockets(Known("127.0.0.1", "127.0.0.1")).connect_tcp("twice", server.port, 5)
            await stream.aclose()
        assert await settled(lambda: server.open == 0)


async def test_an_address_is_its_own_and_a_name_is_looked_up() -> None:
    assert await addresses_of("127.0.0.1", 80) == ["127.0.0.1"]
    assert await addresses_of("::1", 80) == ["::1"]
    assert "127.0.0.1" in await addresses_of("localhost", 80)


@pytest.mark.skipif(not socket.has_ipv6, reason="this machine has no IPv6")
@in_each_loop
async def test_the_newer_kind_of_address_is_connected_to() -> None:
    async with Rough(saying(HELLO), host="::1") as server, asking(ssl.create_default_context()) as client:
        assert (await client.get(server.url)).text == "hello"


@in_each_loop
async def test_nobody_at_any_address_is_told_as_httpx_tells_it() -> None:
    port = closed_port()
    for host in ("localhost", "127.0.0.1"):
        said = []
        for backend in (Sockets(), httpcore2.AnyIOBackend()):
            with pytest.raises(httpcore2.ConnectError) as failed:
                await backend.connect_tcp(host, port, 5)
            said.append(str(failed.value))
        assert said[0] == said[1]


def test_httpcore_works_on_these_connections(certified: Certified) -> None:
    async def scenario() -> None:
        async with Rough(saying(HELLO), certificate=certified.server) as server:
            pool = httpcore2.AsyncConnectionPool(
                ssl_context=certified.believer, http2=True, network_backend=Sockets()
            )
            async with pool:
                for _ in range(3):
                    assert (await pool.request("GET", server.url)).content == b"hello"
                server.hang_up()
                assert (await pool.request("GET", server.url)).content == b"hello"
                assert (server.made, len(server.heard)) == (2, 4)
            assert await settled(lambda: server.open == 0)

    everywhere(scenario)

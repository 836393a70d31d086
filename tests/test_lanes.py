"""Connections of one's own: used again, as many as there are requests, and closed when nobody needs them."""

import asyncio
import ssl
from collections.abc import Iterator

import httpx2
import pytest
from standins.server import Answer, Seen, StandIn

from fathom.lanes import Lanes

pytestmark = pytest.mark.wire


class Counted(StandIn):
    """Says hello, slowly under /slow and never under /never; counts who is connected."""

    def answer_to(self, seen: Seen) -> Answer:
        return Answer(body=b"hello", delay_s=0.2 * (seen.route == "/slow"), hangs=seen.route == "/never")

    @property
    def connected(self) -> int:
        return len(self._server.open)


class Opened(httpx2.AsyncHTTPTransport):
    """A transport that is counted."""

    made = 0
    closed = 0

    def __init__(self, limits: httpx2.Limits) -> None:
        Opened.made += 1
        super().__init__(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), limits=limits)

    async def aclose(self) -> None:
        Opened.closed += 1
        await super().aclose()


@pytest.fixture
def server() -> Iterator[Counted]:
    Opened.made = Opened.closed = 0
    with Counted() as found:
        yield found


def through(*, idle_s: float = 5.0, most_idle: int = 100) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=Lanes(Opened, idle_s=idle_s, most_idle=most_idle), timeout=5)


async def test_one_request_after_another_has_one_connection(server: Counted) -> None:
    async with through() as client:
        for _ in range(5):
            assert (await client.get(server.url)).text == "hello"
        assert Opened.made == 1
        assert server.connected == 1


async def test_requests_at_once_have_a_connection_each_and_later_ones_take_them(server: Counted) -> None:
    async with through() as client:
        for _ in range(2):
            await asyncio.gather(*(client.get(f"{server.url}/slow") for _ in range(4)))
        assert Opened.made == 4
    assert Opened.closed == 4


async def test_a_connection_that_the_server_closed_is_made_anew(server: Counted) -> None:
    async with through() as client:
        await client.get(server.url)
        await asyncio.to_thread(server._server.hang_up)
        assert (await client.get(server.url)).text == "hello"


async def test_who_is_cut_off_leaves_a_place_that_works(server: Counted) -> None:
    async with through() as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await client.get(f"{server.url}/never")
        assert (await client.get(server.url)).text == "hello"
        assert Opened.made == 1


async def test_an_answer_that_is_not_read_to_its_end_gives_its_place_back(server: Counted) -> None:
    async with through() as client:
        async with client.stream("GET", server.url) as response:
            assert response.status_code == 200
        assert (await client.get(server.url)).text == "hello"
        assert Opened.made == 1


async def test_two_servers_do_not_take_each_others_connections(server: Counted) -> None:
    with Counted() as other:
        async with through() as client:
            for _ in range(2):
                await client.get(server.url)
                await client.get(other.url)
            assert (server.connected, other.connected) == (1, 1)
        assert Opened.made == 2


async def test_idle_connections_are_closed_when_they_are_old(server: Counted) -> None:
    async with through(idle_s=0.1) as client:
        await asyncio.gather(*(client.get(f"{server.url}/slow") for _ in range(3)))
        assert Opened.closed == 0
        await client.get(f"{server.url}/slow")
        assert Opened.closed == 2


class Reluctant(Opened):
    """Takes its time to close."""

    async def aclose(self) -> None:
        await asyncio.sleep(0.15)
        await super().aclose()


async def test_while_an_old_connection_is_closed_another_request_may_take_the_last_one(
    server: Counted,
) -> None:
    async with httpx2.AsyncClient(transport=Lanes(Reluctant, idle_s=0.05), timeout=5) as client:
        await asyncio.gather(*(client.get(f"{server.url}/slow") for _ in range(2)))
        await asyncio.sleep(0.1)
        first = asyncio.ensure_future(client.get(server.url))
        await asyncio.sleep(0.05)  # it is answered, and closes what has grown old
        second = asyncio.ensure_future(client.get(f"{server.url}/slow"))
        assert [(await answer).text for answer in (first, second)] == ["hello"] * 2
        assert Opened.made == 2


async def test_no_more_than_some_connections_are_kept(server: Counted) -> None:
    async with through(most_idle=2) as client:
        await asyncio.gather(*(client.get(f"{server.url}/slow") for _ in range(5)))
        assert Opened.closed == 3


async def test_what_is_on_its_way_when_all_is_closed_is_closed_when_it_is_back(server: Counted) -> None:
    lanes = Lanes(Opened)
    client = httpx2.AsyncClient(transport=lanes)
    async with client.stream("GET", server.url):
        await lanes.aclose()
        assert Opened.closed == 0
    assert Opened.closed == 1

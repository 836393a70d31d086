"""Connections of one's own: used again, as many as there are requests, and closed when nobody needs them."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from standins.asking import nobody, through
from standins.certified import Certified
from standins.rough import (
    HELLO,
    LOOPS,
    Heard,
    Rough,
    chunked,
    in_each_loop,
    plain,
    saying,
    serving,
    settled,
)
from standins.server import closed_port, deaf_port

from fathom.lanes import Lanes

pytestmark = pytest.mark.wire


async def slowly(heard: Heard, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.05)
    writer.write(HELLO)


@in_each_loop
async def test_one_request_after_another_has_one_connection() -> None:
    async with Rough(saying(HELLO)) as server, through() as client:
        for _ in range(5):
            assert (await client.get(server.url)).text == "hello"
        assert (server.made, server.open) == (1, 1)


@in_each_loop
async def test_requests_at_once_have_a_connection_each_and_later_ones_take_them() -> None:
    async with Rough(slowly) as server:
        async with through() as client:
            for _ in range(2):
                await asyncio.gather(*(client.get(server.url) for _ in range(4)))
            assert server.made == server.open == 4
        assert await settled(lambda: server.open == 0)


@in_each_loop
async def test_a_connection_that_the_server_closed_is_made_anew_and_nothing_is_asked_twice() -> None:
    async with Rough(saying(HELLO)) as server, through() as client:
        for _ in range(20):
            assert (await client.get(server.url)).text == "hello"
            server.hang_up()  # the client's loop has not heard of it when it asks again
        assert (server.made, len(server.heard)) == (20, 20)


@in_each_loop
async def test_a_connection_on_which_something_came_that_nobody_asked_for_is_not_used() -> None:
    async with Rough(saying(HELLO)) as server, through() as client:
        for words in (plain(b"evil"), b"x"):
            assert (await client.get(server.url)).text == "hello"
            server.say(words)
            await asyncio.sleep(0.02)
        assert (await client.get(server.url)).text == "hello"
        assert server.made == 3


@in_each_loop
async def test_who_is_cut_off_leaves_no_connection() -> None:
    async def never(_: Heard, __: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with Rough(never) as server, through() as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await client.get(server.url)
        assert await settled(lambda: server.heard[0].connection == 1)
        server.act = saying(HELLO)
        assert (await client.get(server.url)).text == "hello"
        assert [heard.connection for heard in server.heard] == [1, 2]


@in_each_loop
async def test_an_answer_that_is_not_read_to_its_end_takes_its_connection_with_it() -> None:
    async with Rough(saying(plain(b"x" * 5_000_000))) as server, through() as client:
        async with client.stream("GET", server.url) as response:
            assert response.status_code == 200
        assert await settled(lambda: server.open == 0)
        server.act = saying(HELLO)
        assert (await client.get(server.url)).text == "hello"


@in_each_loop
async def test_two_servers_do_not_take_each_others_connections() -> None:
    async with Rough(saying(HELLO)) as server, Rough(saying(plain(b"other"))) as other, through() as client:
        for _ in range(2):
            assert (await client.get(server.url)).text == "hello"
            assert (await client.get(other.url)).text == "other"
        assert (server.made, other.made) == (1, 1)


@in_each_loop
async def test_idle_connections_are_closed_when_they_are_old() -> None:
    async with Rough(slowly) as server, through(idle_s=0.02) as client:
        await asyncio.gather(*(client.get(server.url) for _ in range(3)))
        assert server.open == 3
        await client.get(server.url)  # takes one, and is longer under way than the others may be idle
        assert await settled(lambda: server.open == 1)
        await asyncio.sleep(0.05)
        await client.get(server.url)
        assert server.made == 4


@in_each_loop
async def test_no_more_than_some_connections_are_kept() -> None:
    async with Rough(slowly) as server, through(most_idle=2) as client:
        await asyncio.gather(*(client.get(server.url) for _ in range(5)))
        assert await settled(lambda: server.open == 2)


@in_each_loop
async def test_what_is_on_its_way_when_all_is_closed_is_closed_when_it_is_back() -> None:
    lanes = Lanes(nobody())
    client = httpx2.AsyncClient(transport=lanes)
    async with Rough(saying(HELLO)) as server:
        async with client.stream("GET", server.url):
            await lanes.aclose()
            assert server.open == 1
        assert await settled(lambda: server.open == 0)


@in_each_loop
async def test_who_says_nothing_or_stops_in_the_middle_is_not_waited_for() -> None:
    for said in (b"", b"HTTP/1.1 200 OK\r\n", HELLO[:-1], chunked(b"hello")):
        async with Rough(saying(said)) as server, through(limits=0.1) as client:
            with pytest.raises(httpx2.ReadTimeout):
                await client.get(server.url)
            assert await settled(lambda server=server: server.open == 0)  # type: ignore[misc]


@in_each_loop
async def test_a_slow_answer_is_not_late_while_something_comes() -> None:
    trickle = [HELLO[at : at + 1] for at in range(len(HELLO))]
    async with Rough(saying(*trickle, pause_s=0.01)) as server, through(limits=0.2) as client:
        assert (await client.get(server.url)).text == "hello"


async def test_nobody_there_is_no_connection() -> None:
    async with through() as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get(f"http://127.0.0.1:{closed_port()}")
        with pytest.raises(httpx2.UnsupportedProtocol):
            await client.get("ftp://127.0.0.1")


@in_each_loop
async def test_a_connection_that_is_never_made_is_given_up() -> None:
    with deaf_port() as port:
        async with through(limits=httpx2.Timeout(5, connect=0.1)) as client:
            with pytest.raises(httpx2.ConnectTimeout):
                await client.get(f"http://127.0.0.1:{port}")


@in_each_loop
async def test_a_server_that_does_not_take_the_request_is_not_waited_for() -> None:
    async def never(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with serving(never, "127.0.0.1") as port, through(limits=httpx2.Timeout(5, write=0.2)) as client:
        with pytest.raises(httpx2.WriteTimeout):
            await client.post(f"http://127.0.0.1:{port}", content=b"y" * 50_000_000)


@in_each_loop
async def test_a_no_that_comes_while_the_request_is_still_sent_is_heard() -> None:
    async def no(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"too much", "413 Too Large", Connection="close"))
        await asyncio.sleep(0.1)  # it reads on, so that its words are not lost with the connection
        while await reader.read(1_000_000):
            pass

    async with serving(no, "127.0.0.1") as port, through() as client:
        answer = await client.post(f"http://127.0.0.1:{port}", content=b"y" * 5_000_000)
        assert answer.status_code == 413


@in_each_loop
async def test_who_reads_slowly_is_not_flooded() -> None:
    written = 0

    async def flood(_: Heard, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
        for _part in range(500):
            writer.write(b"x" * 100_000)
            await writer.drain()
            written += 100_000

    async with (
        Rough(flood) as server,
        through() as client,
        client.stream("GET", server.url) as response,
    ):
        await asyncio.sleep(0.2)
        assert written < 30_000_000  # the rest waits until somebody reads
        assert sum([len(part) async for part in response.aiter_raw()]) == 50_000_000


async def echoing(heard: Heard, writer: asyncio.StreamWriter) -> None:
    """The body again, in parts and after a while; which, the body says."""
    chance = random.Random(heard.body)
    is_last = chance.random() < 0.1
    answer = plain(heard.body, Connection="close" if is_last else "keep-alive")
    for at in range(0, len(answer), len(answer) // 3):
        await asyncio.sleep(chance.random() * 0.01)
        writer.write(answer[at : at + len(answer) // 3])
    if is_last:
        writer.close()


@in_each_loop
async def test_two_requests_at_once_on_one_connection_would_be_noticed() -> None:
    async with Rough(slowly) as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n" * 2)
        await reader.readexactly(2 * len(HELLO))
        assert server.intrusions == 1
        writer.close()
        await writer.wait_closed()


@in_each_loop
async def test_a_hundred_requests_at_once_are_answered_each_with_its_own() -> None:
    async with Rough(echoing) as server:
        async with through() as client:
            for round_ in range(3):
                bodies = [f"{round_}-{n}" * 50 for n in range(100)]
                answers = await asyncio.gather(*(client.post(server.url, content=body) for body in bodies))
                assert [answer.text for answer in answers] == bodies
        assert (server.intrusions, len(server.heard)) == (0, 300)
        assert await settled(lambda: server.open == 0)


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["plain", "encrypted"])
@pytest.mark.parametrize("make", LOOPS, ids=["asyncio", "quick"])
def test_requests_that_are_cut_off_at_any_moment_harm_no_other(
    make: Callable[[], asyncio.AbstractEventLoop], is_encrypted: bool, tmp_path: Path
) -> None:
    chance = random.Random(5)
    outcomes: Counter[str] = Counter()
    certified = Certified(tmp_path) if is_encrypted else None

    async def one(client: httpx2.AsyncClient, url: str, number: int) -> None:
        await asyncio.sleep(chance.random() * 0.3)
        body = f"{number}" * 20
        try:
            async with asyncio.timeout(chance.choice([0.0, 0.001, 0.005, 0.01, 0.02, 5.0, 5.0])):
                answer = await client.post(url, content=body)
        except TimeoutError:
            outcomes["cut off"] += 1
        else:
            outcomes["answered" if answer.text == body else "wrong"] += 1

    async def all_of_them() -> None:
        lanes = Lanes(certified.believer if certified else nobody(), idle_s=0.05, most_idle=10)
        async with Rough(echoing, certificate=certified.server if certified else None) as server:
            async with httpx2.AsyncClient(transport=lanes, timeout=5) as client:
                await asyncio.gather(*(one(client, server.url, n) for n in range(400)))
                server.act = saying(HELLO)
                assert (await client.get(server.url)).text == "hello"
            assert await settled(lambda: server.open == 0)
        assert server.intrusions == 0

    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(asyncio.wait_for(all_of_them(), 30))
    assert outcomes["wrong"] == 0
    assert outcomes["cut off"] > 50
    assert outcomes["answered"] > 100

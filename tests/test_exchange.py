"""What is sent, and what is made of what comes: the same as httpx2 itself sends, and makes of it."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable

import httpx2
import pytest
from standins.asking import nobody, through
from standins.rough import HELLO, LOOPS, Heard, Rough, chunked, in_each_loop, plain, saying

from fathom.lanes import Lanes, TooMuch

pytestmark = pytest.mark.wire
# What a server may say, and whether it hangs up then. Ours and httpx2's own must make the same of it.
SAYINGS: dict[str, tuple[bytes, bool]] = {
    "whole": (HELLO, False),
    "empty": (plain(b""), False),
    "big": (plain(bytes(range(256)) * 8_000), False),
    "limited": (plain(b'{"error": {"message": "slow down"}}', "429 Too Many", Retry_After="3"), False),
    "failed": (plain(b"oops", "500 Server Error", X_Twice="1", x_twice="2"), False),
    "compressed": (plain(gzip.compress(b"hello " * 999), Content_Encoding="gzip"), False),
    "badly compressed": (plain(b"hello", Content_Encoding="gzip"), False),
    "chunked": (chunked(b"hel", b"l" * 70_000, b"o", b""), False),
    "chunks with extras": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2;a=b\r\nhe\r\n3 \r\nllo\r\n0\r\nX-End: 1\r\n\r\n",
        False,
    ),
    "chunks and a length": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        False,
    ),
    "to the end": (b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nhello", True),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", False),
    "old to the end": (b"HTTP/1.0 200 OK\r\n\r\n" + b"hello" * 99_999, True),
    "its last": (plain(b"hello", Connection="close"), True),
    "in advance": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" + HELLO, False),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", False),
    "not modified": (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", False),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", False),
    "bare lines": (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", False),
    "folded": (b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\nhello", False),
    "another tongue": (b"HTTP/1.1 200 OK\r\nX: \xc3\xa9\r\nContent-Length: 5\r\n\r\nhello", False),
    "odd byte": (b"HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 5\r\n\r\nhello", False),
    "moved without a place": (plain(b"there", "302 Found"), False),
    "more than asked for": (HELLO + HELLO, False),
    "nothing": (b"", True),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-Le", True),
    "half a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", True),
    "half a chunk": (chunked(b"hello")[:-4], True),
    "no last chunk": (chunked(b"hello"), True),
    "bad chunk": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n", False),
    "another protocol": (b"SSH-2.0-OpenSSH_9.6\r\n", True),
    "words": (b"hello, who is there?\r\n\r\n", True),
    "another version": (b"HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\nhello", False),
    "spaces in a name": (b"HTTP/1.1 200 OK\r\nX y: a\r\nContent-Length: 5\r\n\r\nhello", False),
    "bad length": (b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", False),
    "negative length": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", False),
    "endless head": (b"HTTP/1.1 200 OK\r\n" + b"X: yyyyyyyyyyyyyyyy\r\n" * 20_000, False),
    "endless header": (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000, False),
}
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"


@in_each_loop
async def test_an_answer_does_not_unpack_to_more_than_it_may() -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "deflate": zlib.compress}
    for name, pack in packers.items():
        much = plain(pack(b" " * 10_000_000), Content_Encoding=name)
        lanes = Lanes(nobody(), most_bytes=1_000_000)
        async with Rough(saying(much)) as server, httpx2.AsyncClient(transport=lanes) as client:
            assert len(much) < 20_000
            with pytest.raises(TooMuch):
                await client.get(server.url)
            server.act = saying(plain(pack(b" " * 1_000_000), Content_Encoding=name))
            assert len((await client.get(server.url)).content) == 1_000_000


@pytest.mark.parametrize(
    "start", [b"0\r\n", b"0\r\nX: ", b"2;"], ids=["trailers", "a trailer", "an extension"]
)
async def test_a_server_that_never_comes_back_to_the_body_is_not_listened_to(start: bytes) -> None:
    async def endless(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + start)
        for _part in range(2_000):
            writer.write(b"X: y\r\n" * 10_000 if start == b"0\r\n" else b"y" * 60_000)
            await writer.drain()

    async with Rough(endless) as server, through() as client:
        with pytest.raises(httpx2.RemoteProtocolError, match="headers without end"):
            await client.get(server.url)


async def outcome(transport: httpx2.AsyncBaseTransport, url: str) -> tuple[object, ...]:
    async with httpx2.AsyncClient(transport=transport, timeout=3) as client:
        try:
            answer = await client.post(url, content=b"{}")
        except httpx2.HTTPError as error:
            return (type(error),)
        told = answer.status_code, answer.reason_phrase, answer.http_version
        return (*told, answer.headers.raw, answer.content)


@pytest.mark.parametrize("is_slow", [False, True], ids=["at once", "in pieces"])
@pytest.mark.parametrize("name", SAYINGS)
def test_an_answer_is_what_httpx_makes_of_it(name: str, is_slow: bool) -> None:
    raw, hangs_up = SAYINGS[name]
    step = max(1, len(raw) // 7) if is_slow else len(raw) or 1
    pieces = [raw[at : at + step] for at in range(0, len(raw), step)]

    async def both() -> None:
        async with Rough(saying(*pieces, pause_s=0.002 * is_slow, hangs_up=hangs_up)) as server:
            ours = await outcome(Lanes(nobody()), server.url)
            assert ours == await outcome(httpx2.AsyncHTTPTransport(verify=nobody()), server.url)

    for make in LOOPS:
        with asyncio.Runner(loop_factory=make) as runner:
            runner.run(both())


@pytest.mark.parametrize("name", SAYINGS)
@pytest.mark.parametrize("make", LOOPS, ids=["asyncio", "quick"])
def test_whatever_was_said_the_next_request_is_answered(
    name: str, make: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    raw, hangs_up = SAYINGS[name]

    async def next_one() -> None:
        async with Rough(saying(raw, hangs_up=hangs_up)) as server, through() as client:
            failed = False
            try:
                await client.post(server.url, content=b"{}")
            except httpx2.TransportError:
                failed = True
            except httpx2.DecodingError:
                pass
            server.act = saying(HELLO)
            assert (await client.get(server.url)).text == "hello"
            assert server.made == 2 or not failed

    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(next_one())


@in_each_loop
async def test_an_answer_to_head_has_no_body() -> None:
    async with Rough(saying(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")) as server, through() as client:
        for _ in range(2):
            answer = await client.head(server.url)
            assert (answer.content, answer.headers["content-length"]) == (b"", "5")


@in_each_loop
async def test_a_request_is_sent_as_httpx_sends_it() -> None:
    async with Rough(saying(HELLO)) as server:
        for transport in (Lanes(nobody()), httpx2.AsyncHTTPTransport(verify=nobody())):
            async with httpx2.AsyncClient(transport=transport, timeout=5) as client:
                await client.post(
                    f"{server.url}/a%20b/ü?q=1&q=ü", json={"a": "ä"}, headers={"X-Key": "k e y"}
                )
                await client.post(server.url, content=b"y" * 1_000_000)
                await client.get(server.url)
                await client.post(server.url, content=pieces())
        requests = [(heard.line, heard.headers, heard.body) for heard in server.heard]
        assert requests[:4] == requests[4:]
        assert requests[3][2] == b"one, two"


async def pieces() -> AsyncIterator[bytes]:
    for piece in (b"one, ", b"", b"two"):
        yield piece


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", " a", "a ", "a\x00b"])
async def test_a_header_that_cannot_be_sent_is_refused_and_not_repeated(value: str) -> None:
    async with Rough(saying(HELLO)) as server, through() as client:
        with pytest.raises(httpx2.LocalProtocolError) as refused:
            await client.get(server.url, headers={"Authorization": value})
        assert "evil" not in str(refused.value).lower()
        assert (await client.get(server.url)).text == "hello"
        assert len(server.heard) == 1

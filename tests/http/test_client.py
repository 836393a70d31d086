"""The engines' client: connections kept alive, odd servers, bounds, certificates and proxies."""

import asyncio
import gzip
import random
import ssl
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from standins.certificate import Certified
from standins.raw_server import (
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

from fathom.errors import Refused
from fathom.http.client import BodyTooLarge, environment_proxy, send_request, shared_client, tls_context

CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_TransportError = httpx2.TransportError
# What a server may say, whether it hangs up then, and the body, or the error, that it comes to.
SAYINGS: dict[str, tuple[bytes, bool, bytes | type[httpx2.HTTPError]]] = {
    "whole": (HELLO, False, b"hello"),
    "empty": (plain(b""), False, b""),
    "big": (plain(bytes(range(256)) * 8_000), False, bytes(range(256)) * 8_000),
    "compressed": (plain(gzip.compress(b"hello " * 999), Content_Encoding="gzip"), False, b"hello " * 999),
    "badly compressed": (plain(b"hello", Content_Encoding="gzip"), False, httpx2.DecodingError),
    "chunked": (chunked(b"hel", b"l" * 70_000, b"o", b""), False, b"hel" + b"l" * 70_000 + b"o"),
    "chunks with extras": (
        CHUNKS + b"2;a=b\r\nhe\r\n3 \r\nllo\r\n0\r\nX-End: 1\r\n\r\n",
        False,
        b"hello",
    ),
    "to the end": (b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nhello", True, b"hello"),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", False, b"hello"),
    "old to the end": (b"HTTP/1.0 200 OK\r\n\r\n" + b"hello" * 99_999, True, b"hello" * 99_999),
    "its last": (plain(b"hello", Connection="close"), True, b"hello"),
    "in advance": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n" + HELLO,
        False,
        b"hello",
    ),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", False, b""),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello", False, b"hello"),
    "bare lines": (b"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", False, b"hello"),
    "folded": (b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\nhello", False, b"hello"),
    "another tongue": (
        b"HTTP/1.1 200 OK\r\nX: \xc3\xa9\r\nContent-Length: 5\r\n\r\nhello",
        False,
        b"hello",
    ),
    "moved without a place": (plain(b"there", "302 Found"), False, b"there"),
    "more than asked for": (HELLO + HELLO, False, b"hello"),
    "nothing": (b"", True, _TransportError),
    "half a head": (b"HTTP/1.1 200 OK\r\nContent-Le", True, _TransportError),
    "half a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", True, _TransportError),
    "half a chunk": (chunked(b"hello")[:-4], True, _TransportError),
    "no last chunk": (chunked(b"hello"), True, _TransportError),
    "bad chunk": (CHUNKS + b"zz\r\nhello\r\n", False, _TransportError),
    "another protocol": (b"SSH-2.0-OpenSSH_9.6\r\n", True, _TransportError),
    "words": (b"hello, who is there?\r\n\r\n", True, _TransportError),
    "bad length": (b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", False, _TransportError),
    "negative length": (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", False, _TransportError),
    "endless head": (b"HTTP/1.1 200 OK\r\n" + b"X: yyyyyyyyyyyyyyyy\r\n" * 20_000, False, _TransportError),
    "endless header": (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 400_000, False, _TransportError),
}


async def get(url: str, **words: Any) -> httpx2.Response:
    return await send_request("GET", url, max_bytes=5_000_000, **{"timeout": 5.0, **words})


async def slowly(heard: Heard, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.05)
    writer.write(HELLO)


@in_each_loop
async def test_one_request_after_another_has_one_connection() -> None:
    async with Rough(saying(HELLO)) as server:
        for _ in range(5):
            assert (await get(server.url)).text == "hello"
        assert (server.made, server.open) == (1, 1)


@in_each_loop
async def test_requests_at_once_have_a_connection_each_and_later_ones_take_them() -> None:
    async with Rough(slowly) as server:
        for _ in range(2):
            await asyncio.gather(*(get(server.url) for _ in range(4)))
        assert server.made == server.open == 4


@pytest.mark.parametrize("make", LOOPS, ids=["asyncio", "quick"])
async def test_the_connections_of_a_loop_are_closed_with_it(
    make: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    def ask(url: str) -> int:
        async def twice() -> int:
            await asyncio.gather(get(url), get(url))
            return id(await shared_client())

        with asyncio.Runner(loop_factory=make) as runner:
            return runner.run(twice())

    async with Rough(slowly) as server:
        for _ in range(2):  # and the next loop has a client of its own
            await asyncio.to_thread(ask, server.url)
            assert await settled(lambda: server.open == 0)
        assert server.made == 4


@in_each_loop
async def test_a_connection_that_the_server_closed_is_made_anew_and_nothing_is_asked_twice() -> None:
    async with Rough(saying(HELLO)) as server:
        for _ in range(20):
            assert (await get(server.url)).text == "hello"
            server.hang_up()  # the client's loop has not heard of it when it asks again
        assert (server.made, len(server.heard)) == (20, 20)


@in_each_loop
async def test_who_is_cut_off_leaves_no_connection() -> None:
    async def never(_: Heard, __: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with Rough(never) as server:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await get(server.url)
        server.act = saying(HELLO)
        assert (await get(server.url)).text == "hello"
        assert server.heard[-1].connection == 2


@pytest.mark.parametrize("is_slow", [False, True], ids=["at once", "in pieces"])
@pytest.mark.parametrize("name", SAYINGS)
async def test_whatever_a_server_says_is_an_answer_or_an_error_and_the_next_request_is_answered(
    name: str, is_slow: bool
) -> None:
    raw, hangs_up, expected = SAYINGS[name]
    step = max(1, len(raw) // 7) if is_slow else len(raw) or 1
    pieces = [raw[at : at + step] for at in range(0, len(raw), step)]
    async with Rough(saying(*pieces, pause_s=0.002 * is_slow, hangs_up=hangs_up)) as server:
        if isinstance(expected, bytes):
            assert (await get(server.url)).content == expected
        else:
            with pytest.raises(expected):
                await get(server.url)
        server.act = saying(HELLO)
        assert (await get(server.url)).text == "hello"


async def test_an_answer_keeps_its_status_and_headers() -> None:
    said = plain(b'{"error": "slow down"}', "429 Too Many", Retry_After="3", X_Twice="1", x_twice="2")
    async with Rough(saying(said)) as server:
        answer = await get(server.url)
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")
    assert answer.headers.get_list("x-twice") == ["1", "2"]


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_an_answer_does_not_unpack_to_more_than_it_may(
    name: str, pack: Callable[[bytes], bytes]
) -> None:
    much = plain(pack(b" " * 10_000_000), Content_Encoding=name)
    assert len(much) < 20_000
    async with Rough(saying(much)) as server:
        with pytest.raises(BodyTooLarge):
            await send_request("GET", server.url, max_bytes=1_000_000)
        server.act = saying(plain(pack(b" " * 1_000_000), Content_Encoding=name))
        assert len((await send_request("GET", server.url, max_bytes=1_000_000)).content) == 1_000_000


async def test_what_follows_a_compressed_answer_is_not_taken_in_for_ever() -> None:
    said = plain(gzip.compress(b"words") + b"x" * 200_000, Content_Encoding="gzip")
    async with Rough(saying(said)) as server:
        with pytest.raises(BodyTooLarge):
            await send_request("GET", server.url, max_bytes=100_000)


@pytest.mark.parametrize(
    "start", [b"0\r\n", b"0\r\nX: ", b"2;"], ids=["trailers", "a trailer", "an extension"]
)
async def test_a_server_that_never_comes_back_to_the_body_is_not_listened_to(start: bytes) -> None:
    async def endless(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKS + b"2\r\nhi\r\n" + start)
        for _part in range(2_000):
            writer.write(b"X: y\r\n" * 10_000 if start == b"0\r\n" else b"y" * 60_000)
            await writer.drain()

    async with Rough(endless) as server:
        with pytest.raises(httpx2.RemoteProtocolError):
            await get(server.url)


@in_each_loop
async def test_who_says_nothing_or_stops_in_the_middle_is_not_waited_for() -> None:
    for said in (b"", b"HTTP/1.1 200 OK\r\n", HELLO[:-1], chunked(b"hello")):
        async with Rough(saying(said)) as server:
            with pytest.raises(httpx2.ReadTimeout):
                await get(server.url, timeout=0.1)
            assert await settled(lambda server=server: server.open == 0)  # type: ignore[misc]


async def test_nobody_there_is_no_connection() -> None:
    with pytest.raises(httpx2.ConnectError):
        await get(f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(httpx2.UnsupportedProtocol):
        await get("ftp://127.0.0.1")
    with deaf_port() as port, pytest.raises(httpx2.ConnectTimeout):
        await get(f"http://127.0.0.1:{port}", timeout=httpx2.Timeout(5, connect=0.1))


@in_each_loop
async def test_a_no_that_comes_while_the_request_is_still_sent_is_heard() -> None:
    async def no(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(plain(b"too much", "413 Too Large", Connection="close"))
        await asyncio.sleep(0.1)  # it reads on, so that its words are not lost with the connection
        while await reader.read(1_000_000):
            pass

    async with serving(no, "127.0.0.1") as port:
        words = {"content": b"y" * 5_000_000, "timeout": 5.0}
        answer = await send_request("POST", f"http://127.0.0.1:{port}", max_bytes=1000, **words)
        assert answer.status_code == 413


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", " a", "a ", "a\x00b"])
async def test_a_header_that_cannot_be_sent_is_refused(value: str) -> None:
    async with Rough(saying(HELLO)) as server:
        with pytest.raises(httpx2.LocalProtocolError):
            await get(server.url, headers={"Authorization": value})
        assert (await get(server.url)).text == "hello"
        assert len(server.heard) == 1


async def test_cookies_are_not_kept() -> None:
    async with Rough(saying(plain(b"hello", Set_Cookie="id=1; Path=/"))) as server:
        await get(server.url)
        await get(server.url)
        assert "cookie" not in server.heard[1].headers


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
async def test_requests_that_are_cut_off_at_any_moment_harm_no_other() -> None:
    chance = random.Random(5)
    outcomes: Counter[str] = Counter()

    async def one(url: str, number: int) -> None:
        await asyncio.sleep(chance.random() * 0.3)
        body = f"{number}" * 20
        try:
            async with asyncio.timeout(chance.choice([0.0, 0.001, 0.005, 20.0, 20.0])):
                answer = await send_request("POST", url, max_bytes=10_000, content=body)
        except TimeoutError:
            outcomes["cut off"] += 1
        else:
            outcomes["answered" if answer.text == body else "wrong"] += 1

    async with Rough(echoing) as server:
        await asyncio.gather(*(one(server.url, n) for n in range(200)))
        server.act = saying(HELLO)
        assert (await get(server.url)).text == "hello"
        assert server.intrusions == 0
    assert outcomes["wrong"] == 0
    assert outcomes["cut off"] > 20
    assert outcomes["answered"] > 50


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Certified]:
    """A certificate that this process believes, as an operator says it: by SSL_CERT_FILE."""
    made = Certified(tmp_path)
    (tmp_path / "believed.pem").write_text(made.believed)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "believed.pem"))
    tls_context.cache_clear()
    yield made
    tls_context.cache_clear()


async def test_an_encrypted_connection_is_used_again(certified: Certified) -> None:
    async with Rough(saying(plain(bytes(range(256)) * 4_000)), certificate=certified.server) as server:
        for _ in range(3):
            answer = await send_request("POST", server.url, max_bytes=2_000_000, content=b"y" * 300_000)
            assert len(answer.content) == 1_024_000
        assert server.made == 1


async def test_certificates_are_read_once_a_process() -> None:
    assert tls_context() is tls_context()


async def test_a_certificate_for_another_name_is_not_believed(certified: Certified) -> None:
    async with Rough(saying(HELLO), certificate=certified.server, host="127.0.0.2") as server:
        with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await get(server.url)


async def test_whoever_shows_a_certificate_that_nobody_believes_is_not_asked(tmp_path: Path) -> None:
    async with Rough(saying(HELLO), certificate=Certified(tmp_path).server) as server:
        with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            await get(server.url)
        assert not server.heard


@pytest.mark.parametrize("words", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
async def test_whoever_does_not_speak_tls_is_no_connection(words: bytes) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(words)

    async with serving(answer, "127.0.0.1") as port:
        with pytest.raises(httpx2.ConnectError):
            await get(f"https://127.0.0.1:{port}")


async def test_what_somebody_on_the_way_says_before_the_encryption_is_not_the_answer(
    certified: Certified,
) -> None:
    async def intruded(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(plain(b"evil"))
        await writer.drain()
        with pytest.raises((ssl.SSLError, OSError)):
            await writer.start_tls(certified.server)

    async with serving(intruded, "127.0.0.1") as port:
        with pytest.raises(httpx2.ConnectError):
            await get(f"https://127.0.0.1:{port}")


async def test_a_request_goes_through_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Rough(saying(HELLO)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert (await get("http://engine.example/search?q=1")).text == "hello"
        assert proxy.heard[0].line == "GET http://engine.example/search?q=1 HTTP/1.1"


async def test_an_encrypted_request_asks_the_proxy_for_a_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Rough(saying(plain(b"", "403 Forbidden"))) as proxy:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        with pytest.raises(httpx2.ProxyError):
            await get("https://engine.example/")
        assert proxy.heard[0].line == "CONNECT engine.example:443 HTTP/1.1"


@pytest.mark.parametrize("is_named", [True, False], ids=["NO_PROXY", "this machine"])
async def test_no_proxy_and_this_machine_are_asked_directly(
    monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    host = "127.0.0.3" if is_named else "127.0.0.1"
    async with Rough(saying(plain(b"evil"))) as proxy, Rough(saying(HELLO), host=host) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.3" if is_named else "elsewhere.example")
        assert (await get(server.url)).text == "hello"
        assert not proxy.heard


async def test_a_proxy_that_is_none_is_told_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "carrier://me:secret@proxy.example")
    with pytest.raises(Refused, match="ALL_PROXY is not the address of a proxy") as refused:
        await get("http://engine.example/")
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://engine.example/", "http://plain.example:3128"),
        ("https://engine.example/", "http://other.example"),
        ("https://inside.example/", None),
        ("http://localhost:8080/", None),
        ("http://[::1]/", None),
    ],
)
def test_the_proxy_of_an_address_is_found(
    monkeypatch: pytest.MonkeyPatch, url: str, proxy: str | None
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "plain.example:3128")
    monkeypatch.setenv("ALL_PROXY", "http://other.example")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert environment_proxy(url) == proxy

"""Tests of guarded fetching, against a real server on loopback."""

import asyncio
import gzip
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.http.fetch import Fetcher

OPEN = Fetcher(is_private_allowed=True, limit_s=5)


class Names:
    """A resolver with a fixed book of names; remembers who was asked for."""

    def __init__(self, **cost_log: list[str]) -> None:
        self.cost_log = {name.replace("_", "."): ips for name, ips in cost_log.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        return self.cost_log[host]


async def test_a_page_is_fetched_with_its_type_and_an_honest_name(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"words", headers={"Content-Type": "text/plain"})
    fetched = await OPEN(f"{site.url}/a")
    assert (fetched.body, fetched.content_type, fetched.address) == (b"words", "text/plain", f"{site.url}/a")
    assert site.seen[0][1]["User-Agent"].startswith("fathom-research/")


async def test_loopback_is_refused_unless_the_operator_asks(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"words")
    with pytest.raises(
        Refused, match=f"{site.url}/a is refused: 127.0.0.1 leads to an address that is not public"
    ):
        await Fetcher()(f"{site.url}/a")
    assert site.seen == []


async def test_the_connection_goes_to_the_address_that_was_checked(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"words")
    names = Names(pinned_example=["127.0.0.1"])
    fetcher = Fetcher(resolve=names, is_private_allowed=True)
    await fetcher(f"http://pinned.example:{site.port}/a")
    assert names.asked == ["pinned.example"]
    assert site.seen[0][1]["Host"] == f"pinned.example:{site.port}"


async def test_redirects_are_followed_and_the_last_address_is_told(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(status=302, headers={"Location": "b?x=1"})
    site.pages["/b?x=1"] = reply(b"there")
    assert (await OPEN(f"{site.url}/a")).address == f"{site.url}/b?x=1"


async def test_a_redirect_loop_ends(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(status=302, headers={"Location": "/a"})
    with pytest.raises(Unreadable, match="redirects more than 5 times"):
        await OPEN(f"{site.url}/a")
    assert len(site.seen) == 6


@pytest.mark.parametrize("place", ["http://[::1", "http://[bad]/", "//["])
async def test_a_redirect_to_what_is_no_address_is_refused(site: Any, reply: Any, place: str) -> None:
    site.pages["/a"] = reply(status=302, headers={"Location": place})
    with pytest.raises(Refused, match="which is not a web address"):
        await OPEN(f"{site.url}/a")


async def test_what_follows_a_compressed_page_is_not_taken_in_for_ever(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(gzip.compress(b"words") + b"x" * 20_000, headers={"Content-Encoding": "gzip"})
    assert (await OPEN(f"{site.url}/a")).body == b"words"
    with pytest.raises(Unreadable, match="is larger than 10,000 bytes"):
        await replace(OPEN, max_bytes=10_000)(f"{site.url}/a")


async def test_cookies_are_not_kept(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(status=302, headers={"Location": "/b", "Set-Cookie": "id=1"})
    site.pages["/b"] = reply(b"ok")
    await OPEN(f"{site.url}/a")
    assert "Cookie" not in site.seen[1][1]


async def test_a_mark_of_a_page_goes_back_as_it_came(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(status=304)
    assert (await OPEN(f"{site.url}/a", {"If-None-Match": '"é"'})).status == 304
    assert site.seen[0][1]["If-None-Match"].encode("latin-1").decode() == '"é"'


async def test_a_body_that_is_too_large_is_unreadable(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"x" * 2001)
    with pytest.raises(Unreadable, match="is larger than 2,000 bytes"):
        await Fetcher(is_private_allowed=True, max_bytes=2000)(f"{site.url}/a")


PACKERS: list[tuple[str, Callable[[bytes], bytes]]] = [("gzip", gzip.compress), ("deflate", zlib.compress)]


@pytest.mark.parametrize(("name", "pack"), PACKERS)
async def test_compressed_pages_are_opened(
    site: Any, reply: Any, name: str, pack: Callable[[bytes], bytes]
) -> None:
    site.pages["/a"] = reply(pack(b"words" * 500), headers={"Content-Encoding": name})
    assert (await OPEN(f"{site.url}/a")).body == b"words" * 500


@pytest.mark.parametrize(("name", "pack"), PACKERS)
async def test_a_compressed_bomb_is_bounded(
    site: Any, reply: Any, name: str, pack: Callable[[bytes], bytes]
) -> None:
    site.pages["/a"] = reply(pack(b"\0" * 20_000_000), headers={"Content-Encoding": name})
    with pytest.raises(Unreadable, match="is larger than"):
        await Fetcher(is_private_allowed=True, max_bytes=1_000_000)(f"{site.url}/a")


@pytest.mark.parametrize(
    ("encoding", "said"),
    [("gzip", "compressed wrongly"), ("br", "not asked for"), ("zstd, gzip", "not asked for")],
)
async def test_a_wrong_compression_is_unreadable(site: Any, reply: Any, encoding: str, said: str) -> None:
    site.pages["/a"] = reply(b"plain words", headers={"Content-Encoding": encoding})
    with pytest.raises(Unreadable, match=said):
        await OPEN(f"{site.url}/a")


async def test_a_slow_server_is_unavailable_soon(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"late", pause_s=5)
    started = time.perf_counter()
    with pytest.raises(Unavailable, match=r"did not answer within 0\.2 s"):
        await Fetcher(is_private_allowed=True, limit_s=0.2)(f"{site.url}/a")
    assert time.perf_counter() - started < 2


async def test_a_server_that_hangs_up_is_unavailable(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"half", headers={"Content-Length": "1000", "Connection": "close"})
    with pytest.raises(Unavailable, match="cannot be reached"):
        await Fetcher(is_private_allowed=True, limit_s=2)(f"{site.url}/a")


async def test_nobody_listening_is_unavailable(site: Any) -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        await OPEN("http://127.0.0.1:1/")


async def test_an_unknown_name_is_unavailable() -> None:
    with pytest.raises(Unavailable, match=r"no-such-name\.invalid cannot be found"):
        await Fetcher()("http://no-such-name.invalid/")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, Refused),
        (403, Refused),
        (451, Refused),
        (404, Unreadable),
        (410, Unreadable),
        (418, Unreadable),
        (204, Unreadable),
        (429, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
async def test_each_status_tells_who_can_act(
    site: Any, reply: Any, status: int, error: type[ProviderError]
) -> None:
    site.pages["/a"] = reply(status=status)
    with pytest.raises(error, match=f"{site.url}/a answered {status}") as caught:
        await OPEN(f"{site.url}/a")
    assert type(caught.value) is error


@pytest.mark.parametrize(
    ("header", "low", "high"), [("7", 7, 7), ("date", 50, 60), ("Fri, 01 Jan 2021 00:00:00 GMT", 0, 0)]
)
async def test_the_wish_to_wait_is_kept(site: Any, reply: Any, header: str, low: float, high: float) -> None:
    if header == "date":
        header = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    site.pages["/a"] = reply(status=429, headers={"Retry-After": header})
    with pytest.raises(Unavailable) as caught:
        await OPEN(f"{site.url}/a")
    assert caught.value.wait_s is not None
    assert low <= caught.value.wait_s <= high


async def test_a_senseless_wish_to_wait_is_ignored(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(status=503, headers={"Retry-After": "soon"})
    with pytest.raises(Unavailable) as caught:
        await OPEN(f"{site.url}/a")
    assert caught.value.wait_s is None


async def test_many_fetches_run_side_by_side(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"words", pause_s=0.2)
    started = time.perf_counter()
    await asyncio.gather(*(OPEN(f"{site.url}/a") for _ in range(10)))
    assert time.perf_counter() - started < 1.5

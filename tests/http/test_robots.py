"""Tests of manners: robots.txt and taking turns at a host, against a real server on loopback."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from standins.server import most_at_once
from standins.web import Web, html

from fathom.errors import Refused, Unavailable
from fathom.http.fetch import Fetcher, HostLimiter, RobotsGate, RobotsRules, make_polite

OPEN = Fetcher(is_private_allowed=True, limit_s=5)


def obedient(pause_s: float = 0.0) -> Fetcher:
    return make_polite(OPEN, pause_s=pause_s)


def paths(site: Any) -> list[str]:
    return [path for path, _ in site.seen]


async def test_what_robots_txt_forbids_is_refused_and_never_asked_for(site: Any, reply: Any) -> None:
    site.pages["/robots.txt"] = reply(b"User-agent: *\nDisallow: /private\nAllow: /private/open\n")
    site.pages["/private/open"] = reply(b"words")
    fetch = obedient()
    with pytest.raises(Refused, match=r"robots\.txt of 127\.0\.0\.1 does not allow .*/private/a to be read"):
        await fetch(f"{site.url}/private/a")
    assert (await fetch(f"{site.url}/private/open")).body == b"words"
    assert paths(site) == ["/robots.txt", "/private/open"]


async def test_rules_for_us_beat_rules_for_all(site: Any, reply: Any) -> None:
    site.pages["/robots.txt"] = reply(
        b"User-agent: *\nDisallow: /\n\nUser-agent: Fathom-Research\nDisallow:\n"
    )
    site.pages["/a"] = reply(b"words")
    assert (await obedient()(f"{site.url}/a")).body == b"words"


@pytest.mark.parametrize("status", [401, 403, 404, 410])
async def test_a_host_without_robots_txt_allows_everything(site: Any, reply: Any, status: int) -> None:
    site.pages["/robots.txt"] = reply(b"Disallow: /", status=status)
    site.pages["/a"] = reply(b"words")
    assert (await obedient()(f"{site.url}/a")).body == b"words"


@pytest.mark.parametrize("status", [500, 503, 429])
async def test_a_host_that_cannot_be_asked_is_left_alone_for_now(site: Any, reply: Any, status: int) -> None:
    site.pages["/robots.txt"] = reply(status=status)
    site.pages["/a"] = reply(b"words")
    with pytest.raises(Unavailable, match=rf"/a was not fetched.*robots\.txt answered {status}"):
        await obedient()(f"{site.url}/a")
    assert paths(site) == ["/robots.txt"]


async def test_a_host_that_has_recovered_is_asked_again(site: Any, reply: Any) -> None:
    now = 0.0
    robots = RobotsRules(OPEN, clock=lambda: now)
    site.pages["/robots.txt"] = reply(status=500)
    with pytest.raises(Unavailable):
        await robots.pause_s(f"{site.url}/a")
    site.pages["/robots.txt"] = reply(b"")
    now = 2.0
    assert await robots.pause_s(f"{site.url}/a") == 0


async def test_robots_txt_is_asked_for_once_a_day(site: Any, reply: Any) -> None:
    now = 0.0
    robots = RobotsRules(OPEN, clock=lambda: now)
    site.pages["/robots.txt"] = reply(b"User-agent: *\nAllow: /\n", pause_s=0.05)
    await asyncio.gather(*(robots.pause_s(f"{site.url}/{n}") for n in range(20)))
    assert paths(site) == ["/robots.txt"]
    now = 25 * 3600.0
    await robots.pause_s(f"{site.url}/a")
    assert len(site.seen) == 2


@pytest.mark.parametrize(("asked", "given"), [("2.5", 2.5), ("3600", 10), ("-4", 0), ("soon", 0)])
async def test_the_pause_a_host_wants_is_kept_up_to_ten_seconds(
    site: Any, reply: Any, asked: str, given: float
) -> None:
    site.pages["/robots.txt"] = reply(f"User-agent: *\nCrawl-delay: {asked}\n".encode())
    assert await RobotsRules(OPEN).pause_s(f"{site.url}/a") == given


async def test_every_hop_of_a_redirect_is_asked_about(site: Any, reply: Any) -> None:
    site.pages["/robots.txt"] = reply(b"User-agent: *\nDisallow: /private\n")
    site.pages["/a"] = reply(status=302, headers={"Location": "/private/a"})
    with pytest.raises(Refused, match="does not allow"):
        await obedient()(f"{site.url}/a")
    assert paths(site) == ["/robots.txt", "/a"]


async def test_senseless_robots_txt_forbids_nothing(site: Any, reply: Any) -> None:
    site.pages["/robots.txt"] = reply(b"\xff\xfe<html>" + b"Disallow: /\n" * 1000)
    site.pages["/a"] = reply(b"words")
    assert (await obedient()(f"{site.url}/a")).body == b"words"


async def test_obedience_can_be_switched_off(site: Any, reply: Any) -> None:
    site.pages["/robots.txt"] = reply(b"User-agent: *\nDisallow: /\n")
    site.pages["/a"] = reply(b"words")
    fetch = make_polite(OPEN, pause_s=0, is_robots_obeyed=False)
    assert (await fetch(f"{site.url}/a")).body == b"words"
    assert paths(site) == ["/a"]


async def test_the_guard_stands_before_robots_txt(site: Any) -> None:
    with pytest.raises(Refused, match="not public"):
        await make_polite(Fetcher())(f"{site.url}/a")
    assert site.seen == []


class Counting:
    """A resolver that leads to loopback; it is asked once a connection."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked += 1
        return ["127.0.0.1"]


async def test_a_page_comes_over_the_connection_its_robots_txt_came_over() -> None:
    with Web({"/robots.txt": html(""), "/a": html("words"), "/b": html("more")}) as web:
        names = Counting()
        fetch = make_polite(Fetcher(resolve=names, is_private_allowed=True), pause_s=0.0)
        place = web.url.replace("127.0.0.1", "host.example")
        await fetch(f"{place}/a")
        assert names.asked == 1
        await fetch(f"{place}/b")  # and so does the next page of the host
        assert names.asked == 1


async def test_a_connection_that_the_server_ended_is_made_and_checked_anew() -> None:
    with Web({"/robots.txt": html(""), "/a": html("words")}) as web:
        names = Counting()
        polite_one = make_polite(Fetcher(resolve=names, is_private_allowed=True, limit_s=5), pause_s=0.0)

        @asynccontextmanager
        async def deserted(address: str) -> AsyncIterator[None]:
            async with polite_one.gate(address):
                await asyncio.to_thread(web._server.hang_up)
                yield

        fetch = replace(polite_one, gate=deserted)
        assert (await fetch(web.url.replace("127.0.0.1", "host.example") + "/a")).body == b"words"
        assert names.asked == 2


async def test_what_another_guard_lets_through_is_not_used(site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"words")
    guarded = RobotsRules(Fetcher(limit_s=5))  # may not ask loopback, though the fetch itself may
    hosts = HostLimiter(pause_s=0.0)
    fetch = Fetcher(is_private_allowed=True, limit_s=5, gate=RobotsGate(guarded, hosts).turn)
    assert (await fetch(f"{site.url}/a")).body == b"words"
    assert paths(site) == ["/a"]


async def test_a_host_serves_two_at_a_time() -> None:
    with Web({f"/{n}": html("words", delay_s=0.1) for n in range(6)}) as web:
        fetch = make_polite(OPEN, pause_s=0, is_robots_obeyed=False)
        await asyncio.gather(*(fetch(f"{web.url}/{n}") for n in range(6)))
        assert most_at_once(web.records) == 2


async def test_starts_at_a_host_are_a_pause_apart_and_hosts_do_not_wait_for_each_other() -> None:
    pages = {f"/{n}": html("words") for n in range(3)}
    with Web(pages) as one, Web(pages) as other:
        fetch = make_polite(OPEN, pause_s=0.15, is_robots_obeyed=False)
        started = time.monotonic()
        await asyncio.gather(*(fetch(f"{web.url}/{n}") for n in range(3) for web in (one, other)))
        took = time.monotonic() - started
        for web in (one, other):
            at = sorted(seen.arrived for seen in web.records)
            assert min(b - a for a, b in pairwise(at)) > 0.1
    assert took < 1.5


async def test_waiting_for_a_turn_does_not_count_as_a_slow_answer() -> None:
    with Web({"/a": html("words")}) as web:
        fetch = make_polite(
            Fetcher(is_private_allowed=True, limit_s=0.3), pause_s=0.2, is_robots_obeyed=False
        )
        found = await asyncio.gather(*(fetch(f"{web.url}/a") for _ in range(4)))
    assert [fetched.body for fetched in found] == [b"words"] * 4


async def test_a_host_may_want_a_longer_pause_than_ours(site: Any, reply: Any) -> None:
    site.pages["/robots.txt"] = reply(b"User-agent: *\nCrawl-delay: 0.3\n")
    gate = RobotsGate(RobotsRules(OPEN), HostLimiter(pause_s=0)).turn
    started = time.monotonic()
    for _ in range(2):
        async with gate(f"{site.url}/a"):
            pass
    assert 0.25 < time.monotonic() - started < 1


def test_hosts_are_forgotten_in_the_end() -> None:
    hosts = HostLimiter()
    first = hosts._host("h0.example")
    assert hosts._host("h0.example") is first
    for number in range(1, 1_200):
        hosts._host(f"h{number}.example")
    assert hosts._host("h0.example") is not first

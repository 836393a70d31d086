"""The gate in front of a model, with calls that a test holds in its hand; times are scaled down."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from fathom.errors import ProviderError, Refused, Unavailable, Unreachable
from fathom.llm.rate_limiter import ModelRetryPolicy, RateLimiter, limiter_for

pytestmark = pytest.mark.wire

T = TypeVar("T")
QUICK = ModelRetryPolicy(retries=3, outage_s=5.0, first_wait_s=0.05, most_wait_s=0.2, greeting_s=0.2)


@dataclass
class Server:
    """Serves for `takes_s`; is away for the first `away_s` after it was made."""

    takes_s: float = 0.02
    away_s: float = 0.0
    error: Unavailable = field(default_factory=lambda: Unavailable("away", status=503))
    began: float = field(default_factory=time.monotonic)
    tried: list[float] = field(default_factory=list)
    served: int = 0
    running: int = 0
    most: int = 0

    async def __call__(self) -> str:
        self.tried.append(time.monotonic() - self.began)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.running -= 1
        if time.monotonic() - self.began < self.away_s:
            raise self.error
        self.served += 1
        return "served"


async def through(limiter: RateLimiter, call: Callable[[], Awaitable[T]], policy: ModelRetryPolicy) -> T:
    """What the call returns, tried as often as the limiter allows."""
    attempt = limiter.attempt(policy)
    while not attempt.is_over:
        async with attempt:
            return await call()
    raise AssertionError("an attempt is over only by an answer or an error")


async def all_of(limiter: RateLimiter, server: Callable[[], Awaitable[str]], count: int) -> list[object]:
    calls = (through(limiter, server, QUICK) for _ in range(count))
    return list(await asyncio.gather(*calls, return_exceptions=True))


async def test_no_more_calls_than_allowed_are_under_way() -> None:
    server = Server()
    assert await all_of(RateLimiter(4), server, 20) == ["served"] * 20
    assert server.most == 4


async def test_a_model_that_is_down_for_a_while_costs_that_while_and_no_call() -> None:
    server = Server(away_s=0.8)
    assert await all_of(RateLimiter(10), server, 20) == ["served"] * 20
    taken = time.monotonic() - server.began
    assert taken < 0.8 + 2.0
    # Ten were under way when it failed; from then on one asks for all of them, with pauses.
    probes = [at for at in server.tried if at < 0.8]
    assert len(probes) <= 10 + 0.8 / 0.05
    assert server.served == 20


async def test_after_a_limit_everybody_waits_and_then_more_and_more_go() -> None:
    limited = Unavailable("slow down", wait_s=0.3, status=429)
    server = Server(away_s=0.1, error=limited, takes_s=0.03)
    assert await all_of(RateLimiter(8), server, 30) == ["served"] * 30
    later = sorted(at for at in server.tried if at > 0.1)
    assert later[0] >= 0.3
    first_alone = [at for at in later if at < later[0] + 0.02]
    assert len(first_alone) == 1
    assert len(server.tried) == 8 + 30


async def test_a_server_that_says_it_is_full_is_not_asked_until_it_is_not() -> None:
    server, limiter = Server(), RateLimiter(4)
    await through(limiter, server, QUICK)
    limiter.pause(0.3)
    await through(limiter, server, QUICK)
    assert server.tried[1] - server.tried[0] >= 0.3


async def test_a_request_that_always_fails_fails_alone_and_slows_nobody_down() -> None:
    limiter, server = RateLimiter(4), Server()
    poison = Unavailable("cannot do this one", status=500)
    tried = 0

    async def poisoned() -> str:
        nonlocal tried
        tried += 1
        await asyncio.sleep(0.06)
        raise poison

    began = time.monotonic()
    alone = asyncio.create_task(through(limiter, poisoned, QUICK))
    served = await all_of(limiter, server, 60)
    with pytest.raises(Unavailable, match="cannot do this one"):
        await alone
    assert served == ["served"] * 60
    assert tried == QUICK.retries + 1
    assert time.monotonic() - began < 3.0


async def test_who_is_cancelled_leaves_the_place_to_the_next() -> None:
    limiter, server = RateLimiter(1), Server(takes_s=0.1)
    tasks = [asyncio.create_task(through(limiter, server, QUICK)) for _ in range(4)]
    await asyncio.sleep(0.03)
    tasks[0].cancel()
    tasks[2].cancel()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(found) for found in done] == [asyncio.CancelledError, str, asyncio.CancelledError, str]
    assert server.most == 1
    assert await through(limiter, server, QUICK) == "served"


async def test_who_waits_longest_goes_next() -> None:
    limiter, order = RateLimiter(1), list[int]()

    def numbered(number: int) -> Callable[[], Awaitable[int]]:
        async def call() -> int:
            order.append(number)
            await asyncio.sleep(0.005)
            return number

        return call

    await asyncio.gather(*(through(limiter, numbered(n), QUICK) for n in range(10)))
    assert order == list(range(10))


async def test_a_model_that_stays_away_is_given_up_by_all_at_once() -> None:
    patience = ModelRetryPolicy(retries=3, outage_s=0.4, first_wait_s=0.05, most_wait_s=0.1)
    limiter, server = RateLimiter(3), Server(away_s=60.0)
    calls = (through(limiter, server, patience) for _ in range(20))
    began = time.monotonic()
    done = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(error, Unavailable) and "away" in str(error) for error in done)
    assert time.monotonic() - began < 2.0
    assert len(server.tried) < 20
    server.away_s = 0.0
    await asyncio.sleep(0.05)  # it is left alone for a tenth of the patience
    assert await through(limiter, server, patience) == "served"


async def test_a_wait_longer_than_the_patience_is_not_begun() -> None:
    limiter = RateLimiter(3)
    server = Server(away_s=60.0, error=Unavailable("tomorrow", wait_s=86_400.0, status=429))
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(Unavailable, match="tomorrow"):
            await through(limiter, server, QUICK)
    assert time.monotonic() - began < 1.0
    assert len(server.tried) == 1


@pytest.mark.parametrize("wait_s", [1e12, float("inf")])
async def test_a_wait_of_years_is_no_reason_never_to_ask_again(wait_s: float) -> None:
    now = [0.0]
    limiter, errors = RateLimiter(2, clock=lambda: now[0]), [Unavailable("full", wait_s=wait_s, status=429)]

    async def call() -> str:
        if errors:
            raise errors.pop()
        return "served"

    policy = ModelRetryPolicy(retries=1, outage_s=10.0)
    with pytest.raises(Unavailable):
        await through(limiter, call, policy)
    with pytest.raises(Unavailable):  # nobody waits for it meanwhile
        await through(limiter, call, policy)
    now[0] = 601.0
    async with asyncio.timeout(5):
        assert await asyncio.gather(*(through(limiter, call, policy) for _ in range(4))) == ["served"] * 4


async def test_a_server_that_says_in_its_answer_that_it_is_full_for_years_is_asked_in_a_minute() -> None:
    now = [0.0]
    limiter = RateLimiter(2, clock=lambda: now[0])

    async def call() -> str:
        return "served"

    limiter.pause(1_799_999_999.0)  # a date where a duration should be
    now[0] = 59.0
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await through(limiter, call, ModelRetryPolicy())
    now[0] = 61.0
    async with asyncio.timeout(5):
        assert await through(limiter, call, ModelRetryPolicy()) == "served"


async def test_where_nobody_ever_listened_a_few_tries_are_enough() -> None:
    nobody = Server(away_s=60.0, error=Unreachable("nobody there"), takes_s=0.0)
    began = time.monotonic()
    with pytest.raises(Unreachable):
        await through(RateLimiter(3), nobody, QUICK)
    assert time.monotonic() - began < 2.0
    assert len(nobody.tried) >= QUICK.retries + 1


async def test_who_has_answered_once_is_waited_for_when_nobody_listens() -> None:
    limiter = RateLimiter(3)
    await through(limiter, Server(), QUICK)
    away = Server(away_s=0.6, error=Unreachable("nobody there"), takes_s=0.0)
    assert await through(limiter, away, QUICK) == "served"


async def test_without_retries_a_failure_is_final_and_nobodys_business() -> None:
    limiter, server = RateLimiter(3), Server(away_s=0.2, takes_s=0.0)
    once = ModelRetryPolicy(retries=0)
    for _ in range(3):
        with pytest.raises(Unavailable, match="away"):
            await through(limiter, server, once)
    await asyncio.sleep(0.2)
    assert await through(limiter, server, once) == "served"


@pytest.mark.parametrize("error", [Refused("wrong key"), ProviderError("odd")])
async def test_what_waiting_does_not_cure_is_not_tried_again(error: ProviderError) -> None:
    tried = 0

    async def refused() -> str:
        nonlocal tried
        tried += 1
        raise error

    with pytest.raises(type(error)):
        await through(RateLimiter(3), refused, QUICK)
    assert tried == 1


def test_two_event_loops_share_one_gate() -> None:
    limiter, server = RateLimiter(2), Server()
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.extend(asyncio.run(all_of(limiter, server, 15))))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert found == ["served"] * 45
    assert server.most <= 2


def test_a_model_has_one_gate_in_a_process_and_the_last_setting_counts() -> None:
    one = limiter_for("http://127.0.0.1:1/v1", "a", 10)
    assert limiter_for("http://127.0.0.1:1/v1", "a", 5) is one
    assert one.most == 5
    assert limiter_for("http://127.0.0.1:1/v1", "b", 5) is not one
    assert limiter_for("http://127.0.0.1:2/v1", "a", 5) is not one


async def test_more_places_are_there_at_once_unless_the_server_has_shown_that_it_takes_fewer() -> None:
    limiter, server = RateLimiter(2), Server()
    await all_of(limiter, server, 2)
    limiter.allow(20)
    await all_of(limiter, server, 20)
    assert server.most == 20
    await all_of(limiter, Server(away_s=0.1, error=Unavailable("slow down", wait_s=0.1, status=429)), 2)
    limiter.allow(40)
    later = Server()
    await all_of(limiter, later, 30)
    assert later.most < 20

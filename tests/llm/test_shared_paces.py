"""Machines that share a database take turns with engines, and wait together for a model that says 429."""

from collections.abc import Iterator

import pytest

from fathom.concurrency import PacedLock, share_paces
from fathom.errors import Unavailable
from fathom.llm.rate_limiter import ModelRetryPolicy, RateLimiter


class Paces:
    """What another machine would see."""

    def __init__(self) -> None:
        self.booked: list[tuple[str, float]] = []
        self.closed: list[tuple[str, float]] = []
        self.wait = 0.0

    async def book(self, name: str, pause_s: float) -> float:
        self.booked.append((name, pause_s))
        return 0.0

    async def close(self, name: str, wait_s: float) -> None:
        self.closed.append((name, wait_s))

    async def wait_s(self, name: str) -> float:
        return self.wait


@pytest.fixture
def paces() -> Iterator[Paces]:
    shared = Paces()
    share_paces(shared)
    yield shared
    share_paces(None)


async def test_a_pause_is_booked_for_all_machines(paces: Paces) -> None:
    async with PacedLock("engine x").turn(0.01):
        pass
    async with PacedLock("engine x").turn(0.0):
        pass
    async with PacedLock().turn(0.01):
        pass
    assert paces.booked == [("engine x", 0.01)]


async def test_what_a_server_asked_of_one_machine_all_wait_for(paces: Paces) -> None:
    told, heard = RateLimiter(name="model"), RateLimiter(name="model")
    attempt = told.attempt(ModelRetryPolicy())
    async with attempt:
        raise Unavailable("full", wait_s=0.05, status=429)
    assert paces.closed == [("model", 0.05)]
    paces.wait = 0.05
    before = heard._open_at
    async with heard.attempt(ModelRetryPolicy()):
        assert heard._open_at > before

"""Paying for requests that are sent deep inside an engine: whoever sends one finds the run's meter around it.

Does not know engines. Each request is set aside by itself, so that a second page or a second try is counted
as what it is.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

import httpx2

from fathom.budget.budget import Budget, Reservation
from fathom.errors import BadQuery, ProviderError, Refused, Unreachable
from fathom.storage.records import PaidCall

T = TypeVar("T")
NO_ANSWER_IN_TIME = frozenset({504, 524})  # a gateway's words; behind it the work may have been done
# There was no connection to send it on: nobody can have worked for it, and nobody is paid.
UNSENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True)
class Meter:
    """Who pays for requests, for what, and how much for each."""

    budget: Budget
    call: PaidCall
    usd: float


_current_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def use_meter(meter: Meter | None) -> Iterator[None]:
    """Requests sent in here are paid for by this meter; with None, by nobody."""
    token = _current_meter.set(meter)
    try:
        yield
    finally:
        _current_meter.reset(token)


@asynccontextmanager
async def reserve_request(usd: float | None = None) -> AsyncIterator[Reservation]:
    """One request: its price is set aside before it is sent; OutOfBudget when there is too little left.

    Whoever sends it settles or releases it; left without a word, it stays counted.
    """
    meter = _current_meter.get()
    if meter is None:
        yield Reservation.nothing()
        return
    price = meter.usd if usd is None else usd
    async with await meter.budget.reserve(meter.call, price, is_writing=False) as hold:
        yield hold


async def charge_request(ask: Callable[[], Awaitable[T]]) -> T:
    """The answer to one request, paid for when it is answered, or when it may have been."""
    async with reserve_request() as hold:
        try:
            found = await ask()
        except ProviderError as error:
            if was_surely_refused(error):
                await hold.release()
            raise
        await hold.settle(hold.usd)
        return found


def was_surely_refused(error: ProviderError) -> bool:
    """Whether it is sure that nobody worked for a request that ended so: it never left, or was told no."""
    if error.status is not None:
        return error.status not in NO_ANSWER_IN_TIME
    return isinstance(error, Unreachable | Refused | BadQuery)

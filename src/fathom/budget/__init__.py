"""The budget of a run: no call is sent that could cost more than is left.

Before a call its worst case is reserved in the database; afterwards the line is settled with the real cost.
A refused call costs nothing. A call with an unknown outcome (timeout, cancellation, killed process) stays at
its worst case. Engines pay for the requests they send through the current meter (`use_meter`).
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self, TypeVar

from typing_extensions import TypeIs

from fathom.concurrency import PerLoop
from fathom.errors import BadQuery, OutOfBudget, ProviderError, Refused, Unreachable
from fathom.state import Cost
from fathom.storage.records import NANO, PaidCall, to_nano
from fathom.storage.run_tables import CostTable

WRITING_ROLES = frozenset({"outline", "write", "check"})
SEARCH_ROLE = "search"
NO_ANSWER_IN_TIME = frozenset({504, 524})  # a gateway's words; behind it the work may have been done
T = TypeVar("T")


@dataclass
class _CallsInFlight:
    """What this event loop has reserved for calls in flight, for one run."""

    amount: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    # Comparing the stored sum with the calls in flight must not be interrupted by another reservation.
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def drop(self, amount: int) -> None:
        self.amount -= amount
        self.changed.set()  # waiters check again; later waiters wait for the next change
        self.changed = asyncio.Event()


_calls_in_flight: PerLoop[dict[str, _CallsInFlight]] = PerLoop(dict)


@dataclass
class Reservation:
    """The reservation for one call: settled, released, or else kept at its worst case."""

    costs: CostTable | None
    run: str
    call: PaidCall
    line: int | None  # None: the call cannot cost anything
    amount: int
    in_flight: _CallsInFlight

    @classmethod
    def nothing(cls) -> Self:
        """Return a reservation that costs nothing, where there is no budget."""
        return cls(None, "", PaidCall("", "", ""), None, 0, _CallsInFlight())

    @property
    def usd(self) -> float:
        """What the call may cost at most."""
        return self.amount / NANO

    async def settle(self, usd: float, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """Book the cost of an answered call; note an engine that cost more than was reserved."""
        usd = max(0.0, usd)  # a cost is never negative
        if self.costs and self.line is None:
            await self.costs.add(self.run, self.call, to_nano(usd), tokens_in, tokens_out)
        elif self.costs and self.line is not None:
            await self.costs.settle(self.line, to_nano(usd), tokens_in, tokens_out)
            if self.call.role == SEARCH_ROLE and to_nano(usd) > self.amount:
                await self.costs.mark_overspent(self.run, self.call.model, to_nano(usd), self.amount)

    async def release(self) -> None:
        """Release the reservation of a call that was refused or never sent."""
        if self.costs and self.line is not None:
            await self.costs.release(self.line)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.in_flight.drop(self.amount)


class PaidFromBudget(Protocol):
    """A model, or engines, whose calls cost money."""

    def within(self, budget: "Budget") -> Self:
        """The same, paying from this budget."""


def is_paid_from_budget(who: object) -> TypeIs[PaidFromBudget]:
    """Whether an object's calls cost money."""
    return hasattr(who, "within")  # asked for every task; to ask a protocol takes long


@dataclass(frozen=True)
class Account:
    """What a run has spent or reserved, and whether further research was refused."""

    usd: float
    is_out: bool


@dataclass(frozen=True)
class Budget:
    """One run's money; `reserve_share` of the budget is for writing the report."""

    costs: CostTable
    run: str
    budget_usd: float
    reserve_share: float = 0.15

    async def reserve(
        self, call: PaidCall, worst_usd: float, is_writing: bool, *, least_usd: float | None = None
    ) -> Reservation:
        """Reserve the worst case, or raise OutOfBudget; use it with `async with`.

        While other calls of the run are on their way, which may cost less than they could, it waits for
        them. When less than the worst case is left in the end, `least_usd` is taken if that is enough.
        An engine that cost more than was reserved is not asked again in this run.
        """
        receipts = _current_receipts.get()
        if receipts is not None:
            receipts.asked[call.name] = (self, call)
        if call.role == SEARCH_ROLE and (why := (await self.overspent()).get(call.model)):
            raise OutOfBudget(why)
        in_flight = _calls_in_flight().setdefault(self.run, _CallsInFlight())
        most, least = to_nano(worst_usd), to_nano(worst_usd if least_usd is None else least_usd)
        if most == 0:
            return Reservation(self.costs, self.run, call, None, 0, in_flight)
        while True:
            changed = in_flight.changed
            async with in_flight.turn:
                held = await self._held(call, most, least, self._limit(is_writing), in_flight, changed)
            if held is not None:
                return held
            await changed.wait()

    async def _held(
        self,
        call: PaidCall,
        most: int,
        least: int,
        limit: int,
        in_flight: _CallsInFlight,
        changed: asyncio.Event,
    ) -> Reservation | None:
        """Return a reservation, or None if calls in flight may still free enough; else raise OutOfBudget."""
        found = await self._written(call, most, most, limit)
        if isinstance(found, int):
            settled = found - in_flight.amount  # or less: it may just have been settled
            is_less_enough = found + least <= limit
            if in_flight.amount and settled + (most if is_less_enough else least) <= limit:
                return None
            found = await self._written(call, most, least, limit)
        if isinstance(found, int):
            if changed.is_set():
                return None
            raise await self._refused(call)
        line, amount = found
        in_flight.amount += amount
        return Reservation(self.costs, self.run, call, line, amount, in_flight)

    async def _written(self, call: PaidCall, most: int, least: int, limit: int) -> tuple[int, int] | int:
        """Write the reservation; if the caller is cancelled meanwhile, remove it again.

        The write itself cannot be stopped once it has started.
        """
        writing = asyncio.ensure_future(self.costs.reserve(self.run, call, most, least, limit))
        try:
            return await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.shield(self._struck(writing))
            raise

    async def _struck(self, writing: "asyncio.Future[tuple[int, int] | int]") -> None:
        found = await writing
        if not isinstance(found, int):
            await self.costs.release(found[0])

    async def paid(self, call: str) -> float | None:
        """Return what this run has paid or reserved for a call; None if it never paid for it."""
        found = await self.costs.paid(self.run, call)
        return None if found is None else found / NANO

    async def recall(self, call: str, usd: float, tokens_in: int, tokens_out: int) -> float | None:
        """Return what this run paid for a call that was answered before; None if another run paid.

        A crash between the answer and its settling left the worst case; now the cost is known.
        """
        await self.costs.settle_open(self.run, call, to_nano(usd), tokens_in, tokens_out)
        return await self.paid(call)

    async def overspent(self) -> dict[str, str]:
        """Return the engines that cost more than was reserved, each with one sentence about it."""
        return {
            name: f"{name} took {paid / NANO:.4f} USD for a call that may take {held / NANO:.4f} at most,"
            " and is not asked again in this run."
            for name, (paid, held) in (await self.costs.overspent(self.run)).items()
        }

    async def account(self) -> Account:
        """Return what the run has spent, and whether it is out of money."""
        balance = await self.costs.balance(self.run)
        is_out = balance.is_out or 0 < self._limit(False) <= balance.nano
        return Account(balance.nano / NANO, is_out)

    async def unreported_costs(self, told: Iterable[Cost]) -> list[Cost]:
        """Return the costs in the database that are missing from `told`: calls that were cut off."""
        known = {cost.call: cost.usd for cost in told}
        payments = await self.costs.paid_by_call(self.run)
        # A reported cost may include an earlier attempt under another name: count nothing twice.
        missing = sum(payments.values()) - to_nano(sum(known.values()))
        found: list[Cost] = []
        for call, paid in payments.items():
            amount = 0 if call.name in known else min(paid, missing)
            if amount > 0:
                found.append(Cost(call=call.name, role=call.role, model=call.model, usd=amount / NANO))
                missing -= amount
        return found

    def _limit(self, is_writing: bool) -> int:
        share = 1.0 if is_writing else 1.0 - self.reserve_share
        return int(round(self.budget_usd * share * NANO, 4))

    async def _refused(self, call: PaidCall) -> OutOfBudget:
        """Return the error, worded alike for all calls, so that a report lists it once per model."""
        if call.role not in WRITING_ROLES:
            await self.costs.mark_out(self.run)
        return OutOfBudget(f"{call.model} was not asked: too little of the {self.budget_usd:g} USD is left.")


@dataclass
class Receipts:
    """The calls paid for during some work, known even if the work is cut off."""

    asked: dict[str, tuple[Budget, PaidCall]] = field(default_factory=dict)

    async def costs(self) -> list[Cost]:
        """Return what each of them has cost or reserved."""
        paid = [(call, await budget.paid(call.name)) for budget, call in self.asked.values()]
        return [Cost(call=call.name, role=call.role, model=call.model, usd=usd) for call, usd in paid if usd]


_current_receipts: ContextVar[Receipts | None] = ContextVar("receipts", default=None)


@contextmanager
def collect_receipts() -> Iterator[Receipts]:
    """Collect the receipts of all calls in this block, even if it fails."""
    receipts = Receipts()
    token = _current_receipts.set(receipts)
    try:
        yield receipts
    finally:
        _current_receipts.reset(token)


@dataclass(frozen=True)
class Meter:
    """The budget that pays for requests, the call, and the price of each request."""

    budget: Budget
    call: PaidCall
    usd: float


_current_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def use_meter(meter: Meter | None) -> Iterator[None]:
    """Charge requests in this block to this meter; with None, to no budget."""
    token = _current_meter.set(meter)
    try:
        yield
    finally:
        _current_meter.reset(token)


@asynccontextmanager
async def reserve_request(usd: float | None = None) -> AsyncIterator[Reservation]:
    """Reserve the price of one request, or raise OutOfBudget.

    The caller settles or releases it; otherwise it stays counted.
    """
    meter = _current_meter.get()
    if meter is None:
        yield Reservation.nothing()
        return
    price = meter.usd if usd is None else usd
    async with await meter.budget.reserve(meter.call, price, is_writing=False) as hold:
        yield hold


async def charge_request(ask: Callable[[], Awaitable[T]]) -> T:
    """Send one request and charge for it, unless it was surely refused."""
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
    """Whether a failed request certainly cost nothing: it was never sent, or it was refused."""
    if error.status is not None:
        return error.status not in NO_ANSWER_IN_TIME
    return isinstance(error, Unreachable | Refused | BadQuery)

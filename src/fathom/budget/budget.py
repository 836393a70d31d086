"""The budget of a run: no call is sent that could cost more than is left.

Does not know prices. Before a call its worst case is set aside, in the database; afterwards the line is
settled with what it cost. A call that was refused costs nothing; one whose outcome nobody knows stays at its
worst case, whether it timed out, was cut off or died with the process. Whoever sends a request deep inside an
engine finds the run's meter around it (`use_meter`).
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
    """What this event loop has set aside for calls that are on their way, for one run."""

    amount: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    # Whoever compares the book with what is on its way must not be overtaken between the two.
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def drop(self, amount: int) -> None:
        self.amount -= amount
        self.changed.set()  # those who wait for money look again; the next ones wait for the next change
        self.changed = asyncio.Event()


_calls_in_flight: PerLoop[dict[str, _CallsInFlight]] = PerLoop(dict)


@dataclass
class Reservation:
    """What is set aside for one call: settled, released, or, left without a word, kept at its worst case."""

    costs: CostTable | None
    run: str
    call: PaidCall
    line: int | None  # None: the call cannot cost anything
    amount: int
    in_flight: _CallsInFlight

    @classmethod
    def nothing(cls) -> Self:
        """Where nobody keeps a book."""
        return cls(None, "", PaidCall("", "", ""), None, 0, _CallsInFlight())

    @property
    def usd(self) -> float:
        """What the call may cost at most."""
        return self.amount / NANO

    async def settle(self, usd: float, tokens_in: int = 0, tokens_out: int = 0) -> None:
        """The call was answered, and cost this; an engine that took more than there was is remembered."""
        usd = max(0.0, usd)  # nobody is paid for taking an answer
        if self.costs and self.line is None:
            await self.costs.add(self.run, self.call, to_nano(usd), tokens_in, tokens_out)
        elif self.costs and self.line is not None:
            await self.costs.settle(self.line, to_nano(usd), tokens_in, tokens_out)
            if self.call.role == SEARCH_ROLE and to_nano(usd) > self.amount:
                await self.costs.mark_overspent(self.run, self.call.model, to_nano(usd), self.amount)

    async def release(self) -> None:
        """The call was refused, or never left."""
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
    """Whether somebody's calls cost money."""
    return hasattr(who, "within")  # asked for every task; to ask a protocol takes long


@dataclass(frozen=True)
class Account:
    """What a run has spent or set aside, and whether looking further had to be refused."""

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
        """Set the worst case aside, or raise OutOfBudget; use it with `async with`.

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
        """A hold; None when one may be had after a change; OutOfBudget when no change can help."""
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
        """What the book says; a line for a call that is cancelled meanwhile, before it left, is struck out.

        The writing itself cannot be stopped once it has begun.
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
        """All that this run has paid, or may have paid, for a call; None when it never paid for it."""
        found = await self.costs.paid(self.run, call)
        return None if found is None else found / NANO

    async def recall(self, call: str, usd: float, tokens_in: int, tokens_out: int) -> float | None:
        """What this run paid for a call that was answered before; None when another run did.

        A crash between the answer and its settling left the worst case; now the cost is known.
        """
        await self.costs.settle_open(self.run, call, to_nano(usd), tokens_in, tokens_out)
        return await self.paid(call)

    async def overspent(self) -> dict[str, str]:
        """The engines that took more than was set aside for them, each with one sentence about it."""
        return {
            name: f"{name} took {paid / NANO:.4f} USD for a call that may take {held / NANO:.4f} at most,"
            " and is not asked again in this run."
            for name, (paid, held) in (await self.costs.overspent(self.run)).items()
        }

    async def account(self) -> Account:
        """Where the run stands."""
        balance = await self.costs.balance(self.run)
        is_out = balance.is_out or 0 < self._limit(False) <= balance.nano
        return Account(balance.nano / NANO, is_out)

    async def unreported_costs(self, told: Iterable[Cost]) -> list[Cost]:
        """Charges for what is in the book and in none of these: calls that were cut off, for good."""
        known = {cost.call: cost.usd for cost in told}
        payments = await self.costs.paid_by_call(self.run)
        # A charge may have what an earlier try with another name cost in it: nothing is told twice.
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
        """One sentence, the same whatever was too dear: a report tells it once for each thing it cost."""
        if call.role not in WRITING_ROLES:
            await self.costs.mark_out(self.run)
        return OutOfBudget(f"{call.model} was not asked: too little of the {self.budget_usd:g} USD is left.")


@dataclass
class Receipts:
    """Which calls were to be paid for in a piece of work: who is cut off cannot tell it any more."""

    asked: dict[str, tuple[Budget, PaidCall]] = field(default_factory=dict)

    async def costs(self) -> list[Cost]:
        """What each of them has cost, or may have cost."""
        paid = [(call, await budget.paid(call.name)) for budget, call in self.asked.values()]
        return [Cost(call=call.name, role=call.role, model=call.model, usd=usd) for call, usd in paid if usd]


_current_receipts: ContextVar[Receipts | None] = ContextVar("receipts", default=None)


@contextmanager
def collect_receipts() -> Iterator[Receipts]:
    """The receipts of what is asked in here, whatever becomes of it."""
    receipts = Receipts()
    token = _current_receipts.set(receipts)
    try:
        yield receipts
    finally:
        _current_receipts.reset(token)


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

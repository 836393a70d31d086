"""What stands around an engine: its health, retries and pauses, and the answers that are kept.

Does not know any engine. A limit cools an engine down, a refusal switches it off for a while, a query it does
not take is put more plainly once; whoever asks meanwhile is told at once, so that another engine can serve.
All branches of all runs in a process share that.

Answers are kept by what was asked of which engine. The run that asked has its answers for as long as it is
resumed. Other runs have them for a day, unless they want everything fresh or nothing was found. An engine
that is not in the list is asked every time.
"""

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from fathom.budget import charge_request
from fathom.concurrency import PacedLock
from fathom.errors import BadQuery, OutOfBudget, ProviderError, Refused, Unavailable
from fathom.http import RetryPolicy, retry
from fathom.search import Capability, SearchEngine
from fathom.state import Hit, Query
from fathom.storage.content import Replies
from fathom.text.tokens import query_terms

_COOL_S = 30.0
_LONGEST_COOL_S = 600.0
_REFUSED_S = 600.0
_PLAIN_WORDS = 12
CREDIT_PAUSE_S = 60.0
_ONCE = RetryPolicy(attempts=1)


@dataclass
class EngineHealth:
    """When each engine may be asked again; failures in a row make the wait longer."""

    clock: Callable[[], float] = time.monotonic
    until: dict[str, float] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    turns: dict[str, PacedLock] = field(default_factory=dict)

    def wait_s(self, name: str) -> float:
        """How long the engine still has to cool down."""
        return max(0.0, self.until.get(name, 0.0) - self.clock())

    def failed(self, name: str, wait_s: float | None) -> None:
        """It was unavailable, after every retry."""
        self.failures[name] = self.failures.get(name, 0) + 1
        pause = wait_s if wait_s is not None else _COOL_S * 2 ** (self.failures[name] - 1)
        self.until[name] = self.clock() + min(pause, _LONGEST_COOL_S)

    def served(self, name: str) -> None:
        """It answered."""
        self.failures.pop(name, None)

    def turns_for(self, name: str) -> PacedLock:
        """The queue in front of the engine."""
        return self.turns.setdefault(name, PacedLock(f"engine {name}"))


PROCESS_HEALTH = EngineHealth()


@dataclass
class MonitoredEngine:
    """An engine asked only when that makes sense; one a configuration, with the process's health behind it.

    A refusal is for one configuration, because others may have another key. It does not last for ever: a
    server lives for weeks.
    """

    engine: SearchEngine
    health: EngineHealth = field(default_factory=lambda: PROCESS_HEALTH)
    policy: RetryPolicy = _ONCE
    is_charged_here: bool = False  # one request a call; other engines charge each request they send
    pause_s: float = 0.0
    usd_per_call: float = 0.0
    refusal: str = ""
    refused_until: float = 0.0
    units: Callable[[int], float] = lambda _: 1.0  # what one request for so many hits is, in usual prices
    cache_key: str = ""  # of the engine's parameters, as far as they matter for what it finds
    ask_credit: Callable[[], Awaitable[str]] | None = None
    credit_pause_s: float = CREDIT_PAUSE_S
    credit: str = ""
    credit_at: float = float("-inf")

    async def credit_left(self) -> str:
        """What the engine says is left of its credit, asked now and then; nothing if it does not say."""
        if self.ask_credit and self.health.clock() - self.credit_at >= self.credit_pause_s:
            self.credit_at = self.health.clock()
            with suppress(ProviderError):
                self.credit = await self.ask_credit()
        return self.credit

    @property
    def name(self) -> str:
        """The engine's own name."""
        return self.engine.name

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the engine can do."""
        return self.engine.capabilities

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        """The engine's hits, or at once the reason why it is not asked."""
        if (left_s := self.refused_until - self.health.clock()) > 0:
            raise Refused(f"{self.name} is switched off for {left_s:.0f} s: {self.refusal}")
        if wait_s := self.health.wait_s(self.name):
            raise Unavailable(f"{self.name} is cooling down for {wait_s:.0f} s", wait_s=wait_s)
        try:
            hits = await self._ask_more_plainly(query, limit)
        except Unavailable as error:
            self.health.failed(self.name, error.wait_s)
            raise
        except OutOfBudget:
            raise  # the engine is well; the run has too little money
        except Refused as error:
            self.refusal, self.refused_until = str(error), self.health.clock() + _REFUSED_S
            raise
        self.health.served(self.name)
        return hits

    async def _ask_more_plainly(self, query: Query, limit: int) -> Sequence[Hit]:
        try:
            return await self._asked(query, limit)
        except BadQuery:
            plain = " ".join(query_terms(query.text)[:_PLAIN_WORDS])
            if plain == query.text:
                raise
            return await self._asked(query.model_copy(update={"text": plain}), limit)

    async def _asked(self, query: Query, limit: int) -> Sequence[Hit]:
        def ask() -> Awaitable[Sequence[Hit]]:
            return self.engine(query, limit=limit)

        def send() -> Awaitable[Sequence[Hit]]:
            return charge_request(ask) if self.is_charged_here else ask()

        if not self.pause_s:
            return await retry(send, self.policy)
        async with self.health.turns_for(self.name).turn(self.pause_s):
            return await retry(send, self.policy)


VALID_S = 24 * 3600.0
# Raise it when engines are asked in another way, or their answers are read in another way.
_REVISION = 3
# Parameters of engines that change nothing in what is found.
_IRRELEVANT = frozenset({"contact", "timeout_s", "pause_s", "usd_per_call", "capabilities", "prices"})
# A user and a password in an address are secrets.
_USER = re.compile(r"(?<=://)[^/@\s\"]*@")


class EngineAnswer(NamedTuple):
    """What an engine found; `is_reused`: another run asked; `is_cached`: nobody was asked now."""

    hits: Sequence[Hit]
    is_reused: bool = False
    is_cached: bool = False


@dataclass(frozen=True)
class SearchCache:
    """The answered searches of a run; `engine_keys` has the key of every engine that takes part, by name."""

    memory: Replies
    engine_keys: Mapping[str, str]

    def within(self, run: str) -> "SearchCache":
        """The same for one run."""
        return replace(self, memory=self.memory.within(run))

    async def search(
        self, engine: SearchEngine, query: Query, limit: int, ask: Callable[[], Awaitable[Sequence[Hit]]]
    ) -> EngineAnswer:
        """Return the kept answer, or else ask; a new answer is on disk before it is returned."""
        if engine.name not in self.engine_keys:
            return EngineAnswer(await ask())
        call = search_key(engine.name, self.engine_keys[engine.name], query.text, limit)
        async with self.memory.alone(call):
            if kept := await self.memory.get(call):
                hits = [Hit.model_validate({**row, "query": query.id}) for row in json.loads(kept.text)]
                return EngineAnswer(hits, is_reused=not kept.is_own, is_cached=True)
            found = await ask()
            rows = [hit.model_dump(exclude={"query"}, exclude_defaults=True) for hit in found]
            text = json.dumps(rows, ensure_ascii=False)
            # Shielded: whoever is cancelled now has an answer that was paid for.
            await asyncio.shield(self.memory.put(call, text, is_for_others=bool(rows)))
        return EngineAnswer(found)


def search_key(name: str, engine_key: str, text: str, limit: int) -> str:
    """Return the key of one search; the same in every process."""
    return sha256(json.dumps(["search", name, engine_key, text, limit]).encode()).hexdigest()


def engine_key(engine: object) -> str:
    """Return a hash of the plain parameters an engine was made with, as far as they matter for its answers.

    Fields that are left out of `repr` are left out here too: secrets, clients, clocks. A parameter may say by
    `cache_parameters` what matters of it. Raises TypeError for any other that is not plain, because its text
    might differ from process to process.
    """
    said = [_REVISION, type(engine).__name__, _parameters(engine)]
    words = json.dumps(said, sort_keys=True, default=_plain_value, ensure_ascii=False)
    return sha256(_USER.sub("", words).encode()).hexdigest()[:12]


def _parameters(engine: Any) -> dict[str, Any]:
    relevant = [field.name for field in fields(engine) if field.repr and field.name not in _IRRELEVANT]
    return {name: getattr(engine, name) for name in relevant}


def _plain_value(value: Any) -> Any:
    """The value as JSON has it, the same for equal values in every process."""
    if hasattr(value, "cache_parameters"):
        return value.cache_parameters()
    if is_dataclass(value) and not isinstance(value, type):
        return _parameters(value)
    if isinstance(value, date | Path):
        return str(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} is not a plain parameter of an engine")

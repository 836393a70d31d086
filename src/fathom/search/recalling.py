"""Searches that were answered, kept by what was asked of whom.

Does not know engines. The run that asked has its answers for as long as it is resumed; other runs have them
for a day, unless they want everything fresh or nothing was found. An engine that is not in the list is asked
every time.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from typing import NamedTuple

from fathom.remembering import Memory
from fathom.search.port import Engine
from fathom.state import Hit, Query

VALID_S = 24 * 3600.0
# What an engine is made with that changes nothing in what it finds.
_BESIDE = frozenset({"api_key", "contact", "timeout_s", "pause_s", "usd_per_call", "capabilities", "prices"})


class Answered(NamedTuple):
    """What an engine found, and whether it was another run that asked."""

    hits: Sequence[Hit]
    is_reused: bool


@dataclass(frozen=True)
class Recall:
    """The memory of a run's searches; `made` tells by an engine's name how it is made."""

    memory: Memory
    made: Mapping[str, str]

    def within(self, run: str) -> "Recall":
        """The same for one run."""
        return replace(self, memory=self.memory.within(run))

    async def through(
        self, engine: Engine, query: Query, limit: int, ask: Callable[[], Awaitable[Sequence[Hit]]]
    ) -> Answered:
        """What is known, or else what asking brings."""
        if engine.name not in self.made:
            return Answered(await ask(), is_reused=False)
        words = json.dumps(["search", engine.name, self.made[engine.name], query.text, limit])
        call = sha256(words.encode()).hexdigest()
        async with self.memory.alone(call):
            if kept := await self.memory.get(call):
                hits = [Hit.model_validate({**row, "query": query.id}) for row in json.loads(kept.text)]
                return Answered(hits, not kept.is_own)
            found = await ask()
            rows = [hit.model_dump(exclude={"query"}, exclude_defaults=True) for hit in found]
            await self.memory.put(call, json.dumps(rows, ensure_ascii=False), is_for_others=bool(rows))
        return Answered(found, is_reused=False)


def made_of(engine: object) -> str:
    """How an engine is made, as far as it matters for what it finds; a hash, since keys may be in it."""
    known = {
        field.name: repr(getattr(engine, field.name))
        for field in (fields(engine) if is_dataclass(engine) else ())
        if field.name not in _BESIDE
    }
    return sha256(json.dumps([type(engine).__name__, known], sort_keys=True).encode()).hexdigest()[:12]

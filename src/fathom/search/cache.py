"""Answered searches, kept by what was asked of which engine.

The run that asked has its answers for as long as it is resumed. Other runs have them for a day, unless they
want everything fresh or nothing was found. An engine that is not in the list is asked every time.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from fathom.search.protocol import SearchEngine
from fathom.state import Hit, Query
from fathom.storage.content import Replies

VALID_S = 24 * 3600.0
# Raise it when engines are asked in another way, or their answers are read in another way.
_REVISION = 2
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

"""Several engines as one: asked at once, their hits fused, their failures told.

Does not know any engine, or who tries again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fathom.errors import ProviderError, Unavailable
from fathom.search.addresses import canonical
from fathom.search.port import Engine
from fathom.state import Hit, Loss, Query
from fathom.turns import PerLoop

_AT_ONCE = 5
_RRF = 60
_slots = PerLoop(lambda: asyncio.Semaphore(_AT_ONCE))


@dataclass(frozen=True)
class Engines:
    """The engines of a run, the preferred one first; confessions tell what an engine knows it cannot find."""

    engines: tuple[Engine, ...]
    confessions: tuple[Callable[[], Awaitable[list[Loss]]], ...] = ()

    async def search(self, query: Query, *, limit: int) -> tuple[list[Hit], list[Loss]]:
        """What the engines find, best first, one entry per page; raises only if none of them served."""
        answers = await asyncio.gather(*(_ask(engine, query, limit) for engine in self.engines))
        failed = [
            (engine.name, answer)
            for engine, answer in zip(self.engines, answers, strict=True)
            if isinstance(answer, ProviderError)
        ]
        if failed and len(failed) == len(answers):
            raise _together(failed)
        losses = [Loss(where=f"search: {name}", what=query.text, why=str(error)) for name, error in failed]
        for confession in self.confessions:
            losses += await confession()
        return fuse([a for a in answers if not isinstance(a, ProviderError)])[:limit], losses


def fuse(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One ranking from several by reciprocal rank fusion; each page keeps its best-ranked hit."""
    scores: dict[str, float] = {}
    best: dict[str, tuple[int, Hit]] = {}
    for ranking in rankings:
        pages: dict[str, Hit] = {}
        for hit in ranking:
            pages.setdefault(canonical(hit.address), hit)
        for rank, (page, hit) in enumerate(pages.items(), start=1):
            scores[page] = scores.get(page, 0.0) + 1 / (_RRF + rank)
            if page not in best or rank < best[page][0]:
                best[page] = rank, hit
    ranked = sorted(scores, key=lambda page: -scores[page])
    return [best[page][1].model_copy(update={"rank": n}) for n, page in enumerate(ranked, start=1)]


async def _ask(engine: Engine, query: Query, limit: int) -> Sequence[Hit] | ProviderError:
    async with _slots():
        try:
            return await engine(query, limit=limit)
        except ProviderError as error:
            return error


def _together(failed: Sequence[tuple[str, ProviderError]]) -> ProviderError:
    """The last error, saying what all of them said; the last one that waiting may cure, if any may."""
    errors = [error for _, error in failed]
    if len(errors) == 1:
        return errors[0]
    said = "; ".join(f"{name}: {error}" for name, error in failed)
    message, charges = f"no engine served ({said})", [charge for error in errors for charge in error.charges]
    passing = [error for error in errors if isinstance(error, Unavailable)]
    if passing:
        return Unavailable(message, charges, wait_s=passing[-1].wait_s)
    return type(errors[-1])(message, charges)

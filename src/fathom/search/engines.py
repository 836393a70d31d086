"""Several engines as one: asked at once, their hits fused, their failures told.

Does not know any engine, or who tries again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from fathom.errors import ProviderError, Unavailable
from fathom.search.addresses import canonical
from fathom.search.port import Engine, Found
from fathom.search.recalling import Answered, Recall
from fathom.search.scope import Scope
from fathom.state import Charge, Hit, Loss, Query, short_hash
from fathom.turns import PerLoop

_AT_ONCE = 5
_RRF = 60


@cache
def search_places(at_once: int = _AT_ONCE) -> PerLoop[asyncio.Semaphore]:
    """So many searches at once, of all runs of an event loop together."""
    return PerLoop(lambda: asyncio.Semaphore(at_once))


@dataclass(frozen=True)
class Engines:
    """The engines of a run; the spare ones are asked in turn when all the others fail.

    Confessions tell what an engine knows it cannot find; prices are in USD a call, by engine.
    """

    engines: tuple[Engine, ...]
    confessions: tuple[Callable[[], Awaitable[list[Loss]]], ...] = ()
    spare: tuple[Engine, ...] = ()
    scope: Scope = field(default_factory=Scope)
    prices: Mapping[str, float] = field(default_factory=dict)
    places: PerLoop[asyncio.Semaphore] = field(default_factory=search_places)
    recall: Recall | None = None

    async def search(self, query: Query, *, limit: int) -> Found:
        """What the engines find, best first, one entry per page; raises only if none of them served."""
        answers = dict(
            zip(
                [engine.name for engine in self.engines],
                await asyncio.gather(*(self._ask(engine, query, limit) for engine in self.engines)),
                strict=True,
            )
        )
        for engine in self.spare:
            if any(not isinstance(answer, ProviderError) for answer in answers.values()):
                break
            answers[engine.name] = await self._ask(engine, query, limit)
        failed = [(name, a) for name, a in answers.items() if isinstance(a, ProviderError)]
        if failed and len(failed) == len(answers):
            raise _together(failed)
        losses = [Loss(where=f"search: {name}", what=query.text, why=str(error)) for name, error in failed]
        for confession in self.confessions:
            losses += await confession()
        served = {name: a for name, a in answers.items() if not isinstance(a, ProviderError)}
        inside = [[hit for hit in a.hits if self.scope.admits(hit)] for a in served.values()]
        charges = [self._charge(name, a) for name, a in served.items() if self.prices.get(name)]
        return Found(fuse(inside)[:limit], losses, charges)

    async def _ask(self, engine: Engine, query: Query, limit: int) -> Answered | ProviderError:
        async def asked() -> Sequence[Hit]:
            async with self.places():
                return await engine(query, limit=limit)

        try:
            if self.recall:
                return await self.recall.through(engine, query, limit, asked)
            call = short_hash("search", engine.name, query.id, query.text)
            return Answered(await asked(), call, is_reused=False)
        except ProviderError as error:
            return error

    def _charge(self, name: str, answered: Answered) -> Charge:
        usd, is_reused = self.prices[name], answered.is_reused
        return Charge(
            call=answered.call,
            role="search",
            model=name,
            usd=0.0 if is_reused else usd,
            saved_usd=usd if is_reused else 0.0,
            is_reused=is_reused,
        )


def fuse(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One ranking from several by reciprocal rank fusion; one entry a page, with all that is known of it."""
    scores: dict[str, float] = {}
    known: dict[str, list[tuple[int, Hit]]] = {}
    for ranking in rankings:
        pages: dict[str, Hit] = {}
        for hit in ranking:
            pages.setdefault(canonical(hit.address), hit)
        for rank, (page, hit) in enumerate(pages.items(), start=1):
            scores[page] = scores.get(page, 0.0) + 1 / (_RRF + rank)
            known.setdefault(page, []).append((rank, hit))
    ranked = sorted(scores, key=lambda page: -scores[page])
    return [_richest(known[page]).model_copy(update={"rank": n}) for n, page in enumerate(ranked, start=1)]


def _richest(entries: list[tuple[int, Hit]]) -> Hit:
    """The best-ranked hit, filled up from the others: the longest snippet, and whatever it lacks."""
    hits = [hit for _, hit in sorted(entries, key=lambda entry: entry[0])]
    first = hits[0]
    filled = {
        name: next((value for hit in hits if (value := getattr(hit, name))), getattr(first, name))
        for name in ("title", "published", "authors", "doi", "pdf", "cited_by")
    }
    return first.model_copy(update={**filled, "snippet": max((hit.snippet for hit in hits), key=len)})


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

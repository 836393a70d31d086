"""Several engines as one: asked at once, their hits fused, their failures told.

Does not know any engine, or who tries again. Catalogues tell who cites a paper, whom it cites and what was
retracted; what they do not tell costs no hit.
"""

import asyncio
import functools
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from fathom.budget import Budget, Meter, use_meter
from fathom.concurrency import NamedSemaphores
from fathom.errors import OutOfBudget, ProviderError, Unavailable
from fathom.http.urls import canonical_address
from fathom.search import Capability, Scope, SearchEngine, SearchOutcome
from fathom.search.routing import engine_kind, specialists_for
from fathom.search.wrappers import EngineAnswer, SearchCache
from fathom.state import Cost, Failure, Hit, LinkKind, Query, short_hash
from fathom.storage.records import PaidCall
from fathom.tracing import TracedRun

_AT_ONCE = 5
_RANK_FUSION_K = 60
# What a hit takes over from another engine's for the same page, where it has nothing of its own; never the
# text, which the page is read from: only the engine that is named may have delivered it.
_PAPER_FIELDS = ("authors", "doi", "pdf", "cited_by", "abstract", "retracted")
_FILLED = ("title", "published", *_PAPER_FIELDS, "image")
_ARXIV = re.compile(r"arxiv\.org/abs/((?:[a-z.-]+/\d{7}|\d{4}\.\d{4,5}))", re.IGNORECASE)
_FOLLOWED = 2  # papers of one search
_MOST_REMEMBERED = 5000
_LINK_WORDS: dict[LinkKind, str] = {"citations": "cites", "references": "cited by"}

# For DOIs, which of them were retracted.
RetractionCheck = Callable[[Collection[str]], Awaitable[Collection[str]]]


class LinkSource(Protocol):
    """A catalogue that knows who cites whom; `DOI:…` and `ARXIV:…` are its ids."""

    @property
    def name(self) -> str:
        """The word by which users know it."""

    async def citations(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that cite this one."""

    async def references(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that this one cites."""


@dataclass(frozen=True)
class PaperCatalogue:
    """Follows papers and marks retracted ones; catalogues are asked in turn until one answers."""

    links: Sequence[LinkSource] = ()
    retractions: Mapping[str, RetractionCheck] = field(default_factory=dict)  # by the catalogue's name
    known: dict[str, str] = field(default_factory=dict, repr=False)  # DOI: who says it was retracted, or ""

    async def complete(self, query: Query, hits: list[Hit], limit: int) -> tuple[list[Hit], list[Failure]]:
        """The hits, with the papers around them if the query wants those, and retracted ones marked."""
        found, failures = await self._follow(query, hits, limit) if query.links else ([], [])
        marked, lost = await self._mark_retracted([*hits, *found])
        return marked, [*failures, *lost]

    async def _follow(self, query: Query, hits: list[Hit], limit: int) -> tuple[list[Hit], list[Failure]]:
        """The papers around the first ones that a catalogue can name, as hits of the same query."""
        papers = [(paper_id(hit), hit) for hit in hits]
        known, failures = {hit.address for hit in hits}, list[Failure]()
        linked: list[Hit] = []
        for name, paper in [(name, hit) for name, hit in papers if name][:_FOLLOWED]:
            for kind in query.links:
                around, lost = await self._around(name, kind, limit)
                failures += lost
                words = f"{_LINK_WORDS[kind]} “{paper.title}”"
                new = [hit for hit in around if hit.address not in known]
                known |= {hit.address for hit in new}
                linked += [hit.model_copy(update={"query": query.id, "linked": words}) for hit in new]
        ranked = enumerate(linked[:limit], start=2)  # behind the paper itself
        return [hit.model_copy(update={"rank": rank}) for rank, hit in ranked], failures

    async def _around(self, name: str, kind: LinkKind, limit: int) -> tuple[list[Hit], list[Failure]]:
        failures: list[Failure] = []
        for source in self.links:
            try:
                ask = source.citations if kind == "citations" else source.references
                return await ask(name, limit), failures
            except ProviderError as error:
                failures.append(
                    Failure(where=f"papers: {source.name}", what=f"{kind} of {name}", why=str(error))
                )
        return [], failures

    async def _mark_retracted(self, hits: list[Hit]) -> tuple[list[Hit], list[Failure]]:
        """The hits, those of retracted papers marked with who says so; each DOI is asked about once."""
        self.known.update({hit.doi.lower(): hit.retracted for hit in hits if hit.doi and hit.retracted})
        asked = list(dict.fromkeys(h.doi.lower() for h in hits if h.doi and h.doi.lower() not in self.known))
        failures: list[Failure] = []
        for who, check in self.retractions.items() if asked else ():
            try:
                gone = {doi.lower() for doi in await check(asked)}
            except ProviderError as error:
                why = f"whether papers were retracted is not known: {error}"
                failures.append(Failure(where=f"papers: {who}", what="retractions", why=why))
                continue
            while len(self.known) > _MOST_REMEMBERED:
                self.known.pop(next(iter(self.known)))
            self.known.update({doi: who if doi in gone else "" for doi in asked})
            failures = []  # another one knew it
            break
        marks = [hit.retracted or self.known.get(hit.doi.lower(), "") for hit in hits]
        return [
            h.model_copy(update={"retracted": m}) if m else h for h, m in zip(hits, marks, strict=True)
        ], failures


def paper_id(hit: Hit) -> str:
    """The name by which catalogues know a paper; nothing, if it is none."""
    if found := _ARXIV.search(hit.address):
        return f"ARXIV:{found[1]}"
    return f"DOI:{hit.doi}" if hit.doi else ""


@functools.cache
def search_slots(at_once: int = _AT_ONCE) -> NamedSemaphores:
    """So many searches at once in each run; the name of a place is the run's."""
    return NamedSemaphores(at_once)


@dataclass(frozen=True)
class FederatedSearch:
    """The engines of a run; a spare one is asked in the place of one of its kind that failed.

    Specialists are asked besides, where a query is about their subject. Failure reports tell what an engine
    knows it cannot find; prices are in USD a request for so many hits, by engine.
    """

    engines: tuple[SearchEngine, ...]
    failure_reports: tuple[Callable[[], Awaitable[list[Failure]]], ...] = ()
    spare: tuple[SearchEngine, ...] = ()
    specialists: tuple[SearchEngine, ...] = ()
    is_academic: bool = False
    max_papers: int | None = None
    scope: Scope = field(default_factory=Scope)
    prices: Mapping[str, Callable[[int], float]] = field(default_factory=dict)
    places: NamedSemaphores = field(default_factory=search_slots)
    cache: SearchCache | None = None
    budget: Budget | None = None
    catalogue: PaperCatalogue | None = None

    def within(self, budget: Budget) -> "FederatedSearch":
        """The same for one run, which pays from this budget."""
        return replace(self, budget=budget, cache=self.cache.within(budget.run) if self.cache else None)

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """What the engines find, best first, one entry per page; raises only if none of them served."""
        answers = await self._answers(query, limit)
        stand_ins = await self._replace_lost(answers, query, limit)
        overspent = await self.budget.overspent() if self.budget and self.prices else {}
        failed = [(name, a) for name, a in answers.items() if isinstance(a, ProviderError)]
        if failed and len(failed) == len(answers):
            error = _combine_errors(failed)
            error.costs = await self._lost_costs([name for name, _ in failed], query, limit)
            raise error
        failures = [
            error.failure(f"search: {name}", query.text, stand_in=stand_ins.get(name, ""))
            for name, error in failed
            if name not in overspent
        ]
        failures += [
            Failure(where=f"search: {name}", what="its price", why=overspent[name])
            for name in answers
            if name in overspent
        ]
        for report_failures in self.failure_reports:
            failures += await report_failures()
        served = {name: a for name, a in answers.items() if not isinstance(a, ProviderError)}
        inside = [[hit for hit in a.hits if self.scope.admits(hit)] for a in served.values()]
        costs = [await self._charge(name, a, query, limit) for name, a in served.items()]
        costs += await self._lost_costs([name for name, _ in failed], query, limit)
        hits = fuse_rankings(inside)[: max(limit, self.max_papers or 0)]
        if self.catalogue:
            hits, lost = await self.catalogue.complete(query, hits, limit)
            failures += lost
        return SearchOutcome(hits, failures, costs)

    async def _answers(self, query: Query, limit: int) -> dict[str, EngineAnswer | ProviderError]:
        """What each engine says that is asked first."""
        known = {engine.name: engine for engine in self.specialists}
        wanted = specialists_for(query, known, is_academic=self.is_academic)
        engines = [*self.engines, *(known[name] for name in wanted)]
        found = await asyncio.gather(*(self._ask(engine, query, limit) for engine in engines))
        return dict(zip([engine.name for engine in engines], found, strict=True))

    async def _replace_lost(
        self, answers: dict[str, EngineAnswer | ProviderError], query: Query, limit: int
    ) -> dict[str, str]:
        """Add the answers of spare engines for each that failed; return who stood in for whom."""
        known = self._known

        def served(kind: Capability | None) -> str | None:
            names = (n for n, a in answers.items() if not isinstance(a, ProviderError))
            return next((n for n in names if kind in (None, engine_kind(known[n].capabilities))), None)

        stand_ins: dict[str, str] = {}
        for lost in [engine for engine in self.engines if _is_down(answers[engine.name])]:
            kind = engine_kind(lost.capabilities)
            spare = [e for e in self.spare if kind in (None, engine_kind(e.capabilities))]
            tried = [lost.name]
            for engine in spare:
                if served(kind) or engine.name in answers:
                    continue
                answers[engine.name] = await self._ask(engine, query, limit)
                tried.append(engine.name)
                if served(kind):
                    stand_ins |= dict.fromkeys(tried[:-1], engine.name)
        return stand_ins

    async def _ask(self, engine: SearchEngine, query: Query, limit: int) -> EngineAnswer | ProviderError:
        """Ask one engine; the search shows in LangChain callbacks as a retriever's run."""
        name, answered = engine.name, EngineAnswer([])
        try:
            async with TracedRun("retriever", name, query.text, engine=name, round=query.round) as run:
                try:
                    answered = await self._answer(engine, query, limit)
                finally:
                    if run.is_heard:
                        hits, _, is_cached = answered
                        paid = 0.0 if is_cached else await self._paid(name, query, limit) or 0.0
                        run.note(is_reused=is_cached, cost_usd=paid, results=len(hits))
                        run.output = [_traced_hit(hit) for hit in hits]
        except ProviderError as error:
            return error
        return answered

    async def _answer(self, engine: SearchEngine, query: Query, limit: int) -> EngineAnswer:
        async def ask() -> Sequence[Hit]:
            async with self.places(self.budget.run if self.budget else ""):
                with use_meter(self._meter(engine.name, query, limit)):
                    return await engine(query, limit=self._limit_for(engine.name, limit))

        if not self.cache:
            return EngineAnswer(await ask())
        return await self.cache.search(engine, query, self._limit_for(engine.name, limit), ask)

    @property
    def _known(self) -> dict[str, SearchEngine]:
        return {engine.name: engine for engine in [*self.engines, *self.specialists, *self.spare]}

    def _limit_for(self, name: str, limit: int) -> int:
        """How many hits an engine is asked for, and paid for; papers may have a number of their own."""
        is_for_papers = engine_kind(self._known[name].capabilities) == "academic"
        return self.max_papers if is_for_papers and self.max_papers else limit

    def _price(self, name: str, limit: int) -> float:
        return self.prices[name](self._limit_for(name, limit)) if name in self.prices else 0.0

    def _cost_call(self, name: str, query: Query, limit: int) -> PaidCall:
        """The search as the book of payments has it, and every charge for it, answered or not."""
        asked = str(self._limit_for(name, limit))
        return PaidCall(short_hash("search", name, query.text, asked), "search", name)

    def _meter(self, name: str, query: Query, limit: int) -> Meter | None:
        if self.budget is None or name not in self.prices:
            return None
        return Meter(self.budget, self._cost_call(name, query, limit), self._price(name, limit))

    async def _charge(self, name: str, answered: EngineAnswer, query: Query, limit: int) -> Cost:
        """What the engine cost, if anything: every request that was sent; nothing, if another run's was."""
        usd = self._price(name, limit)
        is_reused = answered.is_reused
        paid = await self._paid(name, query, limit) if name in self.prices else 0.0
        return Cost(
            call=self._cost_call(name, query, limit).name,
            role="search",
            model=name,
            usd=0.0 if is_reused else usd if paid is None else paid,
            saved_usd=usd if is_reused else 0.0,
            is_reused=is_reused,
            results=len(answered.hits),
            credit="" if answered.is_cached else await self._credit_left(name),
        )

    async def _credit_left(self, name: str) -> str:
        """What an engine says of its credit, if it is one that can."""
        ask = getattr(self._known[name], "credit_left", None)
        return await ask() if ask else ""

    async def _lost_costs(self, names: Sequence[str], query: Query, limit: int) -> list[Cost]:
        """What may have been charged by engines that did not serve."""
        paid = {name: await self._paid(name, query, limit) for name in names if name in self.prices}
        return [
            Cost(call=self._cost_call(name, query, limit).name, role="search", model=name, usd=usd)
            for name, usd in paid.items()
            if usd
        ]

    async def _paid(self, name: str, query: Query, limit: int) -> float | None:
        return await self.budget.paid(self._cost_call(name, query, limit).name) if self.budget else None


def _is_down(answer: EngineAnswer | ProviderError) -> bool:
    """Whether another engine may help; where the money is used up, none may."""
    return isinstance(answer, ProviderError) and not isinstance(answer, OutOfBudget)


def _traced_hit(hit: Hit) -> dict[str, object]:
    """A hit as a document of a retriever."""
    return {"page_content": hit.snippet, "address": hit.address, "title": hit.title, "rank": hit.rank}


def fuse_rankings(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One ranking from several by reciprocal rank fusion; one entry a page, with all that is known of it."""
    scores: dict[str, float] = {}
    known: dict[str, list[tuple[int, Hit]]] = {}
    for ranking in rankings:
        pages: dict[str, Hit] = {}
        for hit in ranking:
            pages.setdefault(canonical_address(hit.address), hit)
        for rank, (page, hit) in enumerate(pages.items(), start=1):
            scores[page] = scores.get(page, 0.0) + 1 / (_RANK_FUSION_K + rank)
            known.setdefault(page, []).append((rank, hit))
    ranked = sorted(scores, key=lambda page: -scores[page])
    return [_merge_hits(known[page]).model_copy(update={"rank": n}) for n, page in enumerate(ranked, start=1)]


def _merge_hits(entries: list[tuple[int, Hit]]) -> Hit:
    """The best-ranked hit, filled up from the others: the longest snippet, and whatever it lacks."""
    hits = [hit for _, hit in sorted(entries, key=lambda entry: entry[0])]
    first = hits[0]
    if len(hits) == 1:
        return first
    filled = {
        name: next((value for hit in hits if (value := getattr(hit, name))), getattr(first, name))
        for name in _FILLED
    }
    return first.model_copy(update={**filled, "snippet": max((hit.snippet for hit in hits), key=len)})


def _combine_errors(failed: Sequence[tuple[str, ProviderError]]) -> ProviderError:
    """The last error, saying what all of them said; the last one that waiting may cure, if any may."""
    errors = [error for _, error in failed]
    if len(errors) == 1:
        return errors[0]
    said = "; ".join(f"{name}: {error}" for name, error in failed)
    message = f"no engine served ({said})"
    passing = [error for error in errors if isinstance(error, Unavailable)]
    if passing:
        return Unavailable(message, wait_s=passing[-1].wait_s)
    return type(errors[-1])(message)

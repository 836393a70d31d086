"""The dependencies of nodes, and how to make them from the operator's settings."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol, Self

from typing_extensions import TypeIs

from fathom.budget import Budget, is_paid_from_budget
from fathom.budget.time_budget import TimeBudget, grace_s
from fathom.errors import BadInput
from fathom.evidence.controls import TrustLog
from fathom.llm import choose_research_model
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import Clock, EnginesPort, Forecaster, PageLeasesPort, PagesPort, RunConfigsPort
from fathom.planning.forecast import load_past_runs, make_forecast, run_shape
from fathom.reading import Document, Reader
from fathom.reading.readers import (
    DeliveredReader,
    FileReader,
    LimitedReader,
    RoutingReader,
    WebAccess,
    open_web,
    reader_slots,
)
from fathom.search import SearchOutcome
from fathom.search.engines import document_roots, engines_for, mcp_servers
from fathom.search.engines.mcp import McpReader
from fathom.search.engines.retriever import RetrieverReader
from fathom.settings import Settings, load_settings
from fathom.state import Forecast, Hit, Query, RunConfig
from fathom.storage import Storage, open_storage
from fathom.storage.files import PDF_FOLDER
from fathom.storage.run_tables import RunSignals, SignalTable


class TimedModel(Protocol):
    """A model that supports a time budget."""

    def with_time_budget(self, time_budget: TimeBudget) -> Self:
        """Return a copy that keeps to the run's time budget."""


def is_timeable(model: object) -> TypeIs[TimedModel]:
    """Tell whether a model supports a time budget."""
    return hasattr(model, "with_time_budget")


@dataclass(frozen=True)
class TimedEngines:
    """Engines that start no search after the time budget is used up."""

    engines: EnginesPort
    time_budget: TimeBudget

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """Search, unless the time is used up."""
        return await self.time_budget.begun(lambda: self.engines.search(query, limit=limit))


@dataclass(frozen=True)
class TimedReader:
    """A reader that starts no page after the time budget is used up."""

    reader: Reader
    time_budget: TimeBudget

    async def __call__(self, hit: Hit) -> Document:
        """Read one hit, unless the time is used up."""
        return await self.time_budget.begun(lambda: self.reader(hit))


_MAX_CACHED_DEPENDENCIES = 256


@dataclass(frozen=True)
class _CommonDependencies:
    """What nodes use, and what a factory makes for all runs with one configuration."""

    run_config: RunConfig
    model: ResearchModel
    engines: EnginesPort
    reader: Reader
    pages: PagesPort
    clock: Clock
    page_leases: PageLeasesPort
    run_configs: RunConfigsPort
    forecaster: Forecaster


@dataclass(frozen=True)
class RunDependencies(_CommonDependencies):
    """Dependencies of the nodes of one run."""

    signals: RunSignals
    budget: Budget
    time_budget: TimeBudget | None
    trust: TrustLog


@dataclass(frozen=True)
class Dependencies(_CommonDependencies):
    """Dependencies shared by all runs with one configuration."""

    signals: SignalTable
    storage: Storage
    grace_s: float | None = None  # extra time for the report after the limit; None: derived from the limit

    def for_run(self, run: str, thread: str | None, run_config: RunConfig) -> RunDependencies:
        """Return the dependencies of one run: its model and engines use its budget and its time.

        `run_config` is what its nodes see, with limits set by effort or branch. `run` names the run in the
        cost log; `thread` is where a user's signals arrive.
        """
        budget = Budget(self.storage.costs, run, self.run_config.budget_usd, self.run_config.reserve)
        model = self.model.within(budget) if is_paid_from_budget(self.model) else self.model
        engines = self.engines.within(budget) if is_paid_from_budget(self.engines) else self.engines
        reader, time_budget = self.reader, self._time_budget(run)
        if time_budget:
            model = model.with_time_budget(time_budget) if is_timeable(model) else model
            engines, reader = TimedEngines(engines, time_budget), TimedReader(reader, time_budget)
        return RunDependencies(
            run_config=run_config,
            model=model,
            engines=engines,
            reader=reader,
            pages=self.pages,
            clock=self.clock,
            page_leases=self.page_leases,
            run_configs=self.run_configs,
            forecaster=self.forecaster,
            signals=self.signals.of(thread),
            budget=budget,
            time_budget=time_budget,
            trust=TrustLog(self.storage),
        )

    def _time_budget(self, run: str) -> TimeBudget | None:
        limit_s = self.run_config.time_limit_s
        if not run or limit_s is None:
            return None
        return TimeBudget(self.storage, run, limit_s, self.grace_s or grace_s(limit_s))


class DependencyFactory(Protocol):
    """Makes the dependencies of runs. Methods may open files and are called in a thread."""

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration."""

    def run_configs(self) -> RunConfigsPort:
        """Return the store of run configurations."""


@dataclass(frozen=True)
class CustomDependencies:
    """Dependencies made by the caller; run configurations are kept in `stored`."""

    make: Callable[[RunConfig], Dependencies]
    stored: RunConfigsPort

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration."""
        return self.make(run_config)

    def run_configs(self) -> RunConfigsPort:
        """Return the store of run configurations."""
        return self.stored


class StandardDependencies:
    """Makes and caches the dependencies of a run configuration for these settings.

    Raises BadInput for anything a run names that the settings do not allow.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings, self._storage = settings, open_storage(settings.database)
        self._web = _web(
            self._storage,
            settings.home / PDF_FOLDER,
            is_private_allowed=settings.allow_private,
            is_robots_obeyed=settings.respect_robots,
            is_proxied=settings.proxy_pages,
            arxiv=settings.arxiv_pages,
        )
        self._lock = threading.Lock()  # many branches may ask at once, but it is made only once
        self._made: dict[str, Dependencies] = {}

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration; opens files when it first makes them."""
        run_config = self._settings.usual(run_config)
        key = run_config.model_dump_json()
        with self._lock:
            if key not in self._made:
                made = self._make(run_config)
                if len(self._made) >= _MAX_CACHED_DEPENDENCIES:
                    del self._made[next(iter(self._made))]  # the oldest
                self._made[key] = made
            return self._made[key]

    def run_configs(self) -> RunConfigsPort:
        """Return the run configurations in the settings' database."""
        return self._storage.runs

    def _make(self, run_config: RunConfig) -> Dependencies:
        settings = self._settings
        refuse_unnamed(settings, run_config)
        return Dependencies(
            run_config=run_config,
            model=choose_research_model(settings, run_config),
            engines=engines_for(settings, run_config),
            reader=_reader(settings, run_config, self._web),
            pages=self._storage.pages,
            clock=utc_now,
            page_leases=self._storage.leases,
            run_configs=self.run_configs(),
            signals=self._storage.signals,
            storage=self._storage,
            forecaster=_forecaster(settings, run_config),
        )


def standard_dependencies(settings: Settings) -> DependencyFactory:
    """Return the standard factory for these settings."""
    return StandardDependencies(settings)


class EnvironmentDependencies:
    """Standard dependencies for the environment's settings, which are read at the first call."""

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration."""
        return _for_environment()(run_config)

    def run_configs(self) -> RunConfigsPort:
        """Return the run configurations in the environment's database."""
        return _for_environment().run_configs()


@cache
def _for_environment() -> DependencyFactory:
    return standard_dependencies(load_settings())


def utc_now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


# One per process, so that limits per host hold for all runs together.
_web = cache(open_web)


def _reader(settings: Settings, run_config: RunConfig, shared: WebAccess) -> Reader:
    texts = open_storage(settings.database).pages
    others: dict[str, Reader] = {"retriever": RetrieverReader(texts)}
    if settings.mcp_file:
        others["mcp"] = McpReader(mcp_servers(settings))
    web = shared.reader(is_fresh_wanted=run_config.fresh, has_papers=run_config.pdfs)
    reader = RoutingReader(
        files=FileReader(tuple(document_roots(run_config)), parse=shared.parse),
        web=DeliveredReader(web, texts.find, shared.parse),
        others=others,
    )
    return LimitedReader(reader, reader_slots(settings.parallel_extractions))


def _forecaster(settings: Settings, run_config: RunConfig) -> Forecaster:
    storage = open_storage(settings.database)

    async def forecast(question: str, run: str) -> Forecast:
        await storage.runs.remember_shape(run, run_shape(run_config, question))
        past = await load_past_runs(storage)
        # In a thread: prices are read from a file.
        return await asyncio.to_thread(make_forecast, settings, run_config, question, past)

    return forecast


def refuse_unnamed(settings: Settings, run_config: RunConfig) -> None:
    """Refuse files and servers that the settings do not name, for runs requested over the network."""
    _refuse_excess(settings, run_config)
    if run_config.base_url and run_config.base_url.rstrip("/") != settings.base_url:
        raise BadInput(
            f"The model server {run_config.base_url} was not named by the operator (FATHOM_BASE_URL)."
        )
    named = {settings.model, settings.small_model, settings.run.model}
    named |= {*settings.models.values(), *settings.run.models.values()}
    for model in (run_config.model or "", *run_config.models.values()):
        if model.endswith(".gguf") and model not in named:
            raise BadInput(f"The model file {model} was not named by the operator (FATHOM_MODEL).")
    roots = [root.expanduser().resolve() for root in (*settings.docs_roots, *map(Path, settings.run.docs))]
    for place in run_config.docs:
        path = Path(place).expanduser().resolve()
        if not any(path.is_relative_to(root) for root in roots):
            raise BadInput(f"{place} is outside the folders that may be read (FATHOM_DOCS_ROOTS).")


def _refuse_excess(settings: Settings, run_config: RunConfig) -> None:
    """Refuse more than the operator allows a run over the network."""
    asked = {
        "budget_usd": run_config.budget_usd,
        "rounds": run_config.max_rounds,
        "sources": run_config.max_sources,
        "branches": run_config.branches or 1,
    }
    for name, most in settings.ceilings.items():
        if asked[name] > most:
            raise BadInput(f"{name} may be at most {most:g} on this server (FATHOM_CEILINGS).")

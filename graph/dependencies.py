"""What the nodes of a run work with, and how it is made from the operator's settings.

Does not know the graph's shape or how nodes get their dependencies (`binding`).
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Protocol, Self

from typing_extensions import TypeIs

from fathom.budget.budget import Budget, is_paid_from_budget
from fathom.budget.cost_log import CostLog
from fathom.budget.time_budget import TimeBudget, grace_s
from fathom.errors import BadInput
from fathom.evidence.controls import TrustLog
from fathom.llm import choose_research_model
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import Clock, EnginesPort, Forecaster, PageLeasesPort, PagesPort, RunConfigsPort
from fathom.planning.forecast import load_past_runs, make_forecast, remember_run_shape, run_shape
from fathom.reading.cache import PDF_FOLDER
from fathom.reading.protocol import Document, Reader
from fathom.reading.readers import FileReader, LimitedReader, RoutingReader, WebAccess, open_web, reader_slots
from fathom.search.engines.retriever import RetrieverReader
from fathom.search.mcp.engine import McpReader
from fathom.search.protocol import SearchOutcome
from fathom.search.registry import document_roots, engines_for, mcp_servers, retriever_texts
from fathom.settings.settings import Settings, load_settings
from fathom.state import Forecast, Hit, Query, RunConfig
from fathom.storage import content, open_storage
from fathom.storage.control_signals import ControlSignals, RunSignals


class TimedModel(Protocol):
    """A model that keeps to a time budget."""

    def timed(self, watch: TimeBudget) -> Self:
        """Return the same model for a run whose time is limited."""


def is_timeable(model: object) -> TypeIs[TimedModel]:
    """Tell whether a model keeps to a time budget."""
    return hasattr(model, "timed")


@dataclass(frozen=True)
class TimedEngines:
    """Engines that start no search after the time is used up."""

    engines: EnginesPort
    time_budget: TimeBudget

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """Search, unless it is too late."""
        return await self.time_budget.begun(lambda: self.engines.search(query, limit=limit))


@dataclass(frozen=True)
class TimedReader:
    """A reader that starts no page after the time is used up."""

    reader: Reader
    time_budget: TimeBudget

    async def __call__(self, hit: Hit) -> Document:
        """Read one hit, unless it is too late."""
        return await self.time_budget.begun(lambda: self.reader(hit))


_MAX_CACHED_DEPENDENCIES = 256


@dataclass(frozen=True)
class RunDependencies:
    """What the nodes of one run work with."""

    run_config: RunConfig
    model: ResearchModel
    engines: EnginesPort
    reader: Reader
    pages: PagesPort
    clock: Clock
    page_leases: PageLeasesPort
    run_configs: RunConfigsPort
    forecaster: Forecaster
    signals: RunSignals
    budget: Budget
    time_budget: TimeBudget | None
    trust: TrustLog


@dataclass(frozen=True)
class Dependencies:
    """What all runs with one configuration work with."""

    run_config: RunConfig
    model: ResearchModel
    engines: EnginesPort
    reader: Reader
    pages: PagesPort
    clock: Clock
    page_leases: PageLeasesPort
    run_configs: RunConfigsPort
    signals: ControlSignals
    cost_log: CostLog
    forecaster: Forecaster
    grace_s: float | None = None  # for the report, beyond a time limit; None: by that limit

    def for_run(self, run: str, thread: str | None, run_config: RunConfig) -> RunDependencies:
        """Return the same for one run: its model and engines pay from its budget and keep to its time.

        `run_config` is what its nodes see: with what the run settled since, or with the limits of a branch.

        `run` names the run in the log of costs; `thread` is where a person's signals for it arrive.
        """
        budget = Budget(self.cost_log, run, self.run_config.budget_usd, self.run_config.reserve)
        model = self.model.within(budget) if is_paid_from_budget(self.model) else self.model
        engines = self.engines.within(budget) if is_paid_from_budget(self.engines) else self.engines
        reader, time_budget = self.reader, self._time_budget(run)
        if time_budget:
            model = model.timed(time_budget) if is_timeable(model) else model
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
            trust=TrustLog(self.cost_log.storage),
        )

    def _time_budget(self, run: str) -> TimeBudget | None:
        limit_s = self.run_config.time_limit_s
        if not run or limit_s is None:
            return None
        return TimeBudget(self.cost_log.storage, run, limit_s, self.grace_s or grace_s(limit_s))


class DependencyFactory(Protocol):
    """Makes what runs work with; its methods may open files and are called in a thread."""

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration."""

    def run_configs(self) -> RunConfigsPort:
        """Return where the configurations of runs are kept."""


@dataclass(frozen=True)
class CustomDependencies:
    """Dependencies that the caller makes; the configurations of runs are kept in `stored`."""

    make: Callable[[RunConfig], Dependencies]
    stored: RunConfigsPort

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration."""
        return self.make(run_config)

    def run_configs(self) -> RunConfigsPort:
        """Return where the configurations of runs are kept."""
        return self.stored


class StandardDependencies:
    """Makes the dependencies of a run configuration, once, for these settings.

    A run may read and ask only what the settings allow: whatever else it names raises BadInput.
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
        self._lock = threading.Lock()  # twenty branches may ask at once for what is made once
        self._made: dict[str, Dependencies] = {}

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration; opens files when it makes them."""
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
        """Return the configurations that the settings' database keeps."""
        return self._storage.runs

    def _make(self, run_config: RunConfig) -> Dependencies:
        settings = self._settings
        refuse_unnamed(settings, run_config)
        return Dependencies(
            run_config=run_config,
            model=choose_research_model(settings, run_config),
            engines=engines_for(settings, run_config),
            reader=_reader(settings, run_config, self._web),
            pages=content.open_page_texts(self._storage),
            clock=utc_now,
            page_leases=content.PageLeases(self._storage),
            run_configs=self.run_configs(),
            signals=ControlSignals(self._storage),
            cost_log=CostLog(self._storage),
            forecaster=_forecaster(settings, run_config),
        )


def standard_dependencies(settings: Settings) -> DependencyFactory:
    """Return what makes the usual dependencies for these settings."""
    return StandardDependencies(settings)


class EnvironmentDependencies:
    """Makes the usual dependencies for the settings of the environment, which are read at the first call."""

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration."""
        return _for_environment()(run_config)

    def run_configs(self) -> RunConfigsPort:
        """Return the configurations that the environment's database keeps."""
        return _for_environment().run_configs()


@cache
def _for_environment() -> DependencyFactory:
    return standard_dependencies(load_settings())


def utc_now() -> datetime:
    """Return the time, with its zone."""
    return datetime.now(UTC)


# One for the process: limits towards hosts hold for all runs together.
_web = cache(open_web)


def _reader(settings: Settings, run_config: RunConfig, shared: WebAccess) -> Reader:
    others: dict[str, Reader] = {"retriever": RetrieverReader(retriever_texts(settings))}
    if settings.mcp_file:
        others["mcp"] = McpReader(mcp_servers(settings))
    reader = RoutingReader(
        files=FileReader(tuple(document_roots(run_config)), parse=shared.parse),
        web=shared.reader(is_fresh_wanted=run_config.fresh),
        others=others,
    )
    return LimitedReader(reader, reader_slots(settings.parallel_extractions))


def _forecaster(settings: Settings, run_config: RunConfig) -> Forecaster:
    cost_log = CostLog(open_storage(settings.database))

    async def expected(question: str, run: str) -> Forecast:
        await remember_run_shape(cost_log, run, run_shape(run_config, question))
        past = await load_past_runs(cost_log)
        # In a thread: prices are in a file, and a table of them is imported.
        return await asyncio.to_thread(make_forecast, settings, run_config, question, past)

    return expected


def refuse_unnamed(settings: Settings, run_config: RunConfig) -> None:
    """A run asked for over the network must not read any file or send keys to any server it likes."""
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
    """Refuse more than the operator lets a run over the network ask for."""
    asked = {
        "budget_usd": run_config.budget_usd,
        "rounds": run_config.max_rounds,
        "sources": run_config.max_sources,
        "branches": run_config.branches or 1,
    }
    for name, most in settings.ceilings.items():
        if asked[name] > most:
            raise BadInput(f"{name} may be at most {most:g} on this server (FATHOM_CEILINGS).")

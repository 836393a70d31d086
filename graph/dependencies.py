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
from typing import Protocol

from fathom import store
from fathom.budget.budget import Budget, is_paying
from fathom.budget.cost_log import CostLog
from fathom.budget.forecast import forecast, shape_of
from fathom.budget.past import past_runs, shaped
from fathom.control_signals import ControlSignals, RunSignals
from fathom.errors import BadInput
from fathom.evidence.trust import TrustLog
from fathom.graph.timing import TimedEngines, TimedReader, can_hurry
from fathom.llm import mind_for
from fathom.llm.port import ResearchModel
from fathom.nodes.ports import Clock, Engines, Forecaster, PageLeases, Pages, Reader, RunConfigs
from fathom.reading.limited import Limited, reading_places
from fathom.reading.reader import AnyReader, FileReader
from fathom.reading.web import ORIGINALS, Web, web
from fathom.search.mcp import McpReader
from fathom.search.retriever import RetrieverReader
from fathom.search.table import engines_for, mcp_servers, retrieved, roots_of
from fathom.settings import Settings, load_settings
from fathom.state import Forecast, RunConfig
from fathom.storage import open_storage
from fathom.time_budget import TimeBudget, grace_s

_MAX_CACHED = 256


@dataclass(frozen=True)
class RunDependencies:
    """What the nodes of one run work with."""

    run_config: RunConfig
    model: ResearchModel
    engines: Engines
    reader: Reader
    pages: Pages
    clock: Clock
    page_leases: PageLeases
    run_configs: RunConfigs
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
    engines: Engines
    reader: Reader
    pages: Pages
    clock: Clock
    page_leases: PageLeases
    run_configs: RunConfigs
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
        model = self.model.within(budget) if is_paying(self.model) else self.model
        engines = self.engines.within(budget) if is_paying(self.engines) else self.engines
        reader, time_budget = self.reader, self._time_budget(run)
        if time_budget:
            model = model.timed(time_budget) if can_hurry(model) else model
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

    def run_configs(self) -> RunConfigs:
        """Return where the configurations of runs are kept."""


@dataclass(frozen=True)
class CustomDependencies:
    """Dependencies that the caller makes; the configurations of runs are kept in `stored`."""

    make: Callable[[RunConfig], Dependencies]
    stored: RunConfigs

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """Return the dependencies for this configuration."""
        return self.make(run_config)

    def run_configs(self) -> RunConfigs:
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
            settings.home / ORIGINALS,
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
                if len(self._made) >= _MAX_CACHED:
                    del self._made[next(iter(self._made))]  # the oldest
                self._made[key] = made
            return self._made[key]

    def run_configs(self) -> RunConfigs:
        """Return the configurations that the settings' database keeps."""
        return self._storage.runs

    def _make(self, run_config: RunConfig) -> Dependencies:
        settings = self._settings
        _refuse_unnamed(settings, run_config)
        return Dependencies(
            run_config=run_config,
            model=mind_for(settings, run_config),
            engines=engines_for(settings, run_config),
            reader=_reader(settings, run_config, self._web),
            pages=store.pages(self._storage),
            clock=now,
            page_leases=store.PageLeases(self._storage),
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

    def run_configs(self) -> RunConfigs:
        """Return the configurations that the environment's database keeps."""
        return _for_environment().run_configs()


@cache
def _for_environment() -> DependencyFactory:
    return standard_dependencies(load_settings())


def now() -> datetime:
    """Return the time, with its zone."""
    return datetime.now(UTC)


# One for the process: limits towards hosts hold for all runs together.
_web = cache(web)


def _reader(settings: Settings, run_config: RunConfig, shared: Web) -> Reader:
    others: dict[str, Reader] = {"retriever": RetrieverReader(retrieved(settings))}
    if settings.mcp_file:
        others["mcp"] = McpReader(mcp_servers(settings))
    reader = AnyReader(
        files=FileReader(tuple(roots_of(run_config)), parse=shared.parse),
        web=shared.reader(is_fresh_wanted=run_config.fresh),
        others=others,
    )
    return Limited(reader, reading_places(settings.parallel_extractions))


def _forecaster(settings: Settings, run_config: RunConfig) -> Forecaster:
    cost_log = CostLog(open_storage(settings.database))

    async def expected(question: str, run: str) -> Forecast:
        await shaped(cost_log, run, shape_of(run_config, question))
        past = await past_runs(cost_log)
        # In a thread: prices are in a file, and a table of them is imported.
        return await asyncio.to_thread(forecast, settings, run_config, question, past)

    return expected


def _refuse_unnamed(settings: Settings, run_config: RunConfig) -> None:
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

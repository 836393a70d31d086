"""What a run works with, and how nodes get it.

Does not know the graph's shape. A kit is made once for a process and a set of knobs. One compiled graph
serves all runs: a run that has kits of its own names them in its config.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, wraps
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from fathom import store
from fathom.budget.accounts import round_of, stamped
from fathom.budget.budget import Budget, is_paying
from fathom.budget.cost_log import CostLog
from fathom.budget.forecast import forecast, shape_of
from fathom.budget.past import past_runs, shaped
from fathom.control_signals import ControlSignals
from fathom.errors import BadInput
from fathom.graph.timing import TimedEngines, TimedReader, is_hurrying
from fathom.identity import ByIdentity
from fathom.llm import mind_for
from fathom.llm.port import ResearchModel
from fathom.nodes.ports import Clock, Engines, Forecaster, PageLeases, Pages, Reader
from fathom.reading.limited import Limited, reading_places
from fathom.reading.reader import AnyReader, FileReader
from fathom.reading.web import Web, web
from fathom.search.mcp import McpReader
from fathom.search.retriever import RetrieverReader
from fathom.search.table import engines_for, mcp_servers, retrieved, roots_of
from fathom.settings import Settings, load_settings
from fathom.state import Forecast, RunConfig
from fathom.time_budget import TimeBudget, grace_s


@dataclass(frozen=True)
class Dependencies:
    """Everything the nodes of one run may ask for, by name."""

    run_config: RunConfig
    mind: ResearchModel
    engines: Engines
    reader: Reader
    pages: Pages
    clock: Clock
    page_leases: PageLeases
    signals: ControlSignals  # of all runs; a node gets those of its own
    cost_log: CostLog
    forecaster: Forecaster
    budget: Budget | None = None
    watch: TimeBudget | None = None  # where the run's time is limited
    grace_s: float | None = None  # for the report, beyond that limit; empty: by the limit

    def within(self, run: str) -> "Dependencies":
        """The kit of one run: whoever costs money pays from that run's purse, and minds its time."""
        kit = self._paying(run)
        limit_s = self.run_config.time_limit_s
        if not run or limit_s is None:
            return kit
        watch = TimeBudget(self.cost_log.database, run, limit_s, self.grace_s or grace_s(limit_s))
        return replace(
            kit,
            watch=watch,
            mind=kit.mind.timed(watch) if is_hurrying(kit.mind) else kit.mind,
            engines=TimedEngines(kit.engines, watch),
            reader=TimedReader(kit.reader, watch),
        )

    def _paying(self, run: str) -> "Dependencies":
        budget = Budget(self.cost_log, run, self.run_config.budget_usd, self.run_config.reserve)
        mind = self.mind.within(budget) if is_paying(self.mind) else self.mind
        engines = self.engines.within(budget) if is_paying(self.engines) else self.engines
        return replace(self, budget=budget, mind=mind, engines=engines)


DependencyFactory = Callable[[RunConfig], Dependencies]
Node = Callable[..., Awaitable[Any]]
_KITS = "__fathom_kits"
_MOST_KITS = 256  # at hand at once, for these settings


def working_with(kits: DependencyFactory) -> RunnableConfig:
    """The config of a run that works with these kits, whichever the graph was built with."""
    return {"configurable": {_KITS: kits}}


def equip(node: Node, usual: DependencyFactory, *parts: str) -> Node:
    """The node with its parts taken from the run's kit; `usual` are the kits of a run that names none.

    What a caller sets beats what the run remembers, knob by knob, so that a run can be resumed anywhere.
    """

    @wraps(node)
    async def equipped(state: Any, runtime: Runtime[RunConfig], config: RunnableConfig) -> Any:
        kit = await _kit_of(_kits_in(config) or usual, state, runtime)
        given = {part: getattr(kit, part) for part in parts}
        if "signals" in given:
            given["signals"] = kit.signals.of(_thread_of(runtime))
        async with kit.watch.at_work() if kit.watch else nullcontext():
            return stamped(await node(state, **given), node.__name__, round_of(state, node.__name__))

    # LangGraph reads what to pass from the signature, and must not see the node's own.
    del equipped.__wrapped__
    given_to = {
        "state": node.__annotations__["state"],
        "runtime": Runtime[RunConfig],
        "config": RunnableConfig,
    }
    equipped.__annotations__ = given_to
    return equipped


def _kits_in(config: RunnableConfig) -> DependencyFactory | None:
    """The kits that whoever started the run put into its config; over a network nothing callable comes."""
    found = config.get("configurable", {}).get(_KITS)
    return found if callable(found) else None


async def _kit_of(kits: DependencyFactory, state: Any, runtime: Runtime[RunConfig]) -> Dependencies:
    """What a task works with; the tasks of a run are told the same, and have it made once for all of them."""
    remembered, direction = state.get("run_config"), state.get("direction")
    told = (_thread_of(runtime), state.get("run"), runtime.context, remembered, direction)
    # A plain mapping may be changed by whoever gave it, and be given again.
    is_lasting = remembered is None or isinstance(remembered, RunConfig)
    memory = kits.within if is_lasting and isinstance(kits, StandardDependencies) else None
    if memory and (known := memory.get(*told)):
        return known
    run_config = run_config_of(runtime.context, remembered)
    kit = await _made(kits, direction.within(run_config) if direction else run_config)
    kit = kit.within(_name_of(state, runtime))
    if memory:
        memory.put(kit, *told)
    return kit


async def _made(kits: DependencyFactory, run_config: RunConfig) -> Dependencies:
    if isinstance(kits, StandardDependencies) and (kit := kits.at_hand(run_config)):
        return kit
    # In a thread: making a kit opens files, which `langgraph dev` forbids in the event loop.
    return await asyncio.to_thread(kits, run_config)


def _thread_of(runtime: Runtime[RunConfig]) -> str | None:
    """The name a run is saved under; there is none without a checkpointer."""
    return runtime.execution_info.thread_id if runtime.execution_info else None


def _name_of(state: Any, runtime: Runtime[RunConfig]) -> str:
    """One name a run, the same in all its branches: of its thread, and of what was begun in it."""
    return "/".join(name for name in (_thread_of(runtime), state.get("run")) if name)


def run_config_of(given: RunConfig | None, remembered: RunConfig | Mapping[str, Any] | None) -> RunConfig:
    """The knobs a run goes on with; a server gives every run a context, and often an empty one.

    What is None was left open, and the run may have settled it since: rounds and sources by its effort.
    """
    run_config = RunConfig.model_validate(remembered or {})
    said = {name: getattr(given, name) for name in given.model_fields_set} if given else {}
    return run_config.model_copy(update={name: value for name, value in said.items() if value is not None})


def now() -> datetime:
    """The time, with its zone."""
    return datetime.now(UTC)


# One a process: manners towards hosts are not manners if every run has its own.
_web = cache(web)


class StandardDependencies:
    """Kits for some settings; a run may read and ask only what the settings allow."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._web = _web(
            settings.database,
            is_private_allowed=settings.allow_private,
            is_robots_obeyed=settings.respect_robots,
            arxiv=settings.arxiv_pages,
        )
        self._lock = threading.Lock()  # one kit a set of knobs, even when twenty branches ask for it at once
        self._kits: dict[str, Dependencies] = {}
        self.within: ByIdentity[Dependencies] = ByIdentity(
            _MOST_KITS
        )  # those of one run, by what its tasks are told

    def __call__(self, run_config: RunConfig) -> Dependencies:
        """The kit for these knobs, made if need be."""
        words = self._words(run_config)
        with self._lock:
            if words not in self._kits:
                kit = self._made(RunConfig.model_validate_json(words))
                if len(self._kits) >= _MOST_KITS:
                    del self._kits[next(iter(self._kits))]  # the oldest; whoever works with it keeps it
                self._kits[words] = kit
            return self._kits[words]

    def at_hand(self, run_config: RunConfig) -> Dependencies | None:
        """The kit for these knobs if it was made before; nobody waits for anything."""
        return self._kits.get(self._words(run_config))

    def _words(self, run_config: RunConfig) -> str:
        return self._settings.usual(run_config).model_dump_json()

    def _made(self, run_config: RunConfig) -> Dependencies:
        settings = self._settings
        _refuse_strangers(settings, run_config)
        return Dependencies(
            run_config=run_config,
            mind=mind_for(settings, run_config),
            engines=engines_for(settings, run_config),
            reader=_reader(settings, run_config, self._web),
            pages=store.pages(settings.database),
            clock=now,
            page_leases=store.PageLeases(settings.database),
            signals=ControlSignals(settings.database),
            cost_log=CostLog(settings.database),
            forecaster=_forecaster(settings, run_config),
        )


def standard_dependencies(settings: Settings) -> DependencyFactory:
    """The usual kits for these settings."""
    return StandardDependencies(settings)


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
    cost_log = CostLog(settings.database)

    async def expected(question: str, run: str) -> Forecast:
        await shaped(cost_log, run, shape_of(run_config, question))
        past = await past_runs(cost_log)
        # In a thread: prices are in a file, and a table of them is imported.
        return await asyncio.to_thread(forecast, settings, run_config, question, past)

    return expected


def _refuse_strangers(settings: Settings, run_config: RunConfig) -> None:
    """A run asked for over the network must not read any folder or send keys to any server it likes."""
    if run_config.base_url and run_config.base_url.rstrip("/") != settings.base_url:
        raise BadInput(
            f"The model server {run_config.base_url} was not named by the operator (FATHOM_BASE_URL)."
        )
    roots = [root.expanduser().resolve() for root in (*settings.docs_roots, *map(Path, settings.run.docs))]
    for place in run_config.docs:
        path = Path(place).expanduser().resolve()
        if not any(path.is_relative_to(root) for root in roots):
            raise BadInput(f"{place} is outside the folders that may be read (FATHOM_DOCS_ROOTS).")


@cache
def _environment_kits() -> DependencyFactory:
    return standard_dependencies(load_settings())


def kits_from_environment(run_config: RunConfig) -> Dependencies:
    """Kits as the environment configures them, read when the first run needs them."""
    return _environment_kits()(run_config)

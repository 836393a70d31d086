"""Bind nodes to their dependencies, and resolve the run's configuration.

A node is bound with a lambda that names its dependencies, so that a type checker sees them: `bind("searcher",
lambda state, d: searcher(state, engines=d.engines))`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated, Any

from langchain_core.callbacks import BaseCallbackManager
from langgraph.channels import EphemeralValue
from langgraph.config import get_config
from langgraph.runtime import Runtime
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict, get_type_hints

from fathom.budget.prices import round_of_node, stamp_costs
from fathom.graph.dependencies import DependencyFactory, RunDependencies
from fathom.planning.effort import apply_effort
from fathom.state import SETTING_NAMES, ResearchState, RunConfig

_SETTINGS_AND_STATE = ("queries", "strategy")  # names of settings that are keys of the state too
NodeWork = Callable[[Any, RunDependencies], Awaitable[Any]]
Node = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Binder:
    """Binds nodes to the dependencies that one factory makes."""

    make: DependencyFactory

    def __call__(self, name: str, work: NodeWork) -> Node:
        """Return the node `name` for this function; its costs are marked with name and round."""

        async def run_node(state: Any, *, runtime: Runtime[RunConfig]) -> Any:
            dependencies = await self.dependencies(state, runtime)
            number = round_of_node(state, name)
            _trace_round(number)
            time_budget = dependencies.time_budget
            async with time_budget.at_work() if time_budget else nullcontext():
                return stamp_costs(await work(state, dependencies), name, number)

        return run_node

    async def dependencies(self, state: Mapping[str, Any], runtime: Runtime[RunConfig]) -> RunDependencies:
        """Return the dependencies of a node in this state."""
        thread = runtime.execution_info.thread_id if runtime.execution_info else None
        run = state.get("run")
        # In a thread: the first call opens files, which `langgraph dev` forbids in the event loop.
        run_configs = await asyncio.to_thread(self.make.run_configs)
        stored = await run_configs.config_of(run or thread or "")
        run_config = resolve_run_config(runtime.context, stored)
        made = await asyncio.to_thread(self.make, run_config)
        spent_by = "/".join(name for name in (thread, run) if name)
        return made.for_run(spent_by, thread, _config_for(made.run_config, state))


def _config_for(run_config: RunConfig, state: Mapping[str, Any]) -> RunConfig:
    """Return the configuration of a branch, or with the limits that the run's effort sets."""
    if direction := state.get("direction"):
        limited: RunConfig = direction.limit_config(run_config)
        return limited
    return apply_effort(run_config, state["effort"]) if "effort" in state else run_config


def _trace_round(number: int) -> None:
    """Add the round to the trace metadata of every call of the current node."""
    manager = get_config().get("callbacks")
    if isinstance(manager, BaseCallbackManager):
        manager.add_metadata({"round": number})


def with_settings(schema: type) -> Any:
    """Add the run settings to the keys of the schema, for the one step that rejects them.

    LangGraph silently drops input that no schema names: a run would use other settings than its caller wants.
    """
    hidden: Any = SkipJsonSchema()  # type: ignore[type-arg]
    refused = dict.fromkeys(sorted(SETTING_NAMES), Annotated[Any, hidden, EphemeralValue])
    known = get_type_hints(schema, include_extras=True)
    state = get_type_hints(ResearchState, include_extras=True)
    refused |= {name: Annotated[state[name], hidden] for name in _SETTINGS_AND_STATE if name not in known}
    return TypedDict(schema.__name__, {**refused, **known}, total=False)  # type: ignore[operator]


def resolve_run_config(given: RunConfig | None, stored: str | None) -> RunConfig:
    """Return the stored configuration, overridden by what the caller sets; None means unset.

    A server gives every run a context, often an empty one, so only fields that were set count.
    """
    run_config = RunConfig.model_validate_json(stored or "{}")
    said = {name: getattr(given, name) for name in given.model_fields_set} if given else {}
    return run_config.model_copy(update={name: value for name, value in said.items() if value is not None})

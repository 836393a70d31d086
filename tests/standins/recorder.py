"""A callback handler that keeps what a tracer such as LangSmith's would show.

Does not know what is traced.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.tracers.base import AsyncBaseTracer
from langchain_core.tracers.schemas import Run
from langgraph.graph import StateGraph
from typing_extensions import TypedDict


class Recorder(AsyncBaseTracer):
    """Keeps every finished run, as a tracer would send it away."""

    def __init__(self) -> None:
        super().__init__()
        self.ended: list[Run] = []

    async def _persist_run(self, run: Run) -> None:
        """The root is of no more interest than the others."""

    async def _end_trace(self, run: Run) -> None:
        self.ended.append(run)
        await super()._end_trace(run)

    def named(self, name: str) -> Run:
        (found,) = [run for run in self.ended if run.name == name]
        return found


class _State(TypedDict, total=False):
    answer: str


async def traced_in_a_graph(work: Callable[[], Awaitable[Any]]) -> Recorder:
    """What callbacks saw of the work, done by the node `asker` of a small graph."""

    async def asker(state: _State) -> _State:
        await work()
        return {"answer": "done"}

    graph = StateGraph(_State)
    graph.add_node("asker", asker)
    graph.set_entry_point("asker")
    recorder = Recorder()
    await graph.compile().ainvoke({}, {"callbacks": [recorder]})
    return recorder

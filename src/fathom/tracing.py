"""Runs that LangChain callbacks see (LangSmith, Studio, any handler): searches, fetches, answers used again.

Each is a child of the node that asked, found through the current runnable config.
"""

import sys
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from contextvars import Token

    from langchain_core.callbacks import AsyncCallbackManager
    from langchain_core.runnables import RunnableConfig

TraceKind = Literal["chain", "retriever", "tool"]


class TracedRun:
    """One run in a trace, as an async context manager; an error that leaves it is reported and goes on.

    ```python
    async with TracedRun("retriever", "brave", query.text, engine="brave") as run:
        hits = await search()
        run.note(results=len(hits))
        run.output = [{"page_content": hit.snippet, "address": hit.address} for hit in hits]
    ```
    Runs, LangChain calls and graphs inside it become its children.
    """

    def __init__(self, kind: TraceKind, name: str, given: str | Mapping[str, Any], **metadata: Any) -> None:
        """`given` is the input; a retriever and a tool are given a string."""
        self.output: Any = None
        self._kind, self._name, self._given = kind, name, given
        self._metadata = metadata
        self._run: Any = None  # LangChain has a class of run managers for each kind
        self._token: Token[RunnableConfig | None] | None = None

    @property
    def is_heard(self) -> bool:
        """Whether anybody listens; otherwise an output need not be prepared."""
        return self._run is not None

    def note(self, **metadata: Any) -> None:
        """Add what is known only now; None is left out. `cost_usd` is also told as LangSmith reads costs."""
        known = {name: value for name, value in metadata.items() if value is not None}
        if "cost_usd" in known:
            known["usage_metadata"] = {"total_cost": known["cost_usd"]}
        self._metadata.update(known)
        if self._run is not None:
            self._run.metadata.update(known)  # the very mapping that tracers hold

    async def __aenter__(self) -> "TracedRun":
        # Whoever listens has imported it; nobody else should have to.
        configs = sys.modules.get("langchain_core.runnables.config")
        config: RunnableConfig | None = configs.var_child_runnable_config.get() if configs else None
        if configs is None or config is None:
            return self
        manager: AsyncCallbackManager = configs.get_async_callback_manager_for_config(config)
        if not manager.handlers:
            return self
        early, self._metadata = self._metadata, {}
        manager.add_metadata({name: value for name, value in early.items() if value is not None}, False)
        self._run = await self._start(manager)
        inner = configs.patch_config(config, callbacks=self._run.get_child())
        self._token = configs.var_child_runnable_config.set(inner)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._run is None or self._token is None:
            return
        self._token.var.reset(self._token)
        told = {"metadata": dict(self._run.metadata)}
        if error is not None:
            await getattr(self._run, f"on_{self._kind}_error")(error, **told)
            return
        output = _documents(self.output or ()) if self._kind == "retriever" else self.output
        await getattr(self._run, f"on_{self._kind}_end")(output, **told)

    async def _start(self, manager: "AsyncCallbackManager") -> Any:
        about = {"name": self._name}
        if self._kind == "retriever":
            return await manager.on_retriever_start(about, str(self._given), name=self._name)
        if self._kind == "tool":
            return await manager.on_tool_start(about, str(self._given), name=self._name)
        given = self._given if isinstance(self._given, Mapping) else {"input": self._given}
        return await manager.on_chain_start(about, dict(given), name=self._name)


def _documents(rows: Sequence[Mapping[str, Any]]) -> list[Any]:
    from langchain_core.documents import Document

    return [
        Document(
            str(row.get("page_content", "")),
            metadata={name: value for name, value in row.items() if name != "page_content"},
        )
        for row in rows
    ]

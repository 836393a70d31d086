"""LangGraph's SQLite saver, made to clean up after itself.

Does not know what a checkpoint holds. What a resume can no longer need is forgotten as a run goes on: the
steps inside a finished branch, and the branches' writes once a checkpoint holds them. Every checkpoint of the
run itself stays, so that one can still go back to any of them; they share what they have in common.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fathom import slices

_LATEST = (
    "select checkpoint_ns, max(checkpoint_id) from checkpoints where thread_id = ?1 group by checkpoint_ns"
)


class ThriftySqliteSaver(AsyncSqliteSaver):
    """Forgets what is done with, and adds the two clean-ups that `langgraph dev` asks a saver for."""

    async def setup(self) -> None:
        """Make the tables, ours included."""
        if not self.is_setup:
            await super().setup()
            async with self.lock:
                await self.conn.execute(slices.TABLE)
                await self.conn.commit()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint, its lists whole."""
        found = await super().aget_tuple(config)
        if found is None:
            return None
        async with self.lock:  # a reading beside a writing on one connection would see it locked
            return await self._whole(found)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - the name is LangGraph's
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, their lists whole, newest first; the lock is held for as long as they come."""
        async for found in super().alist(config, filter=filter, before=before, limit=limit):
            yield await self._whole(found)

    async def _whole(self, found: CheckpointTuple) -> CheckpointTuple:
        values = found.checkpoint["channel_values"]
        if not (shas := slices.named(values)):
            return found
        rows = await slices.kept(self.conn, str(found.config["configurable"]["thread_id"]), shas)
        checkpoint = {**found.checkpoint, "channel_values": slices.whole(values, rows, self.serde)}
        return found._replace(checkpoint=cast(Checkpoint, checkpoint))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint; the writes it was made from are in it, and go."""
        await self.setup()
        at = config["configurable"]
        values, rows = slices.cut(checkpoint["channel_values"], self.serde)
        async with self.lock:
            await slices.keep(self.conn, str(at["thread_id"]), rows)
            await self.conn.commit()
        cut = cast(Checkpoint, {**checkpoint, "channel_values": values})
        saved = await super().aput(config, cut, metadata, new_versions)
        if before := at.get("checkpoint_id"):
            where = "thread_id = ? and checkpoint_ns = ? and checkpoint_id = ?"
            async with self.lock:
                await self.conn.execute(
                    f"delete from writes where {where}",  # noqa: S608
                    (str(at["thread_id"]), at.get("checkpoint_ns", ""), before),
                )
                await self.conn.commit()
        return saved

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task wrote; once that is its result, the steps inside it go."""
        await super().aput_writes(config, writes, task_id, task_path)
        if not _is_result(writes):
            return
        inside = "thread_id = ? and checkpoint_ns > '' and (checkpoint_ns like ? or checkpoint_ns like ?)"
        given = (str(config["configurable"]["thread_id"]), f"%:{task_id}", f"%:{task_id}|%")
        async with self.lock:
            for table in ("writes", "checkpoints"):
                await self.conn.execute(f"delete from {table} where {inside}", given)  # noqa: S608
            await self.conn.commit()

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget all of a thread."""
        await super().adelete_thread(thread_id)
        async with self.lock:
            await self.conn.execute("delete from slices where thread_id = ?", (str(thread_id),))
            await self.conn.commit()

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep only the last checkpoint of each thread, or nothing of it."""
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
            else:
                await self._forget(
                    f"thread_id = ?1 and (checkpoint_ns, checkpoint_id) not in ({_LATEST})", thread_id
                )
                await self._forget_slices(thread_id)

    async def _forget_slices(self, thread_id: str) -> None:
        """Drop the slices that no checkpoint left of the thread names."""
        config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
        named: set[str] = set()
        async for found in super().alist(config):
            named.update(slices.named(found.checkpoint["channel_values"]))
        async with self.lock:
            await slices.forget(self.conn, thread_id, named)
            await self.conn.commit()

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what the given server runs have written."""
        for run_id in run_ids:
            await self._forget("json_extract(cast(metadata as text), '$.run_id') = ?1", run_id)

    async def _forget(self, condition: str, value: str) -> None:
        await self.setup()
        async with self.lock:
            # The conditions are the literals above; only the value comes from outside.
            await self.conn.execute(
                "delete from writes where (thread_id, checkpoint_ns, checkpoint_id) in "  # noqa: S608
                f"(select thread_id, checkpoint_ns, checkpoint_id from checkpoints where {condition})",
                (value,),
            )
            await self.conn.execute(f"delete from checkpoints where {condition}", (value,))  # noqa: S608
            await self.conn.commit()


def _is_result(writes: Sequence[tuple[str, Any]]) -> bool:
    """Whether a task has ended well; an error or an interrupt is no result, and what is inside is needed."""
    channels = {channel for channel, _ in writes}
    return not channels & {"__error__", "__interrupt__"} and not channels <= set(WRITES_IDX_MAP)

"""LangGraph's SQLite saver, made to clean up after itself.

Does not know what a checkpoint holds. What a resume can no longer need is forgotten as a run goes on: the
steps inside a finished branch, and the branches' writes once a checkpoint holds them. Every checkpoint of the
run itself stays, so that one can still go back to any of them; they share what they have in common.
"""

import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, cast

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.checkpoint.sqlite.utils import load_pending_writes, pending_writes_sql

from fathom import slices
from fathom.database import looked_up, opened, written
from fathom.outdone import Outdone, Place

_LATEST = (
    "select checkpoint_ns, max(checkpoint_id) from checkpoints where thread_id = ?1 group by checkpoint_ns"
)
_ONE = (
    "select checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata from checkpoints"
    " where thread_id = ? and checkpoint_ns = ? and checkpoint_id = ?"
)
_LAST = _ONE.replace("and checkpoint_id = ?", "order by checkpoint_id desc limit 1")
_SAVE = (
    "insert or replace into checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type,"
    " checkpoint, metadata) values (?, ?, ?, ?, ?, ?, ?)"
)
_SAVE_WRITE = (
    "insert or {} into writes (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel,"
    " type, value) values (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_FORGET_WRITES = "delete from writes where thread_id = ? and checkpoint_ns = ? and checkpoint_id = ?"
_FORGET_INSIDE = (
    "delete from {} where thread_id = ? and checkpoint_ns > ''"
    " and (checkpoint_ns like ? or checkpoint_ns like ?)"
)
_MOST_BRANCHES = 10_000


class ThriftySqliteSaver(AsyncSqliteSaver):
    """Forgets what is done with, and adds the two clean-ups that `langgraph dev` asks a saver for."""

    def __init__(
        self, conn: aiosqlite.Connection, database: Path, *, serde: SerializerProtocol | None = None
    ) -> None:
        super().__init__(conn, serde=serde)
        self._database = database  # what a run's every step needs goes there without the connection's detours
        self._outdone = Outdone()
        # Tasks in which there may be steps; of those that failed, the last.
        self._branches: dict[str, None] = {}

    async def setup(self) -> None:
        """Make the tables, ours included."""
        if not self.is_setup:
            await super().setup()
            async with self.lock:
                await self.conn.execute(slices.TABLE)
                await self.conn.commit()

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """A checkpoint, its lists whole."""
        await self.setup()
        if space := config["configurable"].get("checkpoint_ns"):
            # A branch asks where it stands before it begins.
            self._branches[space.rpartition(":")[2]] = None
            if len(self._branches) > _MOST_BRANCHES:
                del self._branches[next(iter(self._branches))]
        return await looked_up(self._database, self._tuple, config)

    def _tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        at = config["configurable"]
        thread_id, space = str(at["thread_id"]), at.get("checkpoint_ns", "")
        wanted = get_checkpoint_id(config)
        with opened(self._database) as connection:
            connection.execute("begin")  # the checkpoint, its writes and its slices as they are at one time
            row = connection.execute(
                _ONE if wanted else _LAST, (thread_id, space, wanted)[: 2 + bool(wanted)]
            )
            if (found := row.fetchone()) is None:
                return None
            name, before, kind, body, metadata = found
            pending = connection.execute(pending_writes_sql(True), (thread_id, space, name)).fetchall()
            checkpoint = self._filled(connection, thread_id, self.serde.loads_typed((kind, body)))
        return CheckpointTuple(
            config if wanted else _place(thread_id, space, name),
            checkpoint,
            cast(CheckpointMetadata, json.loads(metadata) if metadata is not None else {}),
            _place(thread_id, space, before) if before else None,
            load_pending_writes(pending, self.serde),
        )

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
            yield await looked_up(self._database, self._whole, found)

    def _whole(self, found: CheckpointTuple) -> CheckpointTuple:
        thread_id = str(found.config["configurable"]["thread_id"])
        with opened(self._database) as connection:
            return found._replace(checkpoint=self._filled(connection, thread_id, found.checkpoint))

    def _filled(self, connection: sqlite3.Connection, thread_id: str, checkpoint: Any) -> Checkpoint:
        values = checkpoint["channel_values"]
        if shas := slices.named(values):
            rows = slices.kept(connection, thread_id, shas)
            checkpoint = {**checkpoint, "channel_values": slices.whole(values, rows, self.serde)}
        return cast(Checkpoint, checkpoint)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,  # noqa: ARG002 - the signature is LangGraph's
    ) -> RunnableConfig:
        """Save a checkpoint; the writes it was made from are in it, and go.

        A branch that has only been told what to do is not saved: it would begin with the same.
        """
        await self.setup()
        at = config["configurable"]
        thread_id, space, before = str(at["thread_id"]), at["checkpoint_ns"], at.get("checkpoint_id")
        if not space or metadata.get("source") != "input":
            ended = self._outdone.by_next((thread_id, space, before)) if before else []
            branches = [task_id for task_id in ended if self._is_branch(task_id)]
            await written(self._database, self._put, config, checkpoint, metadata, branches)
        return _place(at["thread_id"], space, checkpoint["id"])

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata, ended: list[str]
    ) -> None:
        at = config["configurable"]
        thread_id, space, before = str(at["thread_id"]), at["checkpoint_ns"], at.get("checkpoint_id")
        values, rows = slices.cut(checkpoint["channel_values"], self.serde)
        kind, body = self.serde.dumps_typed({**checkpoint, "channel_values": values})
        about = json.dumps(get_checkpoint_metadata(config, metadata), ensure_ascii=False)
        row = (thread_id, space, checkpoint["id"], before, kind, body, about.encode("utf-8", "ignore"))
        with opened(self._database) as connection:
            slices.keep(connection, thread_id, rows)
            connection.execute(_SAVE, row)
            if before:
                connection.execute(_FORGET_WRITES, (thread_id, space, before))
            for task_id in ended:
                _forget_inside(connection, thread_id, task_id)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Save what a task wrote, unless a checkpoint that holds it comes; the steps inside it go then."""
        await self.setup()
        at = config["configurable"]
        place = (str(at["thread_id"]), str(at["checkpoint_ns"]), str(at["checkpoint_id"]))
        is_result = _is_result(writes)
        if is_result and await self._outdone.within_a_moment(place, task_id):
            return
        is_over = is_result and self._is_branch(task_id)
        await written(self._database, self._put_writes, place, writes, task_id, task_path, is_over)

    def _is_branch(self, task_id: str) -> bool:
        """Whether there may be steps inside a task that has ended; asked once."""
        is_branch = task_id in self._branches
        self._branches.pop(task_id, None)
        return is_branch

    def _put_writes(
        self, place: Place, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str, is_over: bool
    ) -> None:
        if _has_failed(writes):
            # What it wrote until then is half a result, without a word of where to go on, and would pass for
            # a whole one: whoever goes on does it again.
            writes = [(channel, value) for channel, value in writes if channel in WRITES_IDX_MAP]
        of = (*place, task_id, task_path)
        rows = [
            (*of, WRITES_IDX_MAP.get(channel, index), channel, *self.serde.dumps_typed(value))
            for index, (channel, value) in enumerate(writes)
        ]
        is_renewed = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        with opened(self._database) as connection:
            connection.executemany(_SAVE_WRITE.format("replace" if is_renewed else "ignore"), rows)
            if is_over:
                _forget_inside(connection, place[0], task_id)

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


def _place(thread_id: str, space: str, name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": space, "checkpoint_id": name}}


def _forget_inside(connection: sqlite3.Connection, thread_id: str, task_id: str) -> None:
    """The steps inside a task whose result is saved."""
    for table in ("writes", "checkpoints"):
        connection.execute(_FORGET_INSIDE.format(table), (thread_id, f"%:{task_id}", f"%:{task_id}|%"))


def _has_failed(writes: Sequence[tuple[str, Any]]) -> bool:
    """Whether a task was cut off, or went wrong."""
    return any(channel == "__error__" for channel, _ in writes)


def _is_result(writes: Sequence[tuple[str, Any]]) -> bool:
    """Whether a task has ended well; an error or an interrupt is no result, and what is inside is needed."""
    channels = {channel for channel, _ in writes}
    return not channels & {"__error__", "__interrupt__"} and not channels <= set(WRITES_IDX_MAP)

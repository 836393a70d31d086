"""LangGraph's SQLite saver, made to clean up after itself.

Does not know what a checkpoint holds.
"""

from collections.abc import Sequence

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

_LATEST = (
    "select checkpoint_ns, max(checkpoint_id) from checkpoints where thread_id = ?1 group by checkpoint_ns"
)


class ThriftySqliteSaver(AsyncSqliteSaver):
    """Adds the two clean-ups that `langgraph dev` asks a saver for."""

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Keep only the last checkpoint of each thread, or nothing of it."""
        for thread_id in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread_id)
            else:
                await self._forget(
                    f"thread_id = ?1 and (checkpoint_ns, checkpoint_id) not in ({_LATEST})", thread_id
                )

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

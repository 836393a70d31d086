"""Questions about checkpoints that LangGraph's saver does not answer, in SQLite.

Does not know what is in a checkpoint but for the list that grows with every round.
"""

from dataclasses import dataclass, field

from fathom.storage.database import Database
from fathom.storage.prune import delete_steps, superseded_steps

_MOST_KNOWN = 64  # runs whose steps are remembered, so that none is decoded twice
_ROUNDS = "judgements"  # the list in the state that has one entry a round


@dataclass(frozen=True)
class SqliteCheckpoints:
    """The checkpoints of all runs; see `CheckpointStore`."""

    database: Database
    _known: dict[str, dict[str, int]] = field(default_factory=dict)

    async def run_ids(self) -> list[str]:
        """Return the ids of all runs, the newest first."""
        words = (
            "select thread_id from checkpoints where checkpoint_ns = ''"
            " group by thread_id order by min(checkpoint_id) desc"
        )
        return [run for (run,) in await self.database.read(lambda c: c.execute(words).fetchall())]

    async def first_and_last(self, run: str) -> tuple[str, str] | None:
        """Return the ids of a run's first and last checkpoint, or None when it has none."""
        words = "select min(checkpoint_id), max(checkpoint_id) from checkpoints where thread_id = ?"
        first, last = await self.database.read(lambda c: c.execute(words, (run,)).fetchone())
        return (first, last) if first else None

    async def steps_of(self, run: str) -> list[str]:
        """Return the ids of every step of a run that is kept, the latest first."""
        words = (
            "select checkpoint_id from checkpoints where thread_id = ? and checkpoint_ns = ''"
            " order by checkpoint_id desc"
        )
        return [step for (step,) in await self.database.read(lambda c: c.execute(words, (run,)).fetchall())]

    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over; return how many."""
        if run not in self._known and len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        known = self._known.setdefault(run, {})
        names = await self.database.read(lambda c: superseded_steps(c, run, _ROUNDS, known))
        if names:
            await self.database.write(lambda c: delete_steps(c, run, names))
        return len(names)

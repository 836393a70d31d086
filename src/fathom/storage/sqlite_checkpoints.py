"""Questions about checkpoints that LangGraph's saver does not answer, in SQLite.

Does not know what is in a checkpoint but for the list that grows with every round.
"""

import sqlite3
from dataclasses import dataclass, field

from fathom.storage.database import Database
from fathom.storage.past_rounds import archive_rounds, archived_ends, restore_round
from fathom.storage.prune import delete_steps, find_old_steps

_MOST_KNOWN = 64  # runs whose steps are remembered, so that none is decoded twice
_FEWEST_ENDS = 2  # the last old end stays a checkpoint, which the others are differences from
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

    async def runs_longer_than(self, steps: int) -> list[str]:
        """Return the runs that have more steps than so many."""
        words = (
            "select thread_id from checkpoints where checkpoint_ns = ''"
            " group by thread_id having count(*) > ?"
        )
        return [run for (run,) in await self.database.read(lambda c: c.execute(words, (steps,)).fetchall())]

    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over, and archive their ends; return how many."""
        if run not in self._known and len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        known = self._known.setdefault(run, {})
        old = await self.database.read(lambda c: find_old_steps(c, run, _ROUNDS, known))
        if not old.superseded and len(old.ends) < _FEWEST_ENDS:
            return 0

        def remove(connection: sqlite3.Connection) -> int:
            gone = [*old.superseded, *archive_rounds(connection, run, old.ends)]
            delete_steps(connection, run, gone)
            return len(gone)

        return await self.database.write(remove)

    async def restore_round(self, run: str, judged: int) -> None:
        """Put the end of a round back among the checkpoints, if it was archived."""
        await self.database.write(lambda c: restore_round(c, run, judged))

    async def archived_ends(self, run: str) -> list[tuple[str, int]]:
        """Return the archived ends of rounds, oldest first: step, and how many rounds were over."""
        return await self.database.read(lambda c: archived_ends(c, run))

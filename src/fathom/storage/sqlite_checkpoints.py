"""Questions about checkpoints that LangGraph's saver does not answer, in SQLite.

Does not know what is in a checkpoint but for the list that grows with every round.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import zstandard

from fathom.storage.compression import deflate, inflate
from fathom.storage.prune import delete_steps, find_old_steps
from fathom.storage.run_tables import CheckpointTable
from fathom.storage.sql import Connection

_DIFFERENCE_LEVEL = 9

_COPY = """
insert or ignore into past_rounds
    select thread_id, checkpoint_id, ?, ?, parent_checkpoint_id, ?, ?, metadata from checkpoints
    where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?
"""

_PUT_BACK = """
insert or ignore into checkpoints
    select run, '', step, parent, ?, ?, metadata from past_rounds where run = ? and step = ?
"""

_CHAIN = """
with recursive chain (step, base, type, body, place) as (
    select step, base, type, body, 0 from past_rounds where run = :run and step = :step
    union all
    select p.step, p.base, p.type, p.body, place + 1 from past_rounds p join chain on p.step = chain.base
    where p.run = :run
)
select base, type, body from chain order by place desc
"""


def archive_rounds(connection: Connection, run: str, ends: Sequence[tuple[str, int]]) -> list[str]:
    """Keep all of these ends but the last as differences; return the steps that are no longer needed.

    `ends` are steps, the oldest first, each with the number of rounds that were over.
    """
    done: list[str] = []
    for (step, judged), (base, _) in itertools.pairwise(ends):
        older, newer = _checkpoint_bytes(connection, run, step), _checkpoint_bytes(connection, run, base)
        if older and newer:  # else another process was quicker
            kind, body = older
            connection.execute(_COPY, (judged, base, kind, _compress_against(body, newer[1]), run, step))
            done.append(step)
    return done


def restore_round(connection: Connection, run: str, judged: int) -> None:
    """Put the end of a round back among the checkpoints, if it was archived."""
    words = "select max(step) from past_rounds where run = ? and judged = ?"
    (step,) = connection.execute(words, (run, judged)).fetchone()
    if step is None:
        return
    rows = connection.execute(_CHAIN, {"run": run, "step": step}).fetchall()
    last = _checkpoint_bytes(connection, run, rows[0][0])
    if last is None:
        return
    plain = last[1]
    for _, _, body in rows:
        plain = _decompress_against(body, plain)
    connection.execute(_PUT_BACK, (*deflate(rows[-1][1], plain), run, step))


def archived_ends(connection: Connection, run: str) -> list[tuple[str, int]]:
    """Return the archived ends of a run, the oldest first, each with the number of rounds that were over."""
    words = "select step, judged from past_rounds where run = ? order by step"
    return connection.execute(words, (run,)).fetchall()


def _checkpoint_bytes(connection: Connection, run: str, step: str) -> tuple[str, bytes] | None:
    """Return the type and the bytes of a checkpoint as they were before they were compressed."""
    words = (
        "select type, checkpoint from checkpoints"
        " where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"
    )
    row = connection.execute(words, (run, step)).fetchone()
    return inflate(*row) if row else None


def _compress_against(body: bytes, base: bytes) -> bytes:
    """Return a body compressed with another one as its dictionary."""
    window = (len(body) + len(base)).bit_length()
    parameters = zstandard.ZstdCompressionParameters.from_level(_DIFFERENCE_LEVEL, window_log=max(window, 10))
    return zstandard.ZstdCompressor(compression_params=parameters, dict_data=_dictionary(base)).compress(body)


def _decompress_against(difference: bytes, base: bytes) -> bytes:
    return zstandard.ZstdDecompressor(dict_data=_dictionary(base)).decompress(difference)


def _dictionary(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


_MOST_KNOWN = 64  # runs whose steps are remembered, so that none is decoded twice

_FEWEST_ENDS = 2  # the last old end stays a checkpoint, which the others are differences from

_ROUNDS = "judgements"  # the list in the state that has one entry a round


@dataclass(frozen=True)
class SqliteCheckpoints(CheckpointTable):
    """The checkpoints of all runs; see `CheckpointStore`."""

    _known: dict[str, dict[str, int]] = field(default_factory=dict)

    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over, and archive their ends; return how many."""
        if run not in self._known and len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        known = self._known.setdefault(run, {})
        old = await self.database.read(lambda c: find_old_steps(c, run, _ROUNDS, known))
        if not old.superseded and len(old.ends) < _FEWEST_ENDS:
            return 0

        def remove(connection: Connection) -> int:
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

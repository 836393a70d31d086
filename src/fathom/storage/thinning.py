"""Which checkpoints are superseded, and how they are deleted.

LangGraph's savers keep everything for ever. Triggers in the database prune (`fathom.storage.database`): they
belong to the same transaction as the write that makes a row superfluous, and work for every process that
writes checkpoints, `langgraph dev` included. Kept is what a resume, a fork or the history needs:

- every checkpoint of the run itself, until its round is long over; then the one that ends the round,
- inside a task that is not done: the last checkpoint, and the writes that belong to it.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import ormsgpack
import zstandard

from fathom.storage.compression import deflate, inflate
from fathom.storage.sql import Connection, Table

_ROUNDS = "judgements"  # the list in the state that has one entry a round
KEEP_LATEST = 6  # checkpoints of the run that are never thinned out: about its last round


class CheckpointTable(Table, ABC):
    """Queries about checkpoints that LangGraph's savers do not offer."""

    async def run_ids(self) -> list[str]:
        """Return the ids of all runs, the newest first."""
        words = (
            "select thread_id from checkpoints where checkpoint_ns = ''"
            " group by thread_id order by min(checkpoint_id) desc"
        )
        return [run for (run,) in await self._rows(words)]

    async def first_and_last(self, run: str) -> tuple[str, str] | None:
        """Return the ids of a run's first and last checkpoint, or None when it has none."""
        words = "select min(checkpoint_id), max(checkpoint_id) from checkpoints where thread_id = ?"
        ((first, last),) = await self._rows(words, run)
        return (first, last) if first else None

    async def steps_of(self, run: str) -> list[str]:
        """Return the ids of all stored steps of a run, newest first."""
        words = (
            "select checkpoint_id from checkpoints where thread_id = ? and checkpoint_ns = ''"
            " order by checkpoint_id desc"
        )
        return [step for (step,) in await self._rows(words, run)]

    async def runs_longer_than(self, steps: int) -> list[str]:
        """Return the runs that have more steps than so many."""
        words = (
            "select thread_id from checkpoints where checkpoint_ns = ''"
            " group by thread_id having count(*) > ?"
        )
        return [run for (run,) in await self._rows(words, steps)]

    @abstractmethod
    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over, and archive their ends; return how many."""

    @abstractmethod
    async def restore_round(self, run: str, judged: int) -> None:
        """Put the end of a round back among the checkpoints, if it was archived."""

    @abstractmethod
    async def archived_ends(self, run: str) -> list[tuple[str, int]]:
        """Return the archived ends of rounds, oldest first: step, and how many rounds were over."""


class OldSteps(NamedTuple):
    """Steps of a run that are neither its first nor among its latest."""

    superseded: list[str]  # between the ends of rounds
    ends: list[tuple[str, int]]  # the step that ends each round, with the number of rounds that were over


def find_old_steps(connection: Connection, thread: str, channel: str, known: dict[str, int]) -> OldSteps:
    """Return the steps that a run no longer needs as they are.

    A round ends where the list `channel` grew. What a person changed is in neither list, and the base of an
    archived round always stays. `known` remembers between calls how long the list was in each step.
    """
    words = (
        "select checkpoint_id, coalesce(json_extract(cast(metadata as text), '$.source'), '')"
        " from checkpoints where thread_id = ? and checkpoint_ns = '' order by checkpoint_id"
    )
    bases = {base for (base,) in connection.execute("select base from past_rounds where run = ?", (thread,))}
    found = OldSteps([], [])
    before = -1
    for place, (name, source) in enumerate(connection.execute(words, (thread,)).fetchall()[:-KEEP_LATEST]):
        if name not in known:
            known[name] = _length_of(connection, thread, name, channel)
        is_end = known[name] > before or name in bases
        if source == "loop" and not is_end:
            found.superseded.append(name)
        elif source == "loop" and place > 0:
            found.ends.append((name, known[name]))
        before = max(before, known[name])
    return found


def delete_steps(connection: Connection, thread: str, names: Sequence[str]) -> None:
    """Delete these steps of a run."""
    for table in ("writes", "checkpoints"):
        connection.executemany(
            f"delete from {table} where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?",  # noqa: S608
            [(thread, name) for name in names],
        )


def _length_of(connection: Connection, thread: str, name: str, channel: str) -> int:
    """Return how long a list in a checkpoint is, without making its records."""
    words = (
        "select type, checkpoint from checkpoints"
        " where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"
    )
    kind, body = connection.execute(words, (thread, name)).fetchone()
    plain = inflate(kind, body)[1]
    checkpoint: Any = ormsgpack.unpackb(plain, ext_hook=_skip, option=ormsgpack.OPT_NON_STR_KEYS)
    return len(checkpoint["channel_values"].get(channel) or [])


def _skip(_code: int, _body: bytes) -> None:
    return None


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


_MOST_KNOWN = 64  # runs whose steps are cached, so that none is decoded twice

_FEWEST_ENDS = 2  # the last old end stays a checkpoint, which the others are differences from


@dataclass(frozen=True)
class SqliteCheckpoints(CheckpointTable):
    """The checkpoints of all runs in SQLite: the ends of old rounds are differences from the next one."""

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


_DELETE_BLOBS = """
delete from checkpoint_blobs b where thread_id = ? and checkpoint_ns = '' and not exists (
    select 1 from checkpoints c where c.thread_id = b.thread_id and c.checkpoint_ns = ''
    and c.checkpoint -> 'channel_versions' ->> b.channel = b.version)
"""


class PostgresCheckpoints(CheckpointTable):
    """The same in PostgreSQL, where a channel has one row a version: the ends of old rounds stay whole."""

    async def thin(self, run: str) -> int:
        """Delete the steps inside rounds that are long over; return how many."""
        old = await self.database.read(lambda c: _superseded(c, run))

        def remove(connection: Connection) -> int:
            for table in ("checkpoint_writes", "checkpoints"):
                words = (
                    f"delete from {table} where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"  # noqa: S608
                )
                connection.executemany(words, [(run, step) for step in old])
            connection.execute(_DELETE_BLOBS, (run,))
            return len(old)

        return await self.database.write(remove) if old else 0

    async def restore_round(self, run: str, judged: int) -> None:
        """Do nothing: the ends of rounds are among the checkpoints."""

    async def archived_ends(self, run: str) -> list[tuple[str, int]]:  # noqa: ARG002
        """Return nothing: the ends of rounds are among the checkpoints."""
        return []


def _superseded(connection: Connection, run: str) -> list[str]:
    """Return the steps between the ends of rounds; what a person changed, the first and the latest stay."""
    words = """
        select checkpoint_id, metadata ->> 'source', checkpoint -> 'channel_versions' ->> ?
        from checkpoints where thread_id = ? and checkpoint_ns = '' order by checkpoint_id collate "C"
    """
    steps = connection.execute(words, (_ROUNDS, run)).fetchall()[:-KEEP_LATEST]
    return [
        step
        for (step, source, rounds), (_, _, before) in zip(steps[1:], steps, strict=False)
        if source == "loop" and rounds == before
    ]

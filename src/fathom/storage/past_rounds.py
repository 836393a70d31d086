"""The ends of rounds that are long over, kept as differences.

A checkpoint is the whole state, so keeping one for every round would grow with the square of the rounds. The
end of an old round is kept as what it differs in from the end of the next round: about one hundredth of it.
The end that the others lead to stays an ordinary checkpoint. Whoever wants an old end has it put back first.
"""

import itertools
import sqlite3
from collections.abc import Sequence

import zstandard

from fathom.storage.compression import deflate, inflate

_LEVEL = 9
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


def archive_rounds(connection: sqlite3.Connection, run: str, ends: Sequence[tuple[str, int]]) -> list[str]:
    """Keep all of these ends but the last as differences; return the steps that are no longer needed.

    `ends` are steps, the oldest first, each with the number of rounds that were over.
    """
    done: list[str] = []
    for (step, judged), (base, _) in itertools.pairwise(ends):
        older, newer = _plain(connection, run, step), _plain(connection, run, base)
        if older and newer:  # else another process was quicker
            kind, body = older
            connection.execute(_COPY, (judged, base, kind, _difference(body, newer[1]), run, step))
            done.append(step)
    return done


def restore_round(connection: sqlite3.Connection, run: str, judged: int) -> None:
    """Put the end of a round back among the checkpoints, if it was archived."""
    words = "select max(step) from past_rounds where run = ? and judged = ?"
    (step,) = connection.execute(words, (run, judged)).fetchone()
    if step is None:
        return
    rows = connection.execute(_CHAIN, {"run": run, "step": step}).fetchall()
    last = _plain(connection, run, rows[0][0])
    if last is None:
        return
    plain = last[1]
    for _, _, body in rows:
        plain = _undone(body, plain)
    connection.execute(_PUT_BACK, (*deflate(rows[-1][1], plain), run, step))


def archived_ends(connection: sqlite3.Connection, run: str) -> list[tuple[str, int]]:
    """Return the archived ends of a run, the oldest first, each with the number of rounds that were over."""
    words = "select step, judged from past_rounds where run = ? order by step"
    return connection.execute(words, (run,)).fetchall()


def _plain(connection: sqlite3.Connection, run: str, step: str) -> tuple[str, bytes] | None:
    """Return the type and the bytes of a checkpoint as they were before they were compressed."""
    words = (
        "select type, checkpoint from checkpoints"
        " where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?"
    )
    row = connection.execute(words, (run, step)).fetchone()
    return inflate(*row) if row else None


def _difference(body: bytes, base: bytes) -> bytes:
    """Return a body compressed with another one as its dictionary."""
    window = (len(body) + len(base)).bit_length()
    parameters = zstandard.ZstdCompressionParameters.from_level(_LEVEL, window_log=max(window, 10))
    return zstandard.ZstdCompressor(compression_params=parameters, dict_data=_dictionary(base)).compress(body)


def _undone(difference: bytes, base: bytes) -> bytes:
    return zstandard.ZstdDecompressor(dict_data=_dictionary(base)).decompress(difference)


def _dictionary(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)

"""Which checkpoints are superseded, and how they go.

LangGraph's SQLite saver keeps everything for ever and cannot prune. Triggers in the database do it instead:
they belong to the same transaction as the write that makes a row superfluous, and work for every process
that writes checkpoints, `langgraph dev` included. Kept is what a resume, a fork or the history needs:

- every checkpoint of the run itself, until its round is long over; then the one that ends the round, as a
  difference from the next one (`fathom.storage.past_rounds`),
- inside a task that is not done: the last checkpoint, and the writes that belong to it.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any, NamedTuple

import ormsgpack

from fathom.storage.compression import inflate

KEEP_LATEST = 6  # checkpoints of the run that are never thinned out: about its last round

# Namespaces: '' is the run, 'reading:ID' a task in it, 'reading:ID|extract:ID' a task in that. A name without
# ':' belongs to a subgraph with a memory of its own, which somebody may have around Fathom: it stays.
_INSIDE = """
    thread_id = new.thread_id and checkpoint_id < new.checkpoint_id and instr(checkpoint_ns, ':')
    and case when new.checkpoint_ns = ''
    then checkpoint_ns > ''
    else checkpoint_ns > new.checkpoint_ns || '|' and checkpoint_ns < new.checkpoint_ns || '}' end
"""
TRIGGERS = f"""
create trigger if not exists prune_superseded after insert on checkpoints begin
    -- A checkpoint contains the writes that were pending on its parent.
    delete from writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.parent_checkpoint_id;
    -- A new checkpoint means that all tasks of the step before have ended. Checkpoint ids grow with time:
    -- with durability "async" tasks of the next step may have saved theirs before this one is written.
    delete from writes where {_INSIDE};
    delete from checkpoints where {_INSIDE};
    -- Inside a task only the last checkpoint is resumed.
    delete from checkpoints where instr(new.checkpoint_ns, ':') and thread_id = new.thread_id
        and checkpoint_ns = new.checkpoint_ns and checkpoint_id < new.checkpoint_id;
end;
-- LangGraph takes a task with any output for finished. One that was cut off between its work and its routing
-- has output and an error: without the output it is run again, with it the run would end too early.
create trigger if not exists drop_partial_output after insert on writes when new.channel = '__error__' begin
    delete from writes where thread_id = new.thread_id and checkpoint_ns = new.checkpoint_ns
        and checkpoint_id = new.checkpoint_id and task_id = new.task_id and idx >= 0;
end;
create trigger if not exists forget_past_rounds after delete on checkpoints
    when old.checkpoint_ns = '' and not exists (
        select 1 from checkpoints where thread_id = old.thread_id and checkpoint_ns = ''
    )
begin
    delete from past_rounds where run = old.thread_id;
end;
"""  # noqa: S608 - all words are our own


class OldSteps(NamedTuple):
    """Steps of a run that are neither its first nor among its latest."""

    superseded: list[str]  # between the ends of rounds
    ends: list[tuple[str, int]]  # the step that ends each round, with the number of rounds that were over


def find_old_steps(
    connection: sqlite3.Connection, thread: str, channel: str, known: dict[str, int]
) -> OldSteps:
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


def delete_steps(connection: sqlite3.Connection, thread: str, names: Sequence[str]) -> None:
    """Delete these steps of a run."""
    for table in ("writes", "checkpoints"):
        connection.executemany(
            f"delete from {table} where thread_id = ? and checkpoint_ns = '' and checkpoint_id = ?",  # noqa: S608
            [(thread, name) for name in names],
        )


def _length_of(connection: sqlite3.Connection, thread: str, name: str, channel: str) -> int:
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

"""Copy a SQLite database into PostgreSQL.

It can be stopped and repeated: rows that exist already stay as they are. The file stays.
"""

import asyncio
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from fathom.errors import BadInput
from fathom.settings.database_address import DatabaseAddress
from fathom.storage import Storage, open_storage
from fathom.storage.checkpoints import Saver, checkpointer
from fathom.storage.postgres_server import connect, prepare_server, told_plainly
from fathom.storage.records import TABLES

_TABLES = re.findall(r"create table if not exists (\w+)", TABLES)
_NUMBERED = {"payments": "id", "signals": "number", "follow_ups": "number"}  # the server counts by itself
_AT_ONCE = 500


@dataclass(frozen=True)
class Migrated:
    """What was copied."""

    runs: int
    rows: int
    papers: int


async def migrate_database(source: Path, papers: Path, to: DatabaseAddress) -> Migrated:
    """Copy a SQLite file, and the PDFs in a folder beside it, into a PostgreSQL database."""
    if not await asyncio.to_thread(source.is_file):
        raise BadInput(f"There is no database {source}.")
    await asyncio.to_thread(prepare_server, to)
    old, new = open_storage(source), open_storage(to)
    # Before anything is copied: opens both. A run that was copied in part is copied again.
    known = set(await new.checkpoints.run_ids())
    moving = [
        run
        for run in await old.checkpoints.run_ids()
        if run not in known or await _last_step(old, run) > await _last_step(new, run)
    ]
    with told_plainly(to):
        rows = await asyncio.to_thread(_copy_tables, source, to)
        async with checkpointer(source) as reader, checkpointer(to) as writer:
            for run in reversed(moving):
                await _copy_run(reader, writer, run)
    return Migrated(len(moving), rows, await _copy_papers(papers, new))


async def _last_step(storage: Storage, run: str) -> str:
    found = await storage.checkpoints.first_and_last(run)
    return found[1] if found else ""


def _copy_tables(source: Path, to: DatabaseAddress) -> int:
    copied = 0
    with closing(sqlite3.connect(source)) as old, connect(to) as new:
        for table in _TABLES:
            columns = [row[1] for row in old.execute(f"pragma table_info('{table}')")]
            kept = [name for name in columns if name != _NUMBERED.get(table)]
            names = ", ".join(f'"{name}"' for name in kept)
            places = ", ".join(["%s"] * len(kept))
            words = f"insert into {table} ({names}) values ({places}) on conflict do nothing"  # noqa: S608
            there = _runs_in(new, table) if table in _NUMBERED else set()
            with new.transaction(), new.cursor() as cursor:
                for rows in _chunks(old.execute(f"select {names} from {table}")):  # noqa: S608
                    fresh = [row for row in rows if not there or row[kept.index("run")] not in there]
                    cursor.executemany(words, fresh)
                    copied += len(fresh)
    return copied


def _runs_in(connection: Any, table: str) -> set[str]:
    return {run for (run,) in connection.execute(f"select distinct run from {table}")}  # noqa: S608


def _chunks(found: sqlite3.Cursor) -> Iterator[Sequence[Any]]:
    while rows := found.fetchmany(_AT_ONCE):
        yield rows


async def _copy_run(reader: Saver, writer: Saver, run: str) -> None:
    """Copy the checkpoints of a run and their pending writes, oldest first."""
    found: list[CheckpointTuple] = [one async for one in reader.alist({"configurable": {"thread_id": run}})]
    for one in sorted(found, key=lambda each: str(each.checkpoint["id"])):
        place = one.config["configurable"]
        before = one.parent_config["configurable"]["checkpoint_id"] if one.parent_config else None
        parent = {"thread_id": run, "checkpoint_ns": place["checkpoint_ns"], "checkpoint_id": before}
        versions = one.checkpoint["channel_versions"]
        await writer.aput({"configurable": parent}, one.checkpoint, one.metadata, versions)
        writes: dict[str, list[tuple[str, Any]]] = {}
        for task, channel, value in one.pending_writes or []:
            writes.setdefault(task, []).append((channel, value))
        for task, pending in writes.items():
            await writer.aput_writes(one.config, pending, task)


async def _copy_papers(folder: Path, new: Storage) -> int:
    files = await asyncio.to_thread(lambda: sorted(folder.glob("*.pdf")))
    for file in files:
        if new.papers:
            await new.papers.put(file.stem, await asyncio.to_thread(file.read_bytes))
    return len(files)

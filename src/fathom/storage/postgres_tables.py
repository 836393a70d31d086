"""PostgreSQL only: events, papers, rate limits and batch budgets, which machines share.

Followers of a run get new events at once.
"""

import time
from collections.abc import AsyncGenerator, Sequence
from typing import TYPE_CHECKING

import psycopg

from fathom.storage.postgres_server import told_plainly
from fathom.storage.sql import Connection, Table

if TYPE_CHECKING:
    from fathom.storage.postgres import PostgresDatabase

_LISTEN_S = 2.0  # then a listener polls, in case a notification was lost


class EventTable(Table):
    """The events of runs, for listeners on any machine."""

    database: "PostgresDatabase"

    async def add(self, run: str, body: str) -> None:
        """Store an event and notify the followers of the run."""
        await self._write("insert into events (run, body) values (?, ?)", run, body.replace("\\u0000", ""))

    async def after(self, run: str, number: int) -> list[tuple[int, str]]:
        """Return the events of a run with a higher number, in their order."""
        words = "select number, body from events where run = ? and number > ? order by number"
        return [(int(found), body) for found, body in await self._rows(words, run, number)]

    async def follow(self, run: str, number: int = 0) -> AsyncGenerator[tuple[int, str], None]:
        """Yield every later event as it comes, from any machine; never ends by itself."""
        address = self.database.address
        url = address.url.get_secret_value()
        with told_plainly(address):
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                await connection.execute(f'listen "fathom_{run}"')
                while True:
                    for seen, body in await self.after(run, number):
                        yield seen, body
                        number = seen
                    async for _ in connection.notifies(timeout=_LISTEN_S, stop_after=1):
                        pass


class PaperTable(Table):
    """PDFs by the hash of their text."""

    async def put(self, sha: str, body: bytes) -> None:
        """Keep a PDF; keeping it again changes nothing."""
        words = "insert into papers values (?, ?, ?) on conflict do nothing"
        await self._write(words, sha, body, time.time())

    async def get(self, sha: str) -> bytes | None:
        """Return the PDF whose text has that hash, or None."""
        rows = await self._rows("select body from papers where sha = ?", sha)
        return bytes(rows[0][0]) if rows else None


class PaceTable(Table):
    """When a server may be asked next, for all machines; see `SharedPaces`."""

    async def book(self, name: str, pause_s: float) -> float:
        """Reserve the next start with a pause after it; return how long to wait for it."""
        words = """
            insert into paces values (?, extract(epoch from clock_timestamp()) + ?)
            on conflict (name) do update set free_at =
                greatest(paces.free_at, extract(epoch from clock_timestamp())) + ?
            returning free_at - extract(epoch from clock_timestamp())
        """
        found = await self._change(words, name, pause_s, pause_s)
        return max(0.0, float(found) - pause_s)

    async def close(self, name: str, wait_s: float) -> None:
        """Make all machines wait this long."""
        words = """
            insert into paces values (?, extract(epoch from clock_timestamp()) + ?)
            on conflict (name) do update set free_at = greatest(paces.free_at, excluded.free_at)
        """
        await self._write(words, name, wait_s)

    async def wait_s(self, name: str) -> float:
        """Return how long all machines wait now."""
        words = "select free_at - extract(epoch from clock_timestamp()) from paces where name = ?"
        rows = await self._rows(words, name)
        return max(0.0, float(rows[0][0])) if rows else 0.0

    async def _change(self, words: str, *values: object) -> float:
        return float(await self.database.write(lambda c: c.execute(words, values).fetchone()[0]))


class BatchTable(Table):
    """Caps that hold for several runs, wherever they are worked on."""

    async def open(self, name: str, cap: int, runs: Sequence[str]) -> None:
        """Cap what these runs spend together, including what they have spent already."""

        def open_batch(connection: Connection) -> None:
            words = "insert into batches values (?, ?, 0) on conflict (name) do update set cap = excluded.cap"
            connection.execute(words, (name, cap))
            connection.execute("select 1 from batches where name = ? for update", (name,))
            words = (
                "insert into batch_runs values (?, ?) on conflict (run) do update set batch = excluded.batch"
            )
            connection.executemany(words, [(run, name) for run in runs])
            words = """
                update batches set nano = (select coalesce(sum(nano), 0) from payments where owner(run) in
                    (select run from batch_runs where batch = ?)) where name = ?
            """
            connection.execute(words, (name, name))

        await self.database.write(open_batch)

    async def spent(self, name: str) -> int:
        """Return what the runs of a batch have spent or reserved."""
        rows = await self._rows("select nano from batches where name = ?", name)
        return int(rows[0][0]) if rows else 0

    async def left(self, run: str) -> int | None:
        """Return what the batch of a run may still spend; None for a run without one."""
        words = "select cap - nano from batches where name = (select batch from batch_runs where run = ?)"
        rows = await self._rows(words, run)
        return int(rows[0][0]) if rows else None


def left_in_batch(connection: Connection, run: str) -> int | None:
    """Return what the batch of a run may still spend, or None; others wait for the transaction."""
    words = """
        select cap - nano from batches where name = (select batch from batch_runs where run = owner(?))
        for update
    """
    row = connection.execute(words, (run,)).fetchone()
    return int(row[0]) if row else None

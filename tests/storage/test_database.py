"""One thread that reads and one that writes, for all who use a database in this process."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from fathom.storage import close_storage, open_storage
from fathom.storage.database import DatabaseFile


def put(address: str) -> Callable[[sqlite3.Connection], str]:
    def write(connection: sqlite3.Connection) -> str:
        connection.execute("insert into page_leases values ('run', ?, '')", (address,))
        return threading.current_thread().name

    return write


def count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("select count(*) from page_leases").fetchone()[0])


def removed(database: Path) -> None:
    for rest in ("", "-wal", "-shm"):
        Path(f"{database}{rest}").unlink(missing_ok=True)


@contextmanager
def writing(database: Path) -> Iterator[None]:
    """Somebody else who has not done with his transaction."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        yield
        connection.execute("rollback")


async def test_all_who_write_share_one_thread_and_are_told_when_it_is_written(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    file = DatabaseFile(database)
    threads = await asyncio.gather(*(file.write(put(f"page {n}")) for n in range(50)))
    assert len(set(threads)) == 1
    assert await file.read(count) == 50
    file.close()
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("select count(*) from page_leases").fetchone() == (50,)


async def test_what_goes_wrong_is_told_to_whoever_asked_and_to_nobody_else(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    file = DatabaseFile(database)
    asked = ("one", "one", "two")
    told = await asyncio.gather(*(file.write(put(name)) for name in asked), return_exceptions=True)
    assert [type(one) for one in told] == [str, sqlite3.IntegrityError, str]
    assert await file.read(count) == 2


async def test_nobody_who_looks_something_up_waits_for_another_who_writes(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    file = DatabaseFile(database)
    await file.write(put("one"))
    with writing(database):
        waiting = asyncio.ensure_future(file.write(put("two")))
        assert await asyncio.wait_for(file.read(count), 10) == 1
        assert not waiting.done()
    await waiting
    assert await file.read(count) == 2


async def test_what_nobody_waits_for_any_more_is_not_begun(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    file = DatabaseFile(database)
    await file.write(put("one"))
    with writing(database):
        first = asyncio.ensure_future(file.write(put("two")))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(file.write(put("three")))
        await asyncio.sleep(0)
        second.cancel()
    await first
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await file.read(count) == 2


async def test_a_file_that_stands_in_the_place_of_another_is_the_one_that_is_used(tmp_path: Path) -> None:
    database, copy = tmp_path / "x.sqlite", tmp_path / "copy.sqlite"
    file = DatabaseFile(database)
    await file.write(put("one"))
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("vacuum into ?", (str(copy),))
    await file.write(put("two"))
    removed(database)
    with pytest.raises(sqlite3.OperationalError, match="is gone"):
        await file.read(count)
    copy.rename(database)
    assert await file.read(count) == 1


async def test_a_closed_database_has_no_threads_and_opens_again(tmp_path: Path) -> None:
    before, database = threading.active_count(), tmp_path / "x.sqlite"
    await open_storage(database).leases.take("run", "branch", ["one"], 1)
    await close_storage(database)
    assert threading.active_count() - before <= 1  # the pool's, in which it was closed
    assert await open_storage(database).leases.take("run", "other", ["one"], 1) == []


def test_event_loops_come_and_go(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    file = DatabaseFile(database)
    for n in range(3):
        asyncio.run(file.write(put(f"page {n}")))
    assert asyncio.run(file.read(count)) == 3

"""One thread that reads and one that writes, for all who use a database in this process."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from fathom.database import let_go, looked_up, opened, written


def put(database: Path, address: str) -> str:
    with opened(database) as connection:
        connection.execute("insert into taken values ('run', ?, '')", (address,))
    return threading.current_thread().name


def count(database: Path) -> int:
    with opened(database) as connection:
        return int(connection.execute("select count(*) from taken").fetchone()[0])


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
    threads = await asyncio.gather(*(written(database, put, database, f"page {n}") for n in range(50)))
    assert len(set(threads)) == 1
    assert await looked_up(database, count, database) == 50
    await let_go(database)
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("select count(*) from taken").fetchone() == (50,)


async def test_what_goes_wrong_is_told_to_whoever_asked_and_to_nobody_else(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    asked = ("one", "one", "two")
    told = await asyncio.gather(
        *(written(database, put, database, name) for name in asked), return_exceptions=True
    )
    assert [type(one) for one in told] == [str, sqlite3.IntegrityError, str]
    assert await looked_up(database, count, database) == 2


async def test_nobody_who_looks_something_up_waits_for_another_who_writes(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    await written(database, put, database, "one")
    with writing(database):
        waiting = asyncio.ensure_future(written(database, put, database, "two"))
        assert await asyncio.wait_for(looked_up(database, count, database), 10) == 1
        assert not waiting.done()
    await waiting
    assert await looked_up(database, count, database) == 2


async def test_what_nobody_waits_for_any_more_is_not_begun(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    await written(database, put, database, "one")
    with writing(database):
        first = asyncio.ensure_future(written(database, put, database, "two"))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(written(database, put, database, "three"))
        await asyncio.sleep(0)
        second.cancel()
    await first
    with pytest.raises(asyncio.CancelledError):
        await second
    assert await looked_up(database, count, database) == 2


async def test_a_file_that_stands_in_the_place_of_another_is_the_one_that_is_used(tmp_path: Path) -> None:
    database, copy = tmp_path / "x.sqlite", tmp_path / "copy.sqlite"
    await written(database, put, database, "one")
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("vacuum into ?", (str(copy),))
    await written(database, put, database, "two")
    removed(database)
    with pytest.raises(sqlite3.OperationalError, match="is gone"):
        await looked_up(database, count, database)
    copy.rename(database)
    assert await looked_up(database, count, database) == 1


async def test_only_so_many_databases_are_open_at_once(tmp_path: Path) -> None:
    before = threading.active_count()
    for n in range(40):
        await written(tmp_path / f"{n}.sqlite", put, tmp_path / f"{n}.sqlite", "one")
    await asyncio.sleep(0.2)
    assert threading.active_count() - before <= 20
    assert await looked_up(tmp_path / "0.sqlite", count, tmp_path / "0.sqlite") == 1
    for n in range(40):
        await let_go(tmp_path / f"{n}.sqlite")


def test_event_loops_come_and_go(tmp_path: Path) -> None:
    database = tmp_path / "x.sqlite"
    for n in range(3):
        asyncio.run(written(database, put, database, f"page {n}"))
    assert asyncio.run(looked_up(database, count, database)) == 3

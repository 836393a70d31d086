"""What is PostgreSQL's own: layout, locks, listeners, caps, the saver's contract, a server that is gone."""

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from langchain_core.runnables import RunnableConfig
from pydantic import SecretStr
from standins.commandline import spawned
from standins.documents import TIDES, written
from standins.postgres import new_database, server_address
from standins.rows import rows_of

from fathom import DeepResearcher, ResearchRequest
from fathom.errors import BadInput, DatabaseError, RunStopped
from fathom.settings import load_settings
from fathom.settings.database_address import DatabaseAddress
from fathom.storage import close_storage, open_storage
from fathom.storage.checkpoints import Saver, checkpointer
from fathom.storage.postgres_server import LAYOUT_VERSION, connect, prepare_server
from fathom.storage.records import PaidCall

pytestmark = pytest.mark.postgres
SECRET = "hush-hush"
CALL = PaidCall("call", "read", "model")


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[DatabaseAddress]:
    name = f"p{abs(hash(str(tmp_path))):x}"
    found = new_database(name)
    yield found
    await close_storage(found)
    with psycopg.connect(server_address(), autocommit=True) as server:
        server.execute(f"drop database {name} with (force)")


async def test_the_saver_keeps_the_contract_of_savers(address: DatabaseAddress) -> None:
    from langgraph.checkpoint.conformance import checkpointer_test, validate

    @checkpointer_test(name="AsyncPostgresSaver")
    async def saver():  # type: ignore[no-untyped-def]
        async with checkpointer(address) as opened:
            with connect(address) as server:  # pruning is ours: the contract is that of the saver
                for table in ("checkpoints", "checkpoint_writes"):
                    server.execute(f"alter table {table} disable trigger user")
            yield opened

    report = await validate(saver)
    assert report.passed_all_base(), report


async def test_ten_who_come_at_once_make_one_layout() -> None:
    empty = new_database("crowd", is_prepared=False)
    await asyncio.gather(*(asyncio.to_thread(prepare_server, empty) for _ in range(10)))
    with connect(empty) as server:
        assert server.execute("select version from fathom_layout").fetchall() == [(LAYOUT_VERSION,)]
        server.execute("update fathom_layout set version = version + 1")
    with pytest.raises(BadInput, match="newer Fathom"):
        prepare_server(empty)


async def test_a_lock_is_one_persons_and_ends_with_the_connection(address: DatabaseAddress) -> None:
    locks = open_storage(address).locks
    held = await locks.acquire("run")
    assert held is not None
    assert await locks.acquire("run") is None
    assert await locks.acquire("other") is not None
    with connect(address) as another:
        words = "select count(*) from pg_locks where locktype = 'advisory'"
        assert another.execute(words).fetchall() == [(2,)]
        mine = "pid <> pg_backend_pid() and datname = current_database()"
        another.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where {mine}")
    assert await locks.acquire("run") is None  # the server was away: what was held is taken again
    await held.release()
    assert await locks.acquire("run") is not None


async def test_whoever_lost_a_run_to_another_writes_nothing_more_about_it(address: DatabaseAddress) -> None:
    elsewhere = DatabaseAddress(SecretStr(address.url.get_secret_value() + "&connect_timeout=9"))
    mine, theirs = open_storage(address), open_storage(elsewhere)
    held = await mine.locks.acquire("run")
    assert held is not None
    assert await theirs.locks.is_held("run")
    assert await theirs.locks.acquire("run") is None
    line = await mine.costs.reserve("run/branch", CALL, 5, 5, 1000)
    assert isinstance(line, tuple)
    async with checkpointer(address) as saver, checkpointer(elsewhere) as other:
        await _save(saver)
        with connect(address) as server:
            words = "select pg_terminate_backend(pid, 9000) from pg_locks where locktype = 'advisory'"
            server.execute(words)
        taken = await theirs.locks.acquire("run")
        assert taken is not None
        for is_released in (False, True):  # also once the other one is done with it
            with pytest.raises(RunStopped, match="taken over"):
                await _save(saver)
            with pytest.raises(RunStopped, match="taken over"):
                await mine.costs.reserve("run/branch", CALL, 5, 5, 1000)
            assert mine.events is not None
            with pytest.raises(RunStopped, match="taken over"):
                await mine.events.add("run", "told")
            assert await mine.locks.lost() == {"run"}
            if not is_released:
                await _save(other)
                assert isinstance(await theirs.costs.reserve("run", CALL, 5, 5, 1000), tuple)
                await taken.release()
        await mine.costs.settle(line[0], 2, 1, 1)  # what is paid is paid
        await held.release()
        again = await mine.locks.acquire("run")
        assert again is not None
        assert await mine.locks.lost() == set()
        await _save(saver)
        await again.release()
    await close_storage(elsewhere)


async def _save(saver: Saver) -> None:
    """Save a checkpoint of the run."""
    from langgraph.checkpoint.base import empty_checkpoint

    place: RunnableConfig = {"configurable": {"thread_id": "run", "checkpoint_ns": ""}}
    saved = await saver.aput(place, empty_checkpoint(), {"source": "loop", "step": 1, "parents": {}}, {})
    await saver.aput_writes(saved, [("channel", "value")], "task")


async def test_whoever_follows_hears_of_an_event_at_once(address: DatabaseAddress) -> None:
    events = open_storage(address).events
    assert events is not None
    await events.add("run", "one")
    heard: list[str] = []

    async def listen() -> None:
        async for _, body in events.follow("run"):
            heard.append(body)
            if body == "three":
                return

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0.3)
    await events.add("another", "not for us")
    for word in ("two", "three"):
        await events.add("run", word)
    await asyncio.wait_for(listening, 10)
    assert heard == ["one", "two", "three"]


async def test_a_cap_holds_for_all_runs_of_a_batch_to_the_last_billionth(address: DatabaseAddress) -> None:
    storage = open_storage(address)
    assert storage.batches is not None
    before = await storage.costs.reserve("a", CALL, 5, 5, 1000)
    assert before == (1, 5)
    await storage.batches.open("batch", 100, ["a", "b", "c"])
    runs = ["a", "b/branch", "c"] * 20
    took = await asyncio.gather(*(storage.costs.reserve(run, CALL, 7, 7, 1000) for run in runs))
    lines = [one for one in took if isinstance(one, tuple)]
    assert len(lines) == (100 - 5) // 7
    assert await storage.batches.left("a") == 100 - 5 - 7 * len(lines)
    await storage.costs.settle(lines[0][0], 2, 0, 0)
    await storage.costs.release(lines[1][0])
    assert await storage.batches.spent("batch") == 5 + 7 * len(lines) - 5 - 7
    assert await storage.costs.reserve("free", CALL, 500, 500, 1000) == (len(lines) + 2, 500)


async def test_machines_take_turns_and_wait_together(address: DatabaseAddress) -> None:
    paces = open_storage(address).paces
    assert paces is not None
    waits = [await paces.book("engine", 10.0) for _ in range(3)]
    assert waits[0] == 0.0
    assert 9.0 < waits[1] <= 10.0 < waits[2] <= 20.0
    await paces.close("model", 5.0)
    await paces.close("model", 1.0)
    assert 4.0 < await paces.wait_s("model") <= 5.0
    assert await paces.wait_s("nobody") == 0.0


async def test_thinned_rounds_keep_their_ends_and_no_blob_that_nobody_names(tmp_path: Path) -> None:
    address = new_database("thin")
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path, database_url=address.url.get_secret_value())
    request = ResearchRequest(
        query="How much does tidal power cost?", docs=[str(docs)], rounds=4, endless=True
    )
    result = await DeepResearcher(settings).research(request)
    with connect(address) as server:
        kept = server.execute("select count(*) from checkpoints where checkpoint_ns <> ''").fetchall()
        lost = """select count(*) from checkpoint_blobs b where not exists (select 1 from checkpoints c
            where c.thread_id = b.thread_id and c.checkpoint_ns = b.checkpoint_ns
            and c.checkpoint -> 'channel_versions' ->> b.channel = b.version)"""
        assert kept == [(0,)]
        assert server.execute(lost).fetchall() == [(0,)]
    assert (await DeepResearcher(settings).result(result.run_id)).report == result.report


async def test_a_file_is_moved_into_the_server_and_goes_on_there(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path)
    request = ResearchRequest(query="How much does tidal power cost?", docs=[str(docs)], rounds=2)
    result = await DeepResearcher(settings).research(request)
    address = new_database("moved")
    there = load_settings(home=tmp_path, database_url=address.url.get_secret_value())
    done = await DeepResearcher(there).migrate()
    again = await DeepResearcher(there).migrate()
    assert (done.runs, again.runs) == (1, 0)
    elsewhere = load_settings(home=tmp_path / "other", database_url=address.url.get_secret_value())
    assert (await DeepResearcher(elsewhere).result(result.run_id)).report == result.report
    for table in ("payments", "pages", "replies", "run_records"):
        words = f"select count(*) from {table}"
        with connect(address) as server:
            assert server.execute(words).fetchall() == rows_of(tmp_path / "fathom.sqlite", words)
    follow = ResearchRequest(query="And what does it cost a year?", docs=[str(docs)])
    assert (await DeepResearcher(elsewhere).follow_up(result.run_id, follow)).status


def test_a_dead_server_is_one_sentence_without_its_password(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"postgresql://fathom:{SECRET}@127.0.0.1:{port}/fathom"
    told = spawned(["runs"], tmp_path, {"FATHOM_DATABASE": url})
    assert told.is_refusal, told
    assert "cannot be used" in told.err
    assert SECRET not in told.err
    shown = spawned(["config"], tmp_path, {"FATHOM_DATABASE": url})
    assert SECRET not in shown.out + shown.err


@pytest.mark.parametrize(
    "url", ["postgresql://fathom:hush-hush@", "mysql://u:hush-hush@h/d", "postgresql://h:hush-hush/x"]
)
def test_an_address_that_is_none_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_settings(database_url=url)
    assert SECRET not in str(caught.value)


async def test_a_server_that_goes_away_is_told_in_one_sentence(address: DatabaseAddress) -> None:
    storage = open_storage(address)
    await storage.pages.put("text")
    broken = DatabaseAddress(SecretStr(address.url.get_secret_value() + "_gone"))
    with pytest.raises((BadInput, DatabaseError), match="cannot be used"):
        await open_storage(broken).pages.get("a" * 64)

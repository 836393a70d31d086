"""What lasts: page texts, finished calls and checkpoints, in one file that many may use at once."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from fakes.records import claim, sha
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph

from fathom.errors import BadInput, Unreadable
from fathom.state import ResearchState
from fathom.storage import content, open_storage
from fathom.storage.checkpoints import Saver, checkpointer

WRITER = """
import asyncio, sys
from pathlib import Path
from fathom.storage import content
from fathom.storage import open_storage

async def main() -> None:
    pages = open_storage(Path(sys.argv[1])).pages
    print("ready", flush=True)
    await asyncio.gather(*(pages.put(f"page {n}") for n in range(30)))

asyncio.run(main())
"""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "fathom.sqlite"


@pytest.mark.parametrize("text", ["", "Tides.", "조력 발전 " * 5000, "nul \x00 and 🌊", "line\r\nline"])
async def test_a_page_comes_back_as_it_was(database: Path, text: str) -> None:
    pages = open_storage(database).pages
    name = await pages.put(text)
    assert name == sha(text)
    assert await pages.get(name) == text
    assert await pages.put(text) == name


async def test_half_a_character_does_not_lose_the_page(database: Path) -> None:
    pages = open_storage(database).pages
    assert await pages.get(await pages.put("broken \ud800 letter")) == "broken ? letter"


async def test_a_page_that_is_gone_is_said_to_be(database: Path) -> None:
    with pytest.raises(Unreadable, match="no longer in the database"):
        await open_storage(database).pages.get("ab" * 32)


async def test_a_call_that_was_answered_keeps_its_first_answer(database: Path) -> None:
    replies = content.Replies(open_storage(database))
    assert await replies.get("k") is None
    await replies.put("k", "first")
    await replies.put("k", "second")
    assert await replies.get("k") == content.CachedReply("first", is_own=True)


async def test_what_another_run_was_answered_counts_and_is_said_to_be_anothers(database: Path) -> None:
    one, other = (content.Replies(open_storage(database)).within(run) for run in ("one", "other"))
    await one.put("k", "first")
    for _ in range(2):
        assert await other.get("k") == content.CachedReply("first", is_own=False)
    assert await one.get("k") == content.CachedReply("first", is_own=True)


async def test_a_run_that_shares_nothing_still_has_what_is_its_own(database: Path) -> None:
    one, other = (
        content.Replies(open_storage(database), is_shared=False).within(run) for run in ("one", "other")
    )
    await one.put("k", "first")
    assert await other.get("k") is None
    await other.put("k", "second")
    assert await one.get("k") == content.CachedReply("first", is_own=True)
    assert await other.get("k") == content.CachedReply("second", is_own=True)


async def test_what_is_too_old_counts_only_for_runs_that_have_it(database: Path) -> None:
    one, second, late = (
        content.Replies(open_storage(database), max_age_s=0.3).within(run) for run in ("1", "2", "3")
    )
    await one.put("k", "first")
    assert await second.get("k") == content.CachedReply("first", is_own=False)
    await asyncio.sleep(0.35)
    assert await late.get("k") is None
    assert await one.get("k") == content.CachedReply("first", is_own=True)
    assert await second.get("k") == content.CachedReply("first", is_own=False)
    await late.put("k", "anew")
    assert await late.get("k") == content.CachedReply("anew", is_own=True)


@pytest.mark.sqlite
async def test_texts_are_kept_once_and_small(database: Path) -> None:
    pages = open_storage(database).pages
    for _ in range(3):
        await pages.put("The tide turns. " * 10_000)
    with sqlite3.connect(database) as connection:
        ((count, size),) = connection.execute("select count(*), sum(length(body)) from pages").fetchall()
    connection.close()
    assert count == 1
    assert size < 2000


@pytest.mark.sqlite
async def test_many_branches_and_two_processes_write_at_once(database: Path) -> None:
    async with checkpointer(database):
        command = (sys.executable, "-c", WRITER, str(database))
        writer = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        assert await writer.stdout.readline() == b"ready\n"
        ended = asyncio.create_task(writer.wait())
        pages = open_storage(database).pages
        turn = 0
        while not ended.done():
            turn += 1
            await asyncio.gather(*(pages.put(f"turn {turn} of {n}") for n in range(4)))
        assert await ended == 0
    for n in range(30):
        assert await pages.get(sha(f"page {n}")) == f"page {n}"
    assert await pages.get(sha(f"turn {turn} of 3")) == f"turn {turn} of 3"


@pytest.mark.sqlite
async def test_the_checkpointer_makes_its_file_in_wal_mode(tmp_path: Path) -> None:
    database = tmp_path / "deep" / "er" / "fathom.sqlite"
    async with checkpointer(database) as saver:
        assert isinstance(saver, AsyncSqliteSaver)
        async with saver.conn.execute("pragma journal_mode") as found:
            assert await found.fetchone() == ("wal",)
        async with saver.conn.execute("pragma synchronous") as found:
            assert await found.fetchone() == (1,)


@pytest.mark.sqlite
async def test_without_a_path_the_settings_say_where(tmp_path: Path) -> None:
    async with checkpointer():
        pass
    assert await asyncio.to_thread((tmp_path / "fathom.sqlite").exists)


@pytest.mark.sqlite
@pytest.mark.parametrize("kind", ["a folder", "under a file", "not a database"])
async def test_a_database_that_cannot_be_used_is_refused_in_one_sentence(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    match kind:
        case "a folder":
            place.mkdir()
        case "under a file":
            place.write_text("x")
            place = place / "fathom.sqlite"
        case _:
            place.write_text("this is a shopping list, not a database " * 50)
    with pytest.raises(BadInput, match="cannot be used") as caught:
        async with checkpointer(place):
            raise AssertionError("never opened")
    assert "\n" not in str(caught.value)


def count(state: ResearchState) -> ResearchState:
    known = len(state.get("claims", []))
    return {"claims": [claim(name=f"c{known + n}") for n in range(10)]}


def machine(saver: Saver) -> Any:
    b = StateGraph(ResearchState)
    b.add_node("one", count)
    b.add_node("two", count)
    b.add_node("three", count)
    b.add_edge(START, "one")
    b.add_edge("one", "two")
    b.add_edge("two", "three")
    b.add_edge("three", END)
    return b.compile(saver)


def at(thread: str, run: str = "r1") -> RunnableConfig:
    return {"configurable": {"thread_id": thread}, "metadata": {"run_id": run}}


@pytest.fixture
async def saver(database: Path) -> AsyncIterator[Saver]:
    async with checkpointer(database) as opened:
        yield opened


async def kept(saver: Saver, thread: str) -> list[int]:
    """How many claims each checkpoint of the thread has, newest first."""
    return [
        len(found.checkpoint["channel_values"].get("claims", [])) async for found in saver.alist(at(thread))
    ]


async def test_long_lists_come_back_whole_from_every_checkpoint(saver: Saver) -> None:
    last = await machine(saver).ainvoke({"question": "What?"}, at("a"))
    snapshot = await machine(saver).aget_state(at("a"))
    assert snapshot.values["claims"] == last["claims"] == [claim(name=f"c{n}") for n in range(30)]
    assert await kept(saver, "a") == [30, 20, 10, 0, 0]


async def test_a_page_belongs_to_the_branch_that_took_it_first(tmp_path: Path) -> None:
    page_leases = open_storage(tmp_path / "fathom.sqlite").leases
    pages_there = [f"https://h{n}.example" for n in range(6)]
    branches = [f"b{n}" for n in range(3)]
    taken = await asyncio.gather(*(page_leases.take("run", branch, pages_there, 2) for branch in branches))
    assert sorted(address for own in taken for address in own) == pages_there
    # Who was killed and asks again gets the same; another run has all pages before it.
    assert await asyncio.gather(*(page_leases.take("run", b, pages_there, 2) for b in branches)) == taken
    assert await page_leases.take("another", "b1", pages_there, 9) == pages_there


async def test_no_two_runs_have_one_name(tmp_path: Path) -> None:
    page_leases = open_storage(tmp_path / "fathom.sqlite").leases
    assert await page_leases.begin() != await page_leases.begin()

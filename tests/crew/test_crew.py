"""Who gets a process, what becomes of those who wait, and that nobody waits for ever."""

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from fathom.crew.crew import Crew, Lost
from fathom.crew.worker import Request, Worker
from fathom.errors import Unreadable
from fathom.reading.bounded import BoundedParser
from fathom.reading.documents import parse

PAGE = b"<html lang='en'><body><article><h1>Lakes</h1>" + b"<p>It rose by a metre that year.</p>" * 40
BIG = b"It rose by a metre that year. " * 50_000
SLOW = b"<html><body>" + b"<p>a<b>b</b> " * 400_000
NOWHERE = {"PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"}  # an environment no Python starts in


def document(body: bytes = PAGE, kind: str = "text/html") -> Request:
    return Request({"content_type": kind, "name": "x", "max_chars": 10_000_000}, body)


async def test_who_waits_for_a_process_that_dies_gets_another() -> None:
    crew = Crew(1)
    await crew.ask(document())
    (pid,) = crew.processes
    first = asyncio.create_task(crew.ask(document(SLOW)))
    await asyncio.sleep(0.05)
    assert crew.processes == []
    second = asyncio.create_task(crew.ask(document()))
    await asyncio.sleep(0.05)
    os.kill(pid, 9)
    with pytest.raises(Lost, match="died"):
        await first
    assert (await second)["document"]["title"] == "Lakes"
    assert crew.processes != [pid]
    crew.close()


async def test_everybody_is_told_when_no_process_starts() -> None:
    crew = Crew(1, environment=NOWHERE)
    told = await asyncio.gather(*(crew.ask(document()) for _ in range(3)), return_exceptions=True)
    assert [str(one) for one in told] == ["it ended before it was ready"] * 3
    crew.close()


async def test_who_stops_waiting_is_not_waited_for() -> None:
    crew = Crew(1)
    await crew.ask(document())
    slow = asyncio.create_task(crew.ask(document(SLOW)))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(crew.ask(document()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    assert (await crew.ask(document()))["document"]["title"] == "Lakes"
    crew.close()


async def test_who_waits_when_the_crew_is_closed_is_told_and_so_is_who_comes_later() -> None:
    crew = Crew(1)
    parser = BoundedParser(crew)
    waiting = [asyncio.create_task(crew.ask(document())) for _ in range(2)]
    await asyncio.sleep(0)
    crew.close()
    told = await asyncio.gather(*waiting, return_exceptions=True)
    assert [str(one) for one in told] == ["ended", "ended"]
    with pytest.raises(Unreadable, match="x cannot be parsed: the processes for that were ended"):
        await parser(PAGE, content_type="text/html", name="x")
    assert crew.processes == []


def test_who_waits_in_a_loop_that_ends_keeps_no_process_from_others() -> None:
    crew, left = Crew(1), list[asyncio.Task[object]]()

    async def leave_two_waiting() -> None:
        await crew.ask(document())
        left.append(asyncio.create_task(crew.ask(document(SLOW))))
        left.append(asyncio.create_task(crew.ask(document())))
        await asyncio.sleep(0.05)

    asyncio.run(leave_two_waiting())
    assert [task.cancelled() for task in left] == [True, True]
    assert asyncio.run(crew.ask(document()))["document"]["title"] == "Lakes"
    crew.close()


def test_who_waits_in_a_loop_that_was_closed_over_its_head_harms_nobody_in_the_next_one() -> None:
    crew = Crew(1)
    with asyncio.Runner() as runner, contextlib.closing(asyncio.new_event_loop()) as other:
        runner.run(crew.ask(document()))
        holding = runner.get_loop().create_task(crew.ask(document(BIG, "text/plain")))
        runner.run(asyncio.sleep(0))
        left = other.create_task(crew.ask(document()))
        left._log_destroy_pending = False  # type: ignore[attr-defined]
        other.run_until_complete(asyncio.sleep(0))
        other.close()

        async def held() -> dict[str, Any]:
            return await holding

        assert "document" in runner.run(held())
        assert runner.run(crew.ask(document()))["document"]["title"] == "Lakes"
        assert not left.done()
    crew.close()


async def test_what_python_says_when_it_starts_is_no_reply(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os\nos.write(1, b'welcome\\nto this machine')\n")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    crew = Crew(1, environment={"PYTHONPATH": path})
    for title in ("Lakes", "Seas"):
        reply = await crew.ask(document(PAGE.replace(b"Lakes", title.encode())))
        assert reply["document"]["title"] == title
    crew.close()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system lets one write into one's own pipe")
@pytest.mark.parametrize("said", [b"", b"\n", b"hello\n", b"7\n", b"{}\n", b'{"document": 1, "number": 1}\n'])
async def test_what_is_no_reply_to_this_very_request_is_none_and_ends_the_process(said: bytes) -> None:
    worker = await asyncio.to_thread(Worker, {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert await worker.ask(document())
    pipe = os.open(f"/proc/self/fd/{worker._output.fileno()}", os.O_WRONLY)
    os.write(pipe, said)
    os.close(pipe)
    reply = await worker.ask(document())
    assert bool(reply) == worker.is_usable == (not said)
    worker.close()


async def test_more_than_a_pipe_holds_goes_out_and_comes_back() -> None:
    crew = Crew(1)
    reply = await crew.ask(document(BIG, "text/plain"))
    assert reply["document"]["text"] == parse(BIG, content_type="text/plain", name="x").text
    assert len(reply["document"]["text"]) > 1_400_000
    crew.close()


@pytest.mark.parametrize("is_waiting_in_loop", [True, False], ids=["in the loop", "in a thread"])
async def test_where_loops_cannot_wait_for_pipes_a_thread_does(is_waiting_in_loop: bool) -> None:
    path = os.pathsep.join(filter(None, sys.path))
    worker = await asyncio.to_thread(Worker, {"PYTHONPATH": path}, is_waiting_in_loop=is_waiting_in_loop)
    reply = await worker.ask(document())
    assert reply is not None
    assert reply["document"]["title"] == "Lakes"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await worker.ask(document(SLOW))
    assert not worker.is_usable
    worker.close()

"""What a run tells, as a stream that is taken up again; and work that ends as nobody foresaw."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from sse_starlette import ServerSentEvent

from fathom.errors import BadInput, RunStopped
from fathom.events import Progress, ReportDraft
from fathom.researcher import DeepResearcher
from fathom.runs import EVENTS
from fathom.session import Session
from fathom.state import ReviewAnswer
from fathom.web.live import LiveRuns

RUN = "0a1b2c3d-0000-4000-8000-000000000000"


def draft(text: str, *, is_whole: bool) -> Progress:
    told = ReportDraft(title="Costs", text=text, is_whole=is_whole)
    return Progress(
        kind="draft", run_id=RUN, round=1, limit=1, elapsed_s=0.0, at=datetime.now(UTC), payload=told
    )


class OddSession:
    """A session whose work ends with an error, or with none."""

    id = RUN

    def __init__(self, folder: Path, error: Exception | None = None, told: Sequence[Progress] = ()) -> None:
        self.folder, self.error, self.told = folder, error, told
        self.going = asyncio.Event()
        self.is_left = False

    async def open_folder(self, parent: Path) -> Path:
        return self.folder

    def leave(self) -> None:
        self.is_left = True
        self.going.set()

    async def events(self, answer: ReviewAnswer | None = None) -> AsyncGenerator[Progress, None]:
        await self.going.wait()
        if self.error:
            raise self.error
        for event in self.told:
            yield event


def runs_of(folder: Path) -> LiveRuns:
    return LiveRuns(cast(DeepResearcher, None), folder)


async def heard(stream: AsyncGenerator[ServerSentEvent, None], count: int) -> list[ServerSentEvent]:
    async with asyncio.timeout(10):
        return [await anext(stream) for _ in range(count)]


async def test_a_reader_takes_up_the_stream_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / EVENTS
    file.write_text('{"n": 1}\n{"n": 2}\n{"n": 3}\n{"half', "utf-8")
    stream = runs_of(tmp_path).stream(RUN, tmp_path, seen=1)
    two, three, standing = await heard(stream, 3)
    assert [(two.id, two.data), (three.id, three.data)] == [("2", '{"n": 2}'), ("3", '{"n": 3}')]
    assert standing.event == "standing"
    with file.open("a", encoding="utf-8") as more:
        more.write(' a line": "한글"}\n')
    (four,) = await heard(stream, 1)
    assert (four.id, four.data) == ("4", '{"half a line": "한글"}')


async def test_a_run_that_has_told_nothing_yet_is_waited_for(tmp_path: Path) -> None:
    stream = runs_of(tmp_path).stream(RUN, tmp_path, seen=0)
    assert [one.event for one in await heard(stream, 1)] == ["standing"]
    (tmp_path / EVENTS).write_text("{}\n", "utf-8")
    assert [one.id for one in await heard(stream, 1)] == ["1"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RunStopped("The model is away."), "The model is away."),
        (
            KeyError("nobody foresaw this"),
            "Something went wrong inside Fathom (KeyError); the run can go on.",
        ),
    ],
)
async def test_whatever_ends_the_work_is_told_in_one_sentence(
    tmp_path: Path, error: Exception, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    live, session = runs_of(tmp_path), OddSession(tmp_path, error)
    await live.work(cast(Session, session))
    with pytest.raises(BadInput, match="worked on already"):
        await live.work(cast(Session, session))
    stream = live.stream(RUN, tmp_path, seen=0)
    (first,) = await heard(stream, 1)
    assert json.loads(str(first.data))["is_working"]
    with caplog.at_level(logging.CRITICAL, logger="fathom.web.live"):
        session.going.set()
        (last,) = await heard(stream, 1)
    assert json.loads(str(last.data)) == {"is_working": False, "problem": told, "stretch": 1}


async def test_work_between_two_glances_is_noticed(tmp_path: Path) -> None:
    live, session = runs_of(tmp_path), OddSession(tmp_path)
    stream = live.stream(RUN, tmp_path, seen=0)
    await heard(stream, 1)
    session.going.set()
    await live.work(cast(Session, session))
    (second,) = await heard(stream, 1)
    assert json.loads(str(second.data))["stretch"] == 1


async def test_closing_leaves_every_run_after_its_step(tmp_path: Path) -> None:
    live, session = runs_of(tmp_path), OddSession(tmp_path)
    await live.work(cast(Session, session))
    await live.close()
    assert session.is_left
    found = live.find(RUN)
    assert found and not found.is_working


@pytest.mark.parametrize(("is_whole", "drafts"), [(False, {"Costs": "It cost 31 million"}), (True, {})])
async def test_a_part_that_is_being_written_goes_around_the_file(
    tmp_path: Path, is_whole: bool, drafts: dict[str, str]
) -> None:
    told = [draft("It cost", is_whole=False), draft("It cost 31 million", is_whole=is_whole)]
    live, session = runs_of(tmp_path), OddSession(tmp_path, told=told)
    session.going.set()
    await live.work(cast(Session, session))
    found = live.find(RUN)
    assert found and found.task
    await found.task
    first, _ = await heard(live.stream(RUN, tmp_path, seen=0), 2)
    assert (first.event, json.loads(str(first.data))) == ("drafts", drafts)


async def test_the_stream_of_a_finished_run_ends(tmp_path: Path) -> None:
    lines = ['{"kind":"started"}', '{"kind":"completed","run_id":"x"}']
    (tmp_path / EVENTS).write_text("\n".join(lines) + "\n", "utf-8")
    async with asyncio.timeout(10):
        told = [one.data async for one in runs_of(tmp_path).stream(RUN, tmp_path, seen=0)]
        again = [one.event async for one in runs_of(tmp_path).stream(RUN, tmp_path, seen=2)]
    assert told[:2] == lines
    assert len(told) == 3
    assert again == ["standing"]


async def test_fifty_readers_of_one_run_hear_all_of_it(tmp_path: Path) -> None:
    live, file = runs_of(tmp_path), tmp_path / EVENTS

    async def listen() -> int:
        return len([one async for one in live.stream(RUN, tmp_path, seen=0) if one.id])

    readers = [asyncio.create_task(listen()) for _ in range(50)]
    for number in range(200):
        with file.open("a", encoding="utf-8") as more:
            more.write(f'{{"kind":"draft","n":{number}}}\n')
        await asyncio.sleep(0)
    with file.open("a", encoding="utf-8") as more:
        more.write('{"kind":"completed","n":200}\n')
    async with asyncio.timeout(30):
        assert await asyncio.gather(*readers) == [201] * 50

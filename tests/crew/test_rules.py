"""The rules of evidence say the same wherever they are applied, and no page is lost with a process."""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from fakes import claim, page, question, sentence

from fathom.crew.crew import Crew
from fathom.crew.rules import FEW, Rulebook
from fathom.crew.wire import RULES, of_nothing
from fathom.evidence.claims import GroundedDraft, grounded
from fathom.minds.port import Draft
from fathom.reading.bounded import BoundedParser
from fathom.report.drafts import checked
from fathom.state import Dropped, Sentence

TEXT = (
    "The Rance plant opened in 1966. It makes 240 megawatts at its peak, and “not” 24.\n\n"
    "Divers service the gates in spring.  란스 조력 발전소는 1966년에 문을 열었다. "
    "Half a letter: \ud83d is one."
)
PAGE = page(TEXT.replace("\ud83d", ""))
QUESTIONS = [question(1), question(2)]
DRAFTS = [
    Draft("The Rance plant opened in 1966.", "the rance plant opened in 1966", "Q1", 0.9),
    Draft("The Rance plant opened in 1968.", "The Rance plant opened in 1966", "Q1", 0.9),
    Draft("It makes 240 megawatts.", "makes 240 megawatts at its peak", "Q9", 0.4),
    Draft("Divers look after the gates.", "Divers service the gates in spring", "Q2", float("nan")),
    Draft("Divers look after the gates. ", "Divers paint the gates", "Q2", 7.0),
    Draft("란스 발전소는 1966년에 문을 열었다.", "란스 조력 발전소는 1966년에 문을 열었다", "Q2", 0.5),
    Draft("Half a letter \ud83d is one.", "Half a letter: \ud83d is one", "Q2", 0.5),
    Draft("It is made of cheese.", "the moon is made of cheese", "Q1", 1.0),
]
HERE = grounded(DRAFTS, PAGE, TEXT, QUESTIONS)
LONG = " ".join(f"In year {n} the lake rose by {n} centimetres, more than “expected”." for n in range(15_000))
HTML = b"<html lang='en'><body><article><h1>Lakes</h1>" + b"<p>It rose by a metre that year.</p>" * 40
SLOW = b"<html><body>" + b"<p>a<b>b</b> " * 400_000
Grounds = tuple[list[GroundedDraft], list[Dropped]]


async def parsed(crew: Crew, body: bytes = HTML) -> None:
    """A page parsed, so that there is a process."""
    await BoundedParser(crew)(body, content_type="text/html", name="x")


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(3000):
        if is_so():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


async def taught(crew: Crew) -> None:
    """A process that knows the rules."""
    await parsed(crew)
    crew.teach(of_nothing())
    await until(lambda: crew.knows(RULES) and bool(crew.processes))


async def begun(crew: Crew) -> None:
    """All processes are at work."""
    for _ in range(100):
        if not crew.processes:
            return
        await asyncio.sleep(0)
    raise TimeoutError


async def by(crew: Crew, text: str = TEXT) -> Grounds:
    return await Rulebook(crew).grounded(DRAFTS, PAGE, text, QUESTIONS)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def crew() -> Iterator[Crew]:
    made = Crew(2)
    asyncio.run(taught(made))
    yield made
    made.close()


@pytest.fixture
def alone() -> Iterator[Crew]:
    made = Crew(1)
    yield made
    made.close()


async def test_a_process_and_we_ground_the_same_drafts(crew: Crew) -> None:
    found, refused = await by(crew)
    # As text: what is not a number equals nothing, not even itself.
    assert repr((found, refused)) == repr(HERE)
    assert [item.draft for item in found] == [DRAFTS[0], DRAFTS[3], DRAFTS[5], DRAFTS[6]]
    assert sum(one.count for one in refused) == 3


async def test_a_process_and_we_check_the_same_sentences(crew: Crew) -> None:
    claims = {
        "a": claim("The Rance plant makes 240 megawatts.", name="a"),
        "b": claim("Divers come in spring.", name="b"),
        "c": claim("The Rance plant does not make 240 megawatts.", name="c"),
    }
    written = [
        sentence("The Rance plant makes 240 megawatts.", "a", status="supported"),
        sentence("The Rance plant makes 240 megawatts.", "a", "c", status="supported"),
        sentence("The Rance plant makes 240 megawatts.", "c", status="supported"),
        sentence("The Rance plant makes 250 megawatts, as divers say.", "a", "b", status="supported"),
        sentence("So it goes.", status="connective"),
    ]
    told: list[Sentence] = await Rulebook(crew).checked(written, claims)
    assert told == [checked(one, claims) for one in written]
    assert [one.status for one in told].count("unsupported") == 2
    assert told[1].claims == ["a"]


async def test_many_at_once_share_the_processes(crew: Crew) -> None:
    found = await asyncio.gather(*(by(crew) for _ in range(100)))
    assert {repr(one) for one in found} == {repr(HERE)}
    assert len(crew.processes) <= 2


def test_several_event_loops_share_the_processes(crew: Crew) -> None:
    async def ten() -> list[Grounds]:
        return await asyncio.gather(*(by(crew) for _ in range(10)))

    with ThreadPoolExecutor(3) as pool:
        found = [one for ones in pool.map(lambda _: asyncio.run(ten()), range(6)) for one in ones]
    assert {repr(one) for one in found} == {repr(HERE)}
    assert len(crew.processes) <= 2


async def test_a_process_that_is_killed_in_the_middle_loses_no_page(alone: Crew) -> None:
    await taught(alone)
    (pid,) = alone.processes
    asked = [asyncio.create_task(by(alone, LONG)) for _ in range(3)]
    await begun(alone)
    os.kill(pid, 9)
    assert {repr(one) for one in await asyncio.gather(*asked)} == {
        repr(grounded(DRAFTS, PAGE, LONG, QUESTIONS))
    }
    with pytest.raises(ProcessLookupError):
        while True:
            os.kill(pid, 0)
            await asyncio.sleep(0.01)


async def test_when_the_processes_are_ended_it_is_done_here(alone: Crew) -> None:
    await taught(alone)
    asked = [asyncio.create_task(by(alone)) for _ in range(5)]
    await asyncio.sleep(0)
    alone.close()
    assert {repr(one) for one in [*await asyncio.gather(*asked), await by(alone)]} == {repr(HERE)}
    assert alone.processes == []


async def test_whoever_is_cancelled_leaves_the_process_to_the_others(alone: Crew) -> None:
    await taught(alone)
    (pid,) = alone.processes
    first, second = (asyncio.create_task(by(alone, text)) for text in (LONG, TEXT))
    await begun(alone)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert repr(await second) == repr(HERE)
    await until(lambda: bool(alone.processes))
    assert alone.processes == [pid]
    assert repr(await by(alone)) == repr(HERE)


async def test_nobody_waits_for_a_document_that_takes_long(alone: Crew) -> None:
    await taught(alone)
    slow = asyncio.create_task(parsed(alone, SLOW))
    await begun(alone)
    assert repr(await by(alone)) == repr(HERE)
    assert not slow.done()
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow


async def test_no_process_is_started_for_the_rules(alone: Crew) -> None:
    rules = Rulebook(alone)
    for _ in range(FEW + 5):
        assert repr(await rules.grounded(DRAFTS, PAGE, TEXT, QUESTIONS)) == repr(HERE)
    assert not alone.knows(RULES)
    assert alone.processes == []


async def test_a_process_learns_the_rules_when_they_are_asked_for_often(alone: Crew) -> None:
    await parsed(alone)
    (pid,) = alone.processes
    rules = Rulebook(alone)
    for _ in range(FEW):
        await rules.grounded(DRAFTS, PAGE, TEXT, QUESTIONS)
    assert alone.processes == [pid]
    assert not alone.knows(RULES)
    await rules.grounded(DRAFTS, PAGE, TEXT, QUESTIONS)  # here: who learns is not waited for
    assert not alone.knows(RULES)
    await until(lambda: alone.knows(RULES))


async def test_nothing_to_apply_the_rules_to_asks_nobody(crew: Crew) -> None:
    rules = Rulebook(crew)
    assert await rules.grounded([], PAGE, TEXT, QUESTIONS) == ([], [])
    assert await rules.checked([], {}) == []

"""Tests of parsing at a bounded cost: bombs, crashes, several event loops, and no process left behind."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fathom.crew.crew import Crew
from fathom.errors import Unreadable
from fathom.reading.blocks import Empty
from fathom.reading.bounded import BoundedParser, Limits
from fathom.reading.documents import parse
from fathom.reading.port import Document

PAGE = (
    "<html lang='en'><body><article><h1>Lakes</h1>"
    + "".join(f"<p>In year {n} the lake rose by {n} centimetres, more than expected.</p>" for n in range(40))
    + "</article></body></html>"
).encode()
NOWHERE = {"PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere"}  # an environment no Python starts in
SLOW = b"<html><body>" + b"<p>a<b>b</b> " * 400_000


@pytest.fixture(scope="module")
def bounded() -> Iterator[BoundedParser]:
    crew = Crew(2)
    yield BoundedParser(crew)
    crew.close()


@pytest.fixture(scope="module")
def alone() -> Iterator[BoundedParser]:
    crew = Crew(1)
    yield BoundedParser(crew)
    crew.close()


@pytest.fixture(scope="module")
def frugal() -> Iterator[BoundedParser]:
    crew = Crew(1)
    yield BoundedParser(crew, Limits(memory_bytes=220_000_000, chars=3_000))
    crew.close()


async def read(parser: BoundedParser, body: bytes, kind: str = "text/html", name: str = "x") -> Document:
    return await parser(body, content_type=kind, name=name)


def flate_pdf(stream: bytes) -> bytes:
    """A PDF of one page whose content is compressed; readers mend the missing table of objects."""
    packed = zlib.compress(stream, 9)
    parts = [
        b"%PDF-1.4",
        b"1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj",
        b"2 0 obj\n<</Type/Pages/Count 1/Kids[3 0 R]>>\nendobj",
        b"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>\nendobj",
        b"4 0 obj\n<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream\nendobj" % (len(packed), packed),
        b"trailer\n<</Size 5/Root 1 0 R>>\n%%EOF\n",
    ]
    return b"\n".join(parts)


async def test_a_page_is_read_as_it_would_be_here(bounded: BoundedParser) -> None:
    assert await read(bounded, PAGE) == parse(PAGE, content_type="text/html", name="x")


async def test_a_pdf_keeps_its_pages(bounded: BoundedParser, pdf_of: Callable[..., bytes]) -> None:
    document = await read(bounded, pdf_of([["First."], ["Second."]]), "application/pdf")
    assert document.pages == (0, 8)


async def test_what_is_wrong_with_a_document_is_told_as_ever(bounded: BoundedParser) -> None:
    with pytest.raises(Unreadable, match="x has no text, only markup"):
        await read(bounded, b"<html></html>")
    with pytest.raises(Empty, match="x is empty"):
        await read(bounded, b"  ", "text/html")
    with pytest.raises(Unreadable, match="image/png"):
        await read(bounded, b"PNG", "image/png")


async def test_a_page_that_takes_too_long_is_given_up_in_time_and_the_loop_goes_on() -> None:
    parser = BoundedParser(Crew(1), Limits(seconds=0.5))
    await read(parser, PAGE)
    longest, is_over = 0.0, False

    async def tick() -> None:
        nonlocal longest
        while not is_over:
            before = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - before)

    ticking = asyncio.create_task(tick())
    started = time.perf_counter()
    with pytest.raises(Unreadable, match=r"slow took longer than 0\.5 s to parse"):
        await read(parser, SLOW, name="slow")
    assert time.perf_counter() - started < 2
    is_over = True
    await ticking
    assert longest < 0.4
    parser.crew.close()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/pdf", flate_pdf(b"BT /F1 12 Tf " + b"(a)Tj " * 1_000_000 + b"ET")),
        ("text/html", b"<html><body>" + b"<b>a</b><i>c</i>\n" * 150_000),
    ],
    ids=["pdf", "html"],
)
async def test_a_page_that_needs_too_much_memory_is_unreadable(
    frugal: BoundedParser, kind: str, body: bytes
) -> None:
    with pytest.raises(Unreadable, match=r"bomb (needs more than 220 MB of memory|could not be parsed)"):
        await read(frugal, body, kind, "bomb")
    assert (await read(frugal, PAGE)).title == "Lakes"


async def test_a_text_longer_than_anyone_reads_is_unreadable(frugal: BoundedParser) -> None:
    with pytest.raises(Unreadable, match="x has more than 3,000 characters of text"):
        await read(frugal, PAGE.replace(b"expected", b"anyone had expected of it"))


async def test_small_plain_texts_need_no_process() -> None:
    parser = BoundedParser(Crew(1, environment=NOWHERE))
    assert (await read(parser, b"# Tides\n\nWords.", "text/markdown")).text == "# Tides\n\nWords."


async def test_processes_are_used_again(bounded: BoundedParser) -> None:
    await asyncio.gather(*(read(bounded, PAGE) for _ in range(12)))
    assert len(bounded.crew.processes) <= 2


async def test_a_process_that_died_in_its_sleep_is_replaced(alone: BoundedParser) -> None:
    await read(alone, PAGE)
    (before,) = alone.crew.processes
    os.kill(before, 9)
    await asyncio.to_thread(os.waitid, os.P_PID, before, os.WEXITED | os.WNOWAIT)
    assert (await read(alone, PAGE)).title == "Lakes"
    assert alone.crew.processes != [before]


async def test_whoever_stops_waiting_frees_the_process(alone: BoundedParser) -> None:
    await read(alone, PAGE)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await read(alone, SLOW)
    started = time.perf_counter()
    assert (await read(alone, PAGE)).title == "Lakes"
    assert time.perf_counter() - started < 10


def test_several_event_loops_share_the_processes(bounded: BoundedParser) -> None:
    with ThreadPoolExecutor(4) as pool:
        titles = {found.title for found in pool.map(lambda _: asyncio.run(read(bounded, PAGE)), range(8))}
    assert titles == {"Lakes"}
    assert len(bounded.crew.processes) <= 2


async def test_a_process_that_cannot_start_is_told() -> None:
    parser = BoundedParser(Crew(1, environment=NOWHERE))
    with pytest.raises(Unreadable, match="x cannot be parsed: the process for it does not start"):
        await read(parser, PAGE)
    parser.crew.close()


def test_no_process_outlives_its_owner(tmp_path: Path) -> None:
    script = tmp_path / "script.py"  # no guard around its main part: nothing may run it twice
    script.write_text(
        "import asyncio\nfrom fathom.crew.crew import Crew\n"
        "from fathom.reading.bounded import BoundedParser\n"
        "parser = BoundedParser(Crew(1))\n"
        f"asyncio.run(parser({PAGE!r}, content_type='text/html', name='x'))\n"
        "print(*parser.crew.processes, flush=True)\n"
    )
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, timeout=60)
    (pid,) = ran.stdout.split()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_a_forgotten_parser_takes_its_processes_with_it() -> None:
    parser = BoundedParser(Crew(1))
    asyncio.run(read(parser, PAGE))
    (pid,) = parser.crew.processes
    del parser
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_no_thread_is_left_over(bounded: BoundedParser) -> None:
    asyncio.run(read(bounded, PAGE))
    for timer in [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]:
        timer.join(5.0)  # one that was told to end has a moment for it; its own time is far longer
        assert not timer.is_alive()

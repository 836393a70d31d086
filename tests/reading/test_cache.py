"""Tests of pages that are remembered, against a real server and a real database file."""

import asyncio
import json
import sqlite3
import subprocess
import sys
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from standins.recorder import traced_in_a_graph

from fathom.errors import Refused, Unavailable, Unreadable
from fathom.http.fetch import Fetcher
from fathom.reading import Document
from fathom.reading.readers import CachedReader, PageCache
from fathom.state import Hit
from fathom.storage import open_storage
from fathom.storage.files import PdfStore
from fathom.storage.records import WebPage

OPEN = Fetcher(is_private_allowed=True, limit_s=5)
TEXT = {"Content-Type": "text/plain"}
DAY = 24 * 3600.0


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def hit(address: str) -> Hit:
    return Hit(query="q", address=address, title="", snippet="", engine="web", rank=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(tmp_path: Path) -> PageCache:
    return PageCache(open_storage(tmp_path / "home" / "fathom.db"))


@pytest.fixture
def read(cache: PageCache, clock: Clock) -> CachedReader:
    return CachedReader(OPEN, cache, clock=clock)


def kept(text: str = "Words.", checked: float = 1.0) -> WebPage:
    document = json.dumps(asdict(Document(text, "T", "text", pages=(0, 3))))
    return WebPage(document, checked, 60.0, "2024", '"1"', None, None, "ab")


async def test_a_page_is_fetched_once_a_day(read: CachedReader, clock: Clock, site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"Words.", headers=TEXT)
    first = await read(hit(f"{site.url}/a"))
    clock.now += DAY - 1
    again = await CachedReader(OPEN, read.cache, clock=clock)(hit(f"{site.url}/a?utm_source=x#part"))
    assert (again.text, again.title, again.how) == (first.text, first.title, first.how)
    assert (first.fetched, again.fetched) == (None, "2023-11-14T22:13:20+00:00")
    assert len(site.seen) == 1
    clock.now += 2
    await read(hit(f"{site.url}/a"))
    assert len(site.seen) == 2


async def test_whoever_wants_a_page_that_is_being_read_waits_for_it(
    read: CachedReader, site: Any, reply: Any
) -> None:
    site.pages["/a"] = reply(b"Words.", headers=TEXT)
    other = CachedReader(OPEN, read.cache, clock=read.clock)
    both = await asyncio.gather(read(hit(f"{site.url}/a")), other(hit(f"{site.url}/a#part")))
    assert [document.text for document in both] == ["Words."] * 2
    assert len(site.seen) == 1


async def test_an_unchanged_page_is_not_sent_again(
    read: CachedReader, clock: Clock, site: Any, reply: Any
) -> None:
    about = {"ETag": '"v1"', "Last-Modified": "Tue, 05 Mar 2024 10:00:00 GMT"}
    site.pages["/a"] = reply(b"Words.", headers={**TEXT, **about})
    await read(hit(f"{site.url}/a"))
    clock.now += DAY + 1
    site.pages["/a"] = reply(status=304, headers=about)
    document = await read(hit(f"{site.url}/a"))
    assert document.text == "Words."
    asked = site.seen[1][1]
    assert (asked["If-None-Match"], asked["If-Modified-Since"]) == ('"v1"', about["Last-Modified"])
    clock.now += DAY - 1
    await read(hit(f"{site.url}/a"))
    assert len(site.seen) == 2


async def test_a_changed_page_takes_the_place_of_the_old_one(
    read: CachedReader, clock: Clock, site: Any, reply: Any
) -> None:
    site.pages["/a"] = reply(b"Old words.", headers={**TEXT, "ETag": '"v1"'})
    await read(hit(f"{site.url}/a"))
    clock.now += DAY + 1
    site.pages["/a"] = reply(b"New words.", headers={**TEXT, "ETag": '"v2"'})
    assert (await read(hit(f"{site.url}/a"))).text == "New words."
    clock.now += 5
    assert (await read(hit(f"{site.url}/a"))).text == "New words."
    assert len(site.seen) == 2


@pytest.mark.parametrize(
    ("said", "after_s", "requests"),
    [
        ("max-age=60", 50, 1),
        ("max-age=60", 70, 2),
        ("public, Max-Age=172800", 1.5 * DAY, 1),
        ("max-age=99999999", 8 * DAY, 2),
        ("no-cache", 1, 2),
        ("s-maxage=1", 10, 1),
        ("no-store", 1, 2),
        ("private, no-store, max-age=60", 1, 2),
    ],
)
async def test_the_server_says_how_long(
    read: CachedReader, clock: Clock, site: Any, reply: Any, said: str, after_s: float, requests: int
) -> None:
    site.pages["/a"] = reply(b"Words.", headers={**TEXT, "Cache-Control": said, "ETag": '"1"'})
    await read(hit(f"{site.url}/a"))
    clock.now += after_s
    await read(hit(f"{site.url}/a"))
    assert len(site.seen) == requests
    assert (await read.cache.get(f"{site.url}/a") is None) == ("no-store" in said)


async def test_whoever_wants_it_fresh_gets_it_fresh(read: CachedReader, site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"Old words.", headers={**TEXT, "ETag": '"1"'})
    await read(hit(f"{site.url}/a"))
    site.pages["/a"] = reply(b"New words.", headers=TEXT)
    assert (await replace(read, is_fresh_wanted=True)(hit(f"{site.url}/a"))).text == "New words."
    assert "If-None-Match" not in site.seen[1][1]
    assert (await read(hit(f"{site.url}/a"))).text == "New words."


async def test_an_unsolicited_304_is_unreadable(read: CachedReader, site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(status=304)
    with pytest.raises(Unreadable, match="answered 304"):
        await read(hit(f"{site.url}/a"))


async def test_a_page_that_cannot_be_had_now_is_not_made_up(
    read: CachedReader, clock: Clock, site: Any, reply: Any
) -> None:
    site.pages["/a"] = reply(b"Words.", headers=TEXT)
    await read(hit(f"{site.url}/a"))
    clock.now += DAY + 1
    site.pages["/a"] = reply(status=503)
    with pytest.raises(Unavailable):
        await read(hit(f"{site.url}/a"))


async def test_a_page_that_became_a_picture_is_forgotten(
    read: CachedReader, clock: Clock, site: Any, reply: Any
) -> None:
    site.pages["/a"] = reply(b"Words.", headers=TEXT)
    await read(hit(f"{site.url}/a"))
    clock.now += DAY + 1
    site.pages["/a"] = reply(b"PNG", headers={"Content-Type": "image/png"})
    with pytest.raises(Unreadable):
        await read(hit(f"{site.url}/a"))
    assert await read.cache.get(f"{site.url}/a") is None


async def test_a_hostile_address_is_refused_even_if_its_page_is_known(read: CachedReader) -> None:
    await read.cache.put("http://a.example/", kept(checked=1_700_000_000.0))
    assert (await read(hit("http://a.example/"))).text == "Words."
    with pytest.raises(Refused):
        await read(hit("http://user:pass@a.example/"))


async def test_the_same_bytes_are_not_parsed_twice(
    read: CachedReader, clock: Clock, site: Any, reply: Any
) -> None:
    parsed: list[str] = []

    async def counting(body: bytes, *, content_type: str | None, name: str) -> Document:
        parsed.append(name)
        return Document(body.decode(), "T", "text")

    reader = replace(read, parse=counting)
    site.pages["/a"] = reply(b"Words.", headers=TEXT)
    for _ in range(2):
        await reader(hit(f"{site.url}/a"))
        clock.now += DAY + 1
    assert (len(site.seen), len(parsed)) == (2, 1)


async def test_a_paper_and_its_abstract_are_two_pages(cache: PageCache) -> None:
    await cache.put("https://arxiv.org/abs/2401.00001", kept("Abstract."))
    assert await cache.get("https://arxiv.org/pdf/2401.00001") is None


async def test_old_pages_are_forgotten(cache: PageCache) -> None:
    await cache.put("http://old.example/", kept(checked=0.0))
    await cache.put("http://new.example/", kept(checked=31 * DAY))
    assert await cache.get("http://old.example/") is None
    found = await cache.get("http://new.example/")
    assert found is not None
    assert found.document.pages == (0, 3)


@pytest.mark.sqlite
async def test_a_damaged_row_is_as_good_as_none(cache: PageCache) -> None:
    await cache.put("http://a.example/", kept())
    with sqlite3.connect(cache.storage.name) as connection:
        connection.execute("update web_pages set document = x'00'")
    connection.close()
    assert await cache.get("http://a.example/") is None


async def test_a_database_that_cannot_be_used_costs_only_the_memory(
    tmp_path: Path, site: Any, reply: Any
) -> None:
    (tmp_path / "db").write_bytes(b"this is no database, whatever its name may say" * 100)
    site.pages["/a"] = reply(b"Words.", headers=TEXT)
    read = CachedReader(OPEN, PageCache(open_storage(tmp_path / "db")))
    assert (await read(hit(f"{site.url}/a"))).text == "Words."


@pytest.mark.sqlite
def test_processes_may_write_at_once(cache: PageCache) -> None:
    script = (
        "import asyncio, sys\nfrom pathlib import Path\n"
        "from fathom.reading.readers import PageCache\n"
        "from fathom.storage.records import WebPage\n"
        "from fathom.storage import open_storage\n"
        "async def main():\n"
        "    cache = PageCache(open_storage(Path(sys.argv[1])))\n"
        '    document = \'{"text": "w", "title": "T", "how": "text"}\'\n'
        "    page = WebPage(document, 1.0, 1.0, '', None, None, None, sys.argv[2])\n"
        "    await asyncio.gather(*(cache.put(f'http://x.example/{n}', page) for n in range(30)))\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", script, str(cache.storage.name)]
    writers = [subprocess.Popen([*command, name]) for name in ("one", "two")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    found = [asyncio.run(cache.get(f"http://x.example/{n}")) for n in range(30)]
    assert {page.row.sha for page in found if page} <= {"one", "two"}
    assert all(found)


async def test_a_pdf_is_kept_as_it_came_under_the_hash_of_its_text(
    read: CachedReader, site: Any, reply: Any, pdf_of: Any, tmp_path: Path
) -> None:
    pdf_store = PdfStore(tmp_path / "papers")
    body = pdf_of([["Tidal power at Merrow costs 85 euros for each megawatt hour."]])
    site.pages["/p"] = reply(body, headers={"Content-Type": "application/pdf"})
    site.pages["/a"] = reply(b"Words.", headers=TEXT)
    keeping = replace(read, pdf_store=pdf_store)
    document = await keeping(hit(f"{site.url}/p"))
    await keeping(hit(f"{site.url}/a"))
    found = await pdf_store.find(sha256(document.text.encode()).hexdigest())
    assert found is not None
    assert found.read_bytes() == body
    assert len(list((tmp_path / "papers").iterdir())) == 1


async def test_every_fetch_shows_in_callbacks_and_whether_a_kept_page_was_used(
    read: CachedReader, site: Any, reply: Any
) -> None:
    site.pages["/a"] = reply(b"Words.", headers=TEXT)

    async def work() -> None:
        await read(hit(f"{site.url}/a"))
        await read(hit(f"{site.url}/a"))
        with pytest.raises(Unreadable):
            await read(hit(f"{site.url}/none"))

    recorder = await traced_in_a_graph(work)
    fetches = [run for run in recorder.ended if run.name == "fetch"]
    assert {(run.run_type, run.parent_run_id) for run in fetches} == {("tool", recorder.named("asker").id)}
    assert [run.inputs["input"].rpartition("/")[2] for run in fetches] == ["a", "a", "none"]
    told = [run.extra["metadata"] for run in fetches]
    assert [one["is_reused"] for one in told] == [False, True, False]
    assert [one.get("status") for one in told] == [200, None, None]
    assert [one["engine"] for one in told] == ["web"] * 3
    assert "404" in (fetches[2].error or "")

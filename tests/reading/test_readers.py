"""Tests of reading the paper rather than its abstract."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.http import RetryPolicy
from fathom.http.fetch import Fetcher
from fathom.reading import Document
from fathom.reading.parsers import parse_in_thread
from fathom.reading.readers import (
    CachedReader,
    DeliveredReader,
    FileReader,
    PageCache,
    PaperReader,
    RoutingReader,
    open_web,
)
from fathom.reading.sandbox import BoundedParser, ParserPool
from fathom.state import Hit
from fathom.storage import open_storage

ABS = "https://arxiv.org/abs/2401.00001v2"


class Shelf:
    """A reader that has some addresses and remembers what it was asked for."""

    def __init__(self, has: Mapping[str, Document | ProviderError]) -> None:
        self.has = has
        self.asked: list[str] = []

    async def __call__(self, hit: Hit) -> Document:
        self.asked.append(hit.address)
        found = self.has.get(hit.address, Unreadable(f"{hit.address} answered 404"))
        if isinstance(found, ProviderError):
            raise found
        return found


def paper_hit(address: str, **fields: Any) -> Hit:
    return Hit(query="q", address=address, title="", snippet="", engine="arxiv", rank=1, **fields)


def page(how: str) -> Document:
    return Document(text="Words.", title="untitled.dvi", how=how, published="2020-01-01")


@pytest.mark.parametrize(
    ("has", "how", "tries"),
    [
        (["pdf/2401.00001v2", "html/2401.00001v2", "abs/2401.00001v2"], "pdf", 1),
        (["html/2401.00001v2", "abs/2401.00001v2"], "html", 2),
        (["abs/2401.00001v2"], "abs", 3),
    ],
)
async def test_the_fullest_version_is_read(has: list[str], how: str, tries: int) -> None:
    shelf = Shelf({f"https://arxiv.org/{place}": page(place.partition("/")[0]) for place in has})
    assert (await PaperReader(shelf)(paper_hit(ABS))).how == how
    assert len(shelf.asked) == tries


@pytest.mark.parametrize(
    "address",
    [
        "http://arxiv.org/abs/2401.00001v2",
        "https://www.arxiv.org/abs/2401.00001v2/",
        "https://export.arxiv.org/abs/2401.00001v2",
    ],
)
async def test_all_spellings_of_an_abstract_lead_to_the_paper(address: str) -> None:
    shelf = Shelf({"https://arxiv.org/pdf/2401.00001v2": page("pdf")})
    assert (await PaperReader(shelf)(paper_hit(address))).how == "pdf"


async def test_old_numbers_are_known_too() -> None:
    shelf = Shelf({"https://arxiv.org/pdf/math.AG/0601001": page("pdf")})
    assert (await PaperReader(shelf)(paper_hit("https://arxiv.org/abs/math.AG/0601001"))).how == "pdf"


@pytest.mark.parametrize(
    "address",
    [
        "https://arxiv.org/list/cs.CL/new",
        "https://evil.example/abs/2401.00001",
        "https://arxiv.org/pdf/2401.00001",
    ],
)
async def test_other_pages_are_read_as_they_are(address: str) -> None:
    shelf = Shelf({address: page("html")})
    assert (await PaperReader(shelf)(paper_hit(address))).title == "untitled.dvi"
    assert shelf.asked == [address]


async def test_a_hit_that_knows_its_pdf_is_read_by_it() -> None:
    shelf = Shelf({"https://j.example/1.pdf": page("pdf"), "https://doi.example/1": page("html")})
    paper = paper_hit("https://doi.example/1", pdf="https://j.example/1.pdf", published="2024-03-05")
    document = await PaperReader(shelf)(paper.model_copy(update={"title": "On Lakes"}))
    assert (document.how, document.title, document.published) == ("pdf", "On Lakes", "2024-03-05")


async def test_a_pdf_that_cannot_be_had_leaves_the_page() -> None:
    shelf = Shelf({"https://j.example/1.pdf": Unavailable("busy"), "https://doi.example/1": page("html")})
    assert (
        await PaperReader(shelf)(paper_hit("https://doi.example/1", pdf="https://j.example/1.pdf"))
    ).how == "html"


async def test_the_last_place_tells_what_is_wrong() -> None:
    with pytest.raises(Unreadable, match=r"abs/2401\.00001v2 answered 404"):
        await PaperReader(Shelf({}))(paper_hit(ABS))


async def test_a_paper_is_read_over_the_wire(
    tmp_path: Path, site: Any, reply: Any, pdf_of: Callable[..., bytes]
) -> None:
    site.pages["/pdf/2401.00001v2"] = reply(
        pdf_of([["First."], ["Second."]]), headers={"Content-Type": "application/pdf"}
    )
    made = open_web(
        open_storage(tmp_path / "db"),
        tmp_path / "papers",
        is_private_allowed=True,
        pause_s=0,
        parse=parse_in_thread,
        arxiv=site.url,
    )
    for _ in range(2):
        assert (await made.reader()(paper_hit(ABS))).pages == (0, 8)
    assert [path for path, _ in site.seen] == ["/robots.txt", "/pdf/2401.00001v2"]


async def test_the_web_is_read_with_everything_in_place(tmp_path: Path, site: Any, reply: Any) -> None:
    words = "".join(f"<p>In year {n} the lake rose by {n} centimetres.</p>" for n in range(20))
    site.pages["/a"] = reply(f"<html><body><article>{words}</article></body></html>".encode())
    site.pages["/busy"] = reply(status=503)
    parser = BoundedParser(ParserPool(1))
    made = open_web(
        open_storage(tmp_path / "db"), tmp_path / "papers", is_private_allowed=True, pause_s=0, parse=parser
    )
    reader = made.reader(policy=RetryPolicy(attempts=2, first_wait_s=0, most_wait_s=0, jitter_s=0))
    assert "year 7" in (await reader(paper_hit(f"{site.url}/a"))).text
    assert (await reader(paper_hit(f"{site.url}/a"))).fetched
    with pytest.raises(Unavailable):
        await reader(paper_hit(f"{site.url}/busy"))
    assert [path for path, _ in site.seen] == ["/robots.txt", "/a", "/busy", "/busy"]
    parser.pool.close()


async def test_a_text_that_an_engine_delivered_is_read_without_a_second_fetch() -> None:
    web = Shelf({"https://a.example/": page("html")})
    texts = {"known": "# Tidal power\n\nThe barrage has 24 turbines.\n\nIt opened in 1966."}

    async def find(sha: str) -> str | None:
        return texts.get(sha)

    reader = DeliveredReader(web, find)
    read = await reader(paper_hit("https://a.example/", delivered="known"))
    assert (read.how, web.asked) == ("delivered", [])
    assert "The barrage has 24 turbines." in read.text
    # What is gone, and a paper that can be had in full, are fetched.
    await reader(paper_hit("https://a.example/", delivered="gone"))
    await reader(paper_hit("https://a.example/", delivered="known", pdf="https://a.example/p.pdf"))
    await reader(paper_hit("https://a.example/"))
    assert web.asked == ["https://a.example/"] * 3


def hit(address: str) -> Hit:
    return Hit(query="q", address=address, title="", snippet="", engine="local", rank=1)


async def test_a_file_inside_the_roots_is_read(tmp_path: Path) -> None:
    path = tmp_path / "바다 이야기 #1.md"
    path.write_text("# Tides\n\nWords.", encoding="utf-8")
    document = await FileReader((tmp_path,))(hit(path.as_uri()))
    assert (document.title, document.text) == ("Tides", "# Tides\n\nWords.")


async def test_a_root_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Words.")
    (tmp_path / "b.md").write_text("Other words.")
    read = FileReader((tmp_path / "a.md",))
    assert (await read(hit((tmp_path / "a.md").as_uri()))).text == "Words."
    with pytest.raises(Refused, match="outside the folders"):
        await read(hit((tmp_path / "b.md").as_uri()))


async def test_no_way_leads_out_of_the_roots(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (inside / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "inside-too").mkdir()
    (tmp_path / "inside-too" / "x.md").write_text("secret")
    read = FileReader((inside,))
    base = inside.as_uri()
    for address in (
        f"{base}/../secret.md",
        f"{base}/%2e%2e/secret.md",
        f"{base}/link.md",
        f"{base}-too/x.md",
        "file:///etc/hostname",
    ):
        with pytest.raises(Refused, match="outside the folders that may be read"):
            await read(hit(address))


@pytest.mark.parametrize("address", ["http://127.0.0.1/", "file://server/share/a.md", "file:///a%00b"])
async def test_what_is_no_file_of_this_machine_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(Refused, match="is not a file of this machine"):
        await FileReader((tmp_path,))(hit(address))


async def test_what_cannot_be_opened_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "broken.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "large.md").write_text("words" * 10)
    for name in ("folder.md", "broken.md", "missing.md", "loop.md", "large.md"):
        with pytest.raises(Unreadable):
            await FileReader((tmp_path,), max_bytes=20)(hit((tmp_path / name).as_uri()))


@pytest.fixture
def web(tmp_path: Path) -> CachedReader:
    return CachedReader(Fetcher(is_private_allowed=True), PageCache(open_storage(tmp_path / "pages.sqlite")))


async def test_a_web_page_is_fetched_and_read(web: CachedReader, site: Any, reply: Any) -> None:
    site.pages["/a.md"] = reply(b"# Tides\n\nSome\nwords.", headers={"Content-Type": "text/plain"})
    document = await web(hit(f"{site.url}/a.md"))
    assert document.text == "# Tides\n\nSome words."


async def test_a_picture_on_the_web_is_unreadable(web: CachedReader, site: Any, reply: Any) -> None:
    site.pages["/a"] = reply(b"\x89PNG\r\n", headers={"Content-Type": "image/png"})
    with pytest.raises(Unreadable, match="image/png"):
        await web(hit(f"{site.url}/a"))


async def test_the_address_chooses_the_reader(
    web: CachedReader, tmp_path: Path, site: Any, reply: Any
) -> None:
    site.pages["/a"] = reply(b"from the web", headers={"Content-Type": "text/plain"})
    (tmp_path / "a.txt").write_text("from a file")
    read = RoutingReader(files=FileReader((tmp_path,)), web=web)
    assert (await read(hit((tmp_path / "a.txt").as_uri()))).text == "from a file"
    assert (await read(hit(f"{site.url}/a"))).text == "from the web"
    with pytest.raises(Refused):
        await read(hit("ftp://127.0.0.1/a"))

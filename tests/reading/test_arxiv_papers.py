"""Tests of reading the paper rather than its abstract."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fathom.errors import ProviderError, Unavailable, Unreadable
from fathom.http.retry import RetryPolicy
from fathom.reading.arxiv_papers import PaperReader
from fathom.reading.port import Document
from fathom.reading.reader import in_thread
from fathom.reading.sandbox import BoundedParser, ParserPool
from fathom.reading.web import web
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


def hit(address: str, **fields: Any) -> Hit:
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
    assert (await PaperReader(shelf)(hit(ABS))).how == how
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
    assert (await PaperReader(shelf)(hit(address))).how == "pdf"


async def test_old_numbers_are_known_too() -> None:
    shelf = Shelf({"https://arxiv.org/pdf/math.AG/0601001": page("pdf")})
    assert (await PaperReader(shelf)(hit("https://arxiv.org/abs/math.AG/0601001"))).how == "pdf"


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
    assert (await PaperReader(shelf)(hit(address))).title == "untitled.dvi"
    assert shelf.asked == [address]


async def test_a_hit_that_knows_its_pdf_is_read_by_it() -> None:
    shelf = Shelf({"https://j.example/1.pdf": page("pdf"), "https://doi.example/1": page("html")})
    paper = hit("https://doi.example/1", pdf="https://j.example/1.pdf", published="2024-03-05")
    document = await PaperReader(shelf)(paper.model_copy(update={"title": "On Lakes"}))
    assert (document.how, document.title, document.published) == ("pdf", "On Lakes", "2024-03-05")


async def test_a_pdf_that_cannot_be_had_leaves_the_page() -> None:
    shelf = Shelf({"https://j.example/1.pdf": Unavailable("busy"), "https://doi.example/1": page("html")})
    assert (
        await PaperReader(shelf)(hit("https://doi.example/1", pdf="https://j.example/1.pdf"))
    ).how == "html"


async def test_the_last_place_tells_what_is_wrong() -> None:
    with pytest.raises(Unreadable, match=r"abs/2401\.00001v2 answered 404"):
        await PaperReader(Shelf({}))(hit(ABS))


async def test_a_paper_is_read_over_the_wire(
    tmp_path: Path, site: Any, reply: Any, pdf_of: Callable[..., bytes]
) -> None:
    site.pages["/pdf/2401.00001v2"] = reply(
        pdf_of([["First."], ["Second."]]), headers={"Content-Type": "application/pdf"}
    )
    made = web(
        open_storage(tmp_path / "db"),
        tmp_path / "papers",
        is_private_allowed=True,
        pause_s=0,
        parse=in_thread,
        arxiv=site.url,
    )
    for _ in range(2):
        assert (await made.reader()(hit(ABS))).pages == (0, 8)
    assert [path for path, _ in site.seen] == ["/robots.txt", "/pdf/2401.00001v2"]


async def test_the_web_is_read_with_everything_in_place(tmp_path: Path, site: Any, reply: Any) -> None:
    words = "".join(f"<p>In year {n} the lake rose by {n} centimetres.</p>" for n in range(20))
    site.pages["/a"] = reply(f"<html><body><article>{words}</article></body></html>".encode())
    site.pages["/busy"] = reply(status=503)
    parser = BoundedParser(ParserPool(1))
    made = web(
        open_storage(tmp_path / "db"), tmp_path / "papers", is_private_allowed=True, pause_s=0, parse=parser
    )
    reader = made.reader(policy=RetryPolicy(attempts=2, first_wait_s=0, most_wait_s=0, jitter_s=0))
    assert "year 7" in (await reader(hit(f"{site.url}/a"))).text
    assert (await reader(hit(f"{site.url}/a"))).fetched
    with pytest.raises(Unavailable):
        await reader(hit(f"{site.url}/busy"))
    assert [path for path, _ in site.seen] == ["/robots.txt", "/a", "/busy", "/busy"]
    parser.pool.close()

"""Tests of the readers."""

from pathlib import Path
from typing import Any

import pytest

from fathom.errors import Refused, Unreadable
from fathom.http.fetch import Fetcher
from fathom.reading.cached import CachedReader, PageCache
from fathom.reading.reader import AnyReader, FileReader
from fathom.state import Hit
from fathom.storage import open_storage


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
    read = AnyReader(files=FileReader((tmp_path,)), web=web)
    assert (await read(hit((tmp_path / "a.txt").as_uri()))).text == "from a file"
    assert (await read(hit(f"{site.url}/a"))).text == "from the web"
    with pytest.raises(Refused):
        await read(hit("ftp://127.0.0.1/a"))

"""The papers of a run, as files a person can keep: their text as it was read, and an index of them.

Does not know how they were found. The text is what was quoted from; the PDF is there if there was one. What
is there already is not written again, and keeps its name when others join.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from fathom.reading.originals import Originals
from fathom.report.bibliography import is_paper, keys_of
from fathom.report.files import replaced
from fathom.state import Page

INDEX = "paper_index.json"
PAPERS = "papers"
_NAME_CHARS = 60
_ABOUT = {"title", "author", "doi", "cited_by", "published", "address", "sha", "fetched"}


class Texts(Protocol):
    """Where the texts of pages are kept."""

    async def get(self, sha: str) -> str:
        """The text of a page."""


async def write_papers(
    pages: Sequence[Page], texts: Texts, originals: Originals, folder: Path, numbers: Mapping[str, int]
) -> int:
    """Bring `papers/` and its index up to date; how many there are. `numbers` are those of the report."""
    found = [page for page in pages if is_paper(page)]
    if not found:
        return 0
    names = await asyncio.to_thread(_named, found, folder)
    for page in found:
        place = folder / PAPERS / f"{names[page.address]}.txt"
        if not await asyncio.to_thread(place.exists):
            await asyncio.to_thread(replaced, place, await texts.get(page.sha))
            await asyncio.to_thread(_kept_original, originals, page, place.with_suffix(".pdf"))
    keys = keys_of(pages)
    index = [_entry(page, folder, names[page.address], keys, numbers) for page in found]
    body = json.dumps(index, indent=2, ensure_ascii=False) + "\n"
    await asyncio.to_thread(replaced, folder / INDEX, body)
    return len(found)


def _named(found: Sequence[Page], folder: Path) -> dict[str, str]:
    """A name for every paper by its address; one that has a name for the same text keeps it."""
    known = {(entry.get("address"), entry.get("sha")): entry.get("file") for entry in _index(folder)}
    numbers = [str(file).partition("-")[0] for file in known.values()]
    last = max((int(number) for number in numbers if number.isdecimal()), default=0)
    names: dict[str, str] = {}
    for page in found:
        file = known.get((page.address, page.sha))
        if not file:
            last += 1
            file = f"{last:03d}-{_slug(page.title)}.txt"
        names[page.address] = Path(str(file)).name.removesuffix(".txt")
    return names


def _index(folder: Path) -> list[dict[str, Any]]:
    """The index as it is; one that somebody broke is made anew."""
    try:
        found = json.loads((folder / INDEX).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _kept_original(originals: Originals, page: Page, place: Path) -> None:
    if original := originals.find(page.sha):
        part = place.with_name(f".{place.name}.part")
        shutil.copyfile(original, part)
        part.replace(place)


def _entry(
    page: Page, folder: Path, name: str, keys: Mapping[str, str], numbers: Mapping[str, int]
) -> dict[str, Any]:
    has_pdf = (folder / PAPERS / f"{name}.pdf").exists()
    files = {"file": f"{name}.txt", "pdf": f"{name}.pdf" if has_pdf else None}
    about = page.model_dump(include=_ABOUT)
    return {**files, **about, "key": keys[page.address], "citation": numbers.get(page.sha)}


def _slug(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title.casefold()).strip("-")[:_NAME_CHARS].strip("-") or "paper"

"""The papers of a run, as files a person can keep: their text as it was read, and an index of them.

Does not know how they were found. The text is what was quoted from; the PDF is there if there was one.
"""

import json
import re
import shutil
from pathlib import Path

from fathom.errors import RunStopped
from fathom.reading.originals import Originals
from fathom.result import ResearchResult
from fathom.state import Page
from fathom.store import Pages

INDEX = "paper_index.json"
_NAME_CHARS = 60


def papers_of(result: ResearchResult) -> list[Page]:
    """The sources of a run that are papers: they have a DOI, or pages, or come from arXiv."""
    return [p for p in result.sources if p.doi or p.starts or "arxiv.org/" in p.address]


async def write_papers(result: ResearchResult, pages: Pages, originals: Originals, folder: Path) -> int:
    """Write `papers/` and its index beside the report; how many there are."""
    found = papers_of(result)
    texts = [await pages.get(page.sha) for page in found]
    if found:
        try:
            numbers = {c.page: c.number for c in result.citations}
            _written(found, texts, originals, folder / "papers", numbers)
        except OSError as error:
            raise RunStopped(f"The papers cannot be written to {folder}: {error.strerror}.") from error
    return len(found)


def _written(
    found: list[Page], texts: list[str], originals: Originals, folder: Path, numbers: dict[str, int]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for place, (page, text) in enumerate(zip(found, texts, strict=True), start=1):
        name = f"{place:03d}-{_slug(page.title)}"
        (folder / f"{name}.txt").write_text(text, "utf-8")
        original = originals.find(page.sha)
        if original:
            shutil.copyfile(original, folder / f"{name}.pdf")
        about = page.model_dump(include={"title", "author", "doi", "cited_by", "published", "address", "sha"})
        files = {"file": f"{name}.txt", "pdf": f"{name}.pdf" if original else None}
        index.append({**files, **about, "fetched": page.fetched, "citation": numbers.get(page.sha)})
    (folder / INDEX).write_text(json.dumps(index, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _slug(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title.casefold()).strip("-")[:_NAME_CHARS].strip("-") or "paper"

"""The cited sources for reference managers: BibTeX, CSL-JSON and RIS.

Does not know what they are cited for. Every format takes the pages, and which of them are cited.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from fathom.report.bibliography import arxiv_number, make_bibtex_keys, split_authors, split_name
from fathom.state import Page
from fathom.text.json_lines import dump_json
from fathom.text.normalization import one_line

_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")


def render_csl_json(pages: Sequence[Page], cited: Sequence[str]) -> str:
    """An array of items, with the same keys as in BibTeX."""
    keys = make_bibtex_keys(pages)
    items = [_item(keys[page.address], page) for page in pages if page.sha in cited]
    return dump_json(items, 2) + "\n"


def render_ris(pages: Sequence[Page], cited: Sequence[str]) -> str:
    """A record a source; lines end as the format asks."""
    keys = make_bibtex_keys(pages)
    wanted = [page for page in pages if page.sha in cited]
    lines = [
        f"{tag}  - {_line(words)}" for page in wanted for tag, words in _fields(keys[page.address], page)
    ]
    return "".join(f"{line}\r\n" for line in lines)


def _item(key: str, page: Page) -> dict[str, Any]:
    arxiv = arxiv_number(page)
    item = {
        "id": key,
        "type": "article" if arxiv else "article-journal" if page.doi else "webpage",
        "title": _line(page.title or page.address),
        "author": [_csl_name(name) for name in split_authors(page.author)],
        "issued": _csl_date(page.published),
        "accessed": _csl_date(page.fetched),
        "publisher": _line(page.publisher or ""),
        "DOI": _line(page.doi),
        "number": f"arXiv:{arxiv}" if arxiv else "",
        "URL": _line(page.address),
    }
    return {name: value for name, value in item.items() if value}


def _csl_name(name: str) -> dict[str, str]:
    family, given = split_name(name)
    return {"family": _line(family), "given": _line(given)} if given else {"literal": _line(family)}


def _csl_date(day: str | None) -> dict[str, Any]:
    found = _DATE.match(day or "")
    return {"date-parts": [[int(part) for part in found.groups() if part]]} if found else {}


def _fields(key: str, page: Page) -> Iterator[tuple[str, str]]:
    yield "TY", "JOUR" if page.doi and not arxiv_number(page) else "ELEC"
    yield "ID", key
    yield "TI", page.title or page.address
    for name in split_authors(page.author):
        yield "AU", ", ".join(part for part in split_name(name) if part)
    if found := _DATE.match(page.published or ""):
        yield "PY", found[1]
        yield "DA", "/".join([*(part or "" for part in found.groups()), ""])
    yield from (("PB", page.publisher),) if page.publisher else ()
    yield from (("DO", page.doi),) if page.doi else ()
    yield "UR", page.address
    if read := _DATE.match(page.fetched):
        yield "Y2", "/".join([*(part or "" for part in read.groups()), ""])
    yield "ER", ""


def _line(words: str) -> str:
    """One line of printable words: no field can begin inside another."""
    return "".join(sign for sign in one_line(words) if sign.isprintable())

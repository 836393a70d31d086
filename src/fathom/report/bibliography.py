"""Sources for reference managers: BibTeX, CSL-JSON and RIS, with the same keys in each.

Does not know what they are cited for, or files. What a page says of itself is never trusted to be BibTeX:
braces, backslashes and signs with a meaning come out as plain text.
"""

import asyncio
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Protocol

from fathom.http.urls import canonical_address
from fathom.state import Page, RunState
from fathom.storage.files import PdfStore, replace_file
from fathom.text.normalization import dump_json, one_line

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
_YEAR = re.compile(r"^(1[5-9]|20)\d\d")
_DATE = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_ARXIV = re.compile(r"^https://arxiv\.org/abs/(.+)$")
_INITIALS = re.compile(r"^[A-Z]{1,3}$")
_STOP_WORDS = {"a", "an", "the", "on", "of", "in", "to", "and", "for", "how", "what", "is"}
_KEY_CHARS = 24


def is_paper(page: Page) -> bool:
    """Whether a source is a paper: it has a DOI, or printed pages, or comes from arXiv."""
    return bool(page.doi or page.starts or arxiv_number(page))


def render_bibtex(pages: Sequence[Page], cited: Sequence[str] | None = None) -> str:
    """The entries of the cited pages, all of them without a list of hashes.

    Keys are given over all pages in their order, so that a page keeps its key while others join.
    """
    keys = make_bibtex_keys(pages)
    wanted = [page for page in pages if cited is None or page.sha in cited]
    return "\n".join(_bibtex_entry(keys[page.address], page) for page in wanted)


def make_bibtex_keys(pages: Sequence[Page]) -> dict[str, str]:
    """A key for every page, by its address: author, year and word, and a letter where that is taken."""
    taken: set[str] = set()
    keys: dict[str, str] = {}
    for page in pages:
        stem = _stem(page)
        key = next(name for name in _candidate_keys(stem) if name.casefold() not in taken)
        taken.add(key.casefold())
        keys.setdefault(page.address, key)
    return keys


def split_authors(said: str | None) -> list[str]:
    """The names in what a page says of its authors; a comma parts names, or a name and its first name."""
    text = one_line(said or "")
    if ";" in text or " and " in text:
        parts = re.split(r";| and ", text)
    else:
        parts = text.split(",")
        if len(parts) == 2 and all(_is_latin_word(part.strip()) for part in parts):
            parts = [text]  # "Verne, Jules" is one name
    return [name for part in parts if (name := part.strip(" ,"))]


def arxiv_number(page: Page) -> str:
    """The number of a paper of arXiv; empty for any other page."""
    found = _ARXIV.match(canonical_address(page.address))
    return found.group(1) if found else ""


def split_name(name: str) -> tuple[str, str]:
    """A family name and what stands before it; a name that cannot be parted has no second half."""
    words = name.split()
    if len(words) < 2 or (not name.isascii() and not _is_latin(name)):
        return name, ""
    if "," in name:
        family, _, given = name.partition(",")
        return family.strip(), given.strip()
    if _INITIALS.match(words[-1]) and not _INITIALS.match(words[0]):
        return " ".join(words[:-1]), words[-1]  # as PubMed writes it: "Verne JG"
    return words[-1], " ".join(words[:-1])


def escape_tex(text: str) -> str:
    """Words as BibTeX and TeX show them, sign by sign."""
    return "".join(_SIGNS.get(sign, sign) for sign in one_line(text) if sign.isprintable())


def _bibtex_entry(key: str, page: Page) -> str:
    arxiv = arxiv_number(page)
    year = _YEAR.match(page.published or "")
    fields = {
        "title": f"{{{escape_tex(page.title or page.address)}}}",  # in braces of its own: capitals stay
        "author": " and ".join(_bibtex_name(name) for name in split_authors(page.author)),
        "year": year.group() if year else "",
        "doi": _escape_address(page.doi),
        "eprint": _escape_address(arxiv),
        "archiveprefix": "arXiv" if arxiv else "",
        "url": _escape_address(page.address),
        "urldate": page.fetched[:10],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    kind = "article" if page.doi and not arxiv else "misc"
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"


def _bibtex_name(name: str) -> str:
    """A name whose parts BibTeX finds; one it cannot part stands in braces."""
    words = name.split()
    if len(words) < 2 or (not name.isascii() and not _is_latin(name)):
        return f"{{{escape_tex(name)}}}"
    if "," not in name and _INITIALS.match(words[-1]):
        return ", ".join(map(escape_tex, split_name(name)))
    return escape_tex(name)


def _escape_address(text: str) -> str:
    """An address as it is, but for what would end its braces or begin a comment's worth of trouble."""
    kept = "".join(sign for sign in one_line(text) if sign.isprintable())
    return re.sub(r"[\s{}\\]", lambda found: f"%{ord(found.group()):02X}", kept)


def _stem(page: Page) -> str:
    names = split_authors(page.author)
    first = names[0] if names else ""
    words = first.split(",")[0].split()
    if len(words) > 1 and "," not in first and not _INITIALS.match(words[-1]):
        words = words[-1:]
    year = _YEAR.match(page.published or "")
    title = [word for word in map(_key_letters, page.title.split()) if word and word not in _STOP_WORDS]
    stem = f"{_key_letters(''.join(words[:1]))}{year.group() if year else ''}{title[0] if title else ''}"
    return stem[:_KEY_CHARS] if stem and not stem.isdecimal() else f"source{page.sha[:6]}"


def _key_letters(word: str) -> str:
    """The letters of a word as a key may have them: a to z and digits."""
    bare = unicodedata.normalize("NFKD", word).casefold()
    return re.sub(r"[^a-z0-9]", "", bare)


def _is_latin(text: str) -> bool:
    return all(unicodedata.name(c, "").startswith("LATIN") for c in text if c.isalpha())


def _is_latin_word(part: str) -> bool:
    return _is_latin(part) and (len(part.split()) == 1 or all(len(w.strip(".")) == 1 for w in part.split()))


def _candidate_keys(stem: str) -> list[str]:
    """The stem, then with one letter, then with two: enough for any run."""
    single = [f"{stem}{letter}" for letter in ascii_lowercase]
    return [stem, *single, *(f"{name}{letter}" for name in single for letter in ascii_lowercase)]


PAPER_INDEX = "paper_index.json"

PAPERS = "papers"

_NAME_CHARS = 60

_INDEX_FIELDS = {"title", "author", "doi", "cited_by", "published", "address", "sha", "fetched"}
_INDEX_FIELDS |= {"abstract", "retracted", "linked", "engine"}
_KEY_FINDINGS = 5


class PageTextSource(Protocol):
    """Where the texts of pages are kept."""

    async def get(self, sha: str) -> str:
        """The text of a page."""


async def write_papers(state: RunState, texts: PageTextSource, pdf_store: PdfStore, folder: Path) -> int:
    """Bring `papers/` and its index up to date; how many there are."""
    pages = state.get("pages", [])
    found = [page for page in pages if is_paper(page)]
    if not found:
        return 0
    names = await asyncio.to_thread(_paper_names, found, folder)
    for page in found:
        place = folder / PAPERS / f"{names[page.address]}.txt"
        if not await asyncio.to_thread(place.exists):
            await asyncio.to_thread(replace_file, place, await texts.get(page.sha))
            if original := await pdf_store.find(page.sha):
                copy = place.with_suffix(".pdf")
                await asyncio.to_thread(lambda a, b: replace_file(b, a.read_bytes()), original, copy)
    keys = make_bibtex_keys(pages)
    report = state.get("report")
    numbers = {c.page: c.number for c in report.citations} if report else {}
    index = [
        {
            **_index_entry(page, folder, names[page.address]),
            "key": keys[page.address],
            "citation": numbers.get(page.sha),
            "rounds": _rounds_used_in(page, state),
            "key_findings": _key_findings(page, state),
        }
        for page in found
    ]
    body = dump_json(index, 2) + "\n"
    await asyncio.to_thread(replace_file, folder / PAPER_INDEX, body)
    return len(found)


def _paper_names(found: Sequence[Page], folder: Path) -> dict[str, str]:
    """A name for every paper by its address; one that has a name for the same text keeps it."""
    known = {(entry.get("address"), entry.get("sha")): entry.get("file") for entry in _read_index(folder)}
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


def _read_index(folder: Path) -> list[dict[str, Any]]:
    """The index as it is; one that somebody broke is made anew."""
    try:
        found = json.loads((folder / PAPER_INDEX).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _index_entry(page: Page, folder: Path, name: str) -> dict[str, Any]:
    has_pdf = (folder / PAPERS / f"{name}.pdf").exists()
    files = {"file": f"{name}.txt", "pdf": f"{name}.pdf" if has_pdf else None}
    return {**files, **page.model_dump(include=_INDEX_FIELDS)}


def _rounds_used_in(page: Page, state: RunState) -> list[int]:
    """The rounds in which a paper was read, or gave one of the round's best claims."""
    own = {claim.id for claim in state.get("claims", []) if any(q.page == page.sha for q in claim.quotes)}
    rounds = {page.round} if page.round else set()
    rounds |= {judgement.round for judgement in state.get("judgements", []) if own & set(judgement.found)}
    return sorted(rounds | {one.round for one in state.get("rereads", []) if one.page == page.sha})


def _key_findings(page: Page, state: RunState) -> list[str]:
    """What a paper says that bears most on the question."""
    own = [claim for claim in state.get("claims", []) if any(q.page == page.sha for q in claim.quotes)]
    best = sorted(own, key=lambda claim: -claim.relevance)
    return [claim.statement for claim in best[:_KEY_FINDINGS]]


def _slug(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title.casefold()).strip("-")[:_NAME_CHARS].strip("-") or "paper"


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

"""Sources as BibTeX: one entry a source, with a key that no other has.

Does not know which sources are cited, or files. What a page says of itself is never trusted to be BibTeX:
braces, backslashes and signs with a meaning come out as plain text.
"""

import re
import unicodedata
from collections.abc import Sequence
from string import ascii_lowercase

from fathom.search.addresses import canonical
from fathom.state import Page
from fathom.text.normal import one_line

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}
_YEAR = re.compile(r"^(1[5-9]|20)\d\d")
_ARXIV = re.compile(r"^https://arxiv\.org/abs/(.+)$")
_INITIALS = re.compile(r"^[A-Z]{1,3}$")
_STOP_WORDS = {"a", "an", "the", "on", "of", "in", "to", "and", "for", "how", "what", "is"}
_KEY_CHARS = 24


def is_paper(page: Page) -> bool:
    """Whether a source is a paper: it has a DOI, or printed pages, or comes from arXiv."""
    return bool(page.doi or page.starts or _ARXIV.match(canonical(page.address)))


def bibliography(pages: Sequence[Page], cited: Sequence[str] | None = None) -> str:
    """The entries of the cited pages, all of them without a list of hashes.

    Keys are given over all pages in their order, so that a page keeps its key while others join.
    """
    keys = keys_of(pages)
    wanted = [page for page in pages if cited is None or page.sha in cited]
    return "\n".join(_entry(keys[page.address], page) for page in wanted)


def keys_of(pages: Sequence[Page]) -> dict[str, str]:
    """A key for every page, by its address: author, year and word, and a letter where that is taken."""
    taken: set[str] = set()
    keys: dict[str, str] = {}
    for page in pages:
        stem = _stem(page)
        key = next(name for name in _lettered(stem) if name.casefold() not in taken)
        taken.add(key.casefold())
        keys.setdefault(page.address, key)
    return keys


def authors_of(said: str | None) -> list[str]:
    """The names in what a page says of its authors; a comma parts names, or a name and its first name."""
    text = one_line(said or "")
    if ";" in text or " and " in text:
        parts = re.split(r";| and ", text)
    else:
        parts = text.split(",")
        if len(parts) == 2 and all(_is_latin_word(part.strip()) for part in parts):
            parts = [text]  # "Verne, Jules" is one name
    return [name for part in parts if (name := part.strip(" ,"))]


def escaped(text: str) -> str:
    """Words as BibTeX and TeX show them, sign by sign."""
    return "".join(_SIGNS.get(sign, sign) for sign in one_line(text) if sign.isprintable())


def _entry(key: str, page: Page) -> str:
    arxiv = _ARXIV.match(canonical(page.address))
    year = _YEAR.match(page.published or "")
    fields = {
        "title": f"{{{escaped(page.title or page.address)}}}",  # in braces of its own: capitals stay
        "author": " and ".join(_name(name) for name in authors_of(page.author)),
        "year": year.group() if year else "",
        "doi": _address(page.doi),
        "eprint": _address(arxiv.group(1)) if arxiv else "",
        "archiveprefix": "arXiv" if arxiv else "",
        "url": _address(page.address),
        "urldate": page.fetched[:10],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    kind = "article" if page.doi and not arxiv else "misc"
    return "\n".join([f"@{kind}{{{key},", *lines, "}"]) + "\n"


def _name(name: str) -> str:
    """A name whose parts BibTeX finds; one it cannot part stands in braces."""
    words = name.split()
    if len(words) < 2 or (not name.isascii() and not _is_latin(name)):
        return f"{{{escaped(name)}}}"
    if "," not in name and _INITIALS.match(words[-1]) and not _INITIALS.match(words[0]):
        return f"{escaped(' '.join(words[:-1]))}, {words[-1]}"  # as PubMed writes it: "Verne JG"
    return escaped(name)


def _address(text: str) -> str:
    """An address as it is, but for what would end its braces or begin a comment's worth of trouble."""
    kept = "".join(sign for sign in one_line(text) if sign.isprintable())
    return re.sub(r"[\s{}\\]", lambda found: f"%{ord(found.group()):02X}", kept)


def _stem(page: Page) -> str:
    names = authors_of(page.author)
    first = names[0] if names else ""
    words = first.split(",")[0].split()
    if len(words) > 1 and "," not in first and not _INITIALS.match(words[-1]):
        words = words[-1:]
    year = _YEAR.match(page.published or "")
    title = [word for word in map(_plain, page.title.split()) if word and word not in _STOP_WORDS]
    stem = f"{_plain(''.join(words[:1]))}{year.group() if year else ''}{title[0] if title else ''}"
    return stem[:_KEY_CHARS] if stem and not stem.isdecimal() else f"source{page.sha[:6]}"


def _plain(word: str) -> str:
    """The letters of a word as a key may have them: a to z and digits."""
    bare = unicodedata.normalize("NFKD", word).casefold()
    return re.sub(r"[^a-z0-9]", "", bare)


def _is_latin(text: str) -> bool:
    return all(unicodedata.name(c, "").startswith("LATIN") for c in text if c.isalpha())


def _is_latin_word(part: str) -> bool:
    return _is_latin(part) and (len(part.split()) == 1 or all(len(w.strip(".")) == 1 for w in part.split()))


def _lettered(stem: str) -> list[str]:
    """The stem, then with one letter, then with two: enough for any run."""
    single = [f"{stem}{letter}" for letter in ascii_lowercase]
    return [stem, *single, *(f"{name}{letter}" for name in single for letter in ascii_lowercase)]

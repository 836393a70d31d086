"""Which pages are primary sources: others name them as their origin, or they publish what is their own.

Papers, statistics, standards, laws and press releases are known by their DOI, their host and their title (the
words are in `lexicon/primary.toml`). Does not know whether a primary source is right.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence, Set
from functools import cache
from importlib.resources import files
from urllib.parse import unquote, urlsplit

from fathom.evidence.origins import origin_of
from fathom.evidence.owners import is_official, work_of
from fathom.search.addresses import canonical, host
from fathom.state import Page, Quote


def primary_pages(pages: Sequence[Page]) -> frozenset[str]:
    """Return the hashes of the pages that are a primary source for what they do not attribute to others."""
    named = {
        canonical(origin.address)
        for page in pages
        for origin in page.origins
        if canonical(origin.address) != canonical(page.address)
    }
    return frozenset(p.sha for p in pages if canonical(p.address) in named or _publishes_its_own(p))


def is_primary(quote: Quote, pages: Mapping[str, Page], primary: Set[str]) -> bool:
    """Return whether a quote is of a primary source, and that source does not name another one for it."""
    return quote.page in primary and origin_of(quote, pages[quote.page]) is None


def _publishes_its_own(page: Page) -> bool:
    if not page.address.startswith(("http://", "https://")):
        return False
    if work_of(page) or is_official(page):
        return True
    words = _lexicon()
    if re.search(words["hosts"], host(page.address)):
        return True
    try:
        path = unquote(urlsplit(page.address).path).lower()
    except ValueError:
        return False
    return bool(re.search(words["titles"], page.title.lower()) or re.search(words["paths"], path))


@cache
def _lexicon() -> dict[str, str]:
    table = tomllib.loads(files("fathom.evidence").joinpath("lexicon/primary.toml").read_text("utf-8"))
    return {kind: "|".join(entry.values()) for kind, entry in table.items()}

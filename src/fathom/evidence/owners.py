"""Who speaks on a page, and which pages of some speak with one voice.

Certain cases only: a wrong guess that two pages are independent, or that they are not, is worse than none.
Does not know what is said, only whose words and whose page it is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from tld import get_fld

from fathom.search.addresses import canonical, host
from fathom.state import Page, Quote
from fathom.text.normal import folded
from fathom.text.shingles import is_copy
from fathom.text.tokens import has_paired_script

# Houses that keep what others write: their pages speak for the work or the account, not for the house.
_REPOSITORIES = frozenset(
    """arxiv.org biorxiv.org medrxiv.org chemrxiv.org ssrn.com zenodo.org osf.io hal.science doi.org jstor.org
    europepmc.org semanticscholar.org openalex.org researchgate.net core.ac.uk""".split()  # noqa: SIM905
)
_REPOSITORY_HOSTS = frozenset({"pubmed.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov", "www.ncbi.nlm.nih.gov"})
_ACCOUNTS_IN_PATHS = frozenset(
    {"github.com", "gitlab.com", "medium.com", "velog.io", "brunch.co.kr", "blog.naver.com"}
)
_ACCOUNTS_IN_HOSTS = frozenset({"tistory.com", "substack.com"})
_OFFICIAL = re.compile(
    r"\.(?:gov|mil|edu)(?:\.[a-z]{2})?$|\.(?:gob|gouv|go|ac)\.[a-z]{2}$|\.int$|(?:^|\.)europa\.eu$"
)
_MIN_WORDS = 8
_MIN_CHARACTERS = 20  # of Korean, Chinese or Japanese, which have few spaces


def owner(page: Page) -> str:
    """Whose voice a page is: the work with a DOI, the file, the account on a platform, else the domain."""
    if page.doi:
        return f"doi:{page.doi.strip().lower()}"
    place = host(page.address)
    if not place or not page.address.startswith(("http://", "https://")):
        return page.address
    domain = _domain(place)
    if domain in _REPOSITORIES or place in _REPOSITORY_HOSTS:
        return canonical(page.address)
    platform = re.sub(r"^(?:www|m)\.", "", place)
    if platform in _ACCOUNTS_IN_PATHS:
        return "/".join([platform, *canonical(page.address).split("/")[3:4]])
    return platform if domain in _ACCOUNTS_IN_HOSTS else domain


def is_official(page: Page) -> bool:
    """Whether a government, a public body or a university speaks."""
    return _OFFICIAL.search(host(page.address)) is not None


def voices(quotes: Sequence[Quote], pages: Mapping[str, Page]) -> list[str]:
    """The independent voices behind quotes that say the same, named by one owner each, in alphabetical order.

    Two pages are one voice when they have one owner, one author and title, or one text, or when the quote of
    one stands in that of the other: whoever prints another's paragraph adds nothing to it.
    """
    names: dict[str, str] = {}
    for sha in sorted({quote.page for quote in quotes}):
        names[sha] = owner(pages[sha]) if sha in pages else sha
    if len(names) < 2:
        return list(names.values())
    groups: list[set[str]] = []
    for sha in names:
        alike = [g for g in groups if any(_is_one(sha, other, names, pages) for other in g)]
        groups = [g for g in groups if g not in alike] + [{sha}.union(*alike)]
    for left, right in _copied(quotes):
        one, two = (next(g for g in groups if sha in g) for sha in (left, right))
        if one is not two:
            groups = [g for g in groups if g is not one and g is not two] + [one | two]
    return sorted(min(names[sha] for sha in group) for group in groups)


def _is_one(left: str, right: str, names: Mapping[str, str], pages: Mapping[str, Page]) -> bool:
    if names[left] == names[right]:
        return True
    one, two = pages.get(left), pages.get(right)
    if one is None or two is None:
        return False
    is_one_work = bool(one.author) and _work(one) == _work(two)
    return is_one_work or is_copy(one.sketch, two.sketch)


def _work(page: Page) -> tuple[str, str]:
    return folded(page.author or "").text, folded(page.title).text


def _copied(quotes: Sequence[Quote]) -> Iterable[tuple[str, str]]:
    """Pairs of pages of which one has the other's words, where the words are too many to be chance."""
    texts = [(quote.page, folded(quote.text).text.strip(" .")) for quote in quotes]
    for place, (page, text) in enumerate(texts):
        for other, words in texts[:place]:
            short, long = sorted((text, words), key=len)
            if page != other and short in long and _is_telling(short):
                yield page, other


def _is_telling(text: str) -> bool:
    return len(text) >= _MIN_CHARACTERS if has_paired_script(text) else len(text.split()) >= _MIN_WORDS


@lru_cache(maxsize=4096)
def _domain(place: str) -> str:
    """The part of a host that somebody registered; of a host no list knows, all but its usual prefixes."""
    found = get_fld(f"https://{place}", search_private=True, fail_silently=True)
    return str(found) if found else re.sub(r"^(?:www\d?|m|en|ko)\.(?=.+\.)", "", place)

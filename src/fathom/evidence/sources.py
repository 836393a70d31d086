"""Who owns a page, which pages are independent of each other, and which are primary sources.

Only certain cases count: a wrong guess about independence is worse than none.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, lru_cache
from importlib.resources import files
from urllib.parse import unquote, urlsplit

from tld import get_fld

from fathom.evidence.origins import find_origin
from fathom.http.urls import canonical_address, parse_host
from fathom.state import Page, Quote
from fathom.text.normalization import fold_text
from fathom.text.similarity import is_copy, measure_containment, measure_shared_wording
from fathom.text.tokens import has_cjk

# Hosts that publish the work of others: the source is the work or the account, not the host.
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
_DOI = re.compile(
    r"/(10\.\d{4,9}/[^\s?#&]+?)(?:\.pdf|/(?:full|pdf|abstract|epub|html))?(?:[?#].*)?$", re.IGNORECASE
)
_ARXIV = re.compile(r"https://arxiv\.org/abs/(.+)")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+?)(?:v\d+)?")
_SAME_TITLE = 0.5  # of the smaller text in the larger one, if both have the same title
_CONVERTED = 0.6  # if one of them is a PDF or plain text and the other is not
_CONTAINED = 0.8
_SHORT_COPY = 0.6  # of a short text: what stands around it is much of the page
_SHORT_CHARS = 1500
_SIZES_APART = 3  # times, at most, for one page to be a copy of the other and not only to contain it
_RETOUCHED = 0.6
_MIN_CHARACTERS = 20  # of Korean, Chinese or Japanese, which have few spaces


def find_owner(page: Page) -> str:
    """Return the owner of a page: the work with a DOI, the file, the platform account, else the domain."""
    return find_work(page) or find_owner_of_address(page.address)


def find_work(page: Page) -> str:
    """Return the paper that a page is or describes, by DOI or arXiv number; "" for other pages."""
    return find_work_at(page.address, page.doi)


def find_work_at(address: str, doi: str = "") -> str:
    """Return the paper at an address."""
    if found := _ARXIV.match(canonical_address(address)):
        return f"arxiv:{found[1]}"
    said = doi.strip().lower() or ("" if (named := _DOI.search(address)) is None else named[1].lower())
    named_arxiv = _ARXIV_DOI.fullmatch(said)
    return f"arxiv:{named_arxiv[1]}" if named_arxiv else f"doi:{said}" if said else ""


def find_owner_of_address(address: str) -> str:
    """Return the owner of an address."""
    if work := find_work_at(address):
        return work
    place = parse_host(address)
    if not place or not address.startswith(("http://", "https://")):
        return address
    domain = _registered_domain(place)
    if domain in _REPOSITORIES or place in _REPOSITORY_HOSTS:
        return canonical_address(address)
    platform = re.sub(r"^(?:www|m)\.", "", place)
    if platform in _ACCOUNTS_IN_PATHS:
        return "/".join([platform, *canonical_address(address).split("/")[3:4]])
    return platform if domain in _ACCOUNTS_IN_HOSTS else domain


def is_official(page: Page) -> bool:
    """Tell whether the owner is a government, a public body or a university."""
    return _OFFICIAL.search(parse_host(page.address)) is not None


def list_independent_sources(quotes: Sequence[Quote], pages: Mapping[str, Page]) -> list[str]:
    """Return the independent sources of quotes that say the same, one owner each, sorted.

    Two pages count as one source if they have one owner, are one document or contain each other, attribute
    their quotes to the same origin, or if one quote is contained in the other.
    """
    owners = {
        quote.page: {find_owner(pages[quote.page]) if quote.page in pages else quote.page} for quote in quotes
    }
    named: dict[str, set[str]] = {sha: set() for sha in owners}
    for quote in quotes:
        if quote.page in pages and (origin := find_origin(quote, pages[quote.page])):
            named[quote.page].add(find_owner_of_address(origin.address))
    if len(owners) < 2:
        return sorted(min(named[sha] or owners[sha]) for sha in owners)
    groups: list[set[str]] = []
    for sha in sorted(owners):
        mine = owners[sha] | named[sha]
        alike = [
            g
            for g in groups
            if any(mine & (owners[o] | named[o]) or _is_same_source(sha, o, pages) for o in g)
        ]
        groups = [g for g in groups if g not in alike] + [{sha}.union(*alike)]
    for left, right in _find_copied_quotes(quotes):
        one, two = (next(g for g in groups if sha in g) for sha in (left, right))
        if one is not two:
            groups = [g for g in groups if g is not one and g is not two] + [one | two]
    return sorted(_choose_name(group, named) or _choose_name(group, owners) for group in groups)


def _choose_name(group: Iterable[str], names: Mapping[str, set[str]]) -> str:
    return min((name for sha in group for name in names[sha]), default="")


def is_same_document(one: Page, two: Page) -> bool:
    """Tell whether two pages render one document: HTML, text or PDF, or a paper and its abstract."""
    work = find_work(one)
    if work and work == find_work(two):
        return True
    if is_copy(one.sketch, two.sketch) or (one.author and _author_and_title(one) == _author_and_title(two)):
        return True
    shared = measure_containment(one.sketch, two.sketch)
    is_titled = _author_and_title(one)[1] == _author_and_title(two)[1]
    is_converted = one.how != two.how and bool({"pdf", "text", "docx"} & {one.how, two.how})
    if (is_titled and shared >= _SAME_TITLE) or (is_converted and shared >= _CONVERTED):
        return True
    fewer, more = sorted((one.chars, two.chars))
    return more <= _SIZES_APART * fewer and shared >= (_SHORT_COPY if fewer <= _SHORT_CHARS else _CONTAINED)


def _is_same_source(left: str, right: str, pages: Mapping[str, Page]) -> bool:
    one, two = pages.get(left), pages.get(right)
    if one is None or two is None:
        return False
    return is_same_document(one, two) or measure_containment(one.sketch, two.sketch) >= _CONTAINED


def _author_and_title(page: Page) -> tuple[str, str]:
    return fold_text(page.author or "").text, fold_text(page.title).text


def _find_copied_quotes(quotes: Sequence[Quote]) -> Iterable[tuple[str, str]]:
    """Yield pairs of pages where one has the other's words, too many for chance."""
    texts = [(quote.page, fold_text(quote.text).text.strip(" .")) for quote in quotes]
    for place, (page, text) in enumerate(texts):
        for other, words in texts[:place]:
            short, long = sorted((text, words), key=len)
            if page != other and is_distinctive(short) and (short in long or _is_retouched(short, long)):
                yield page, other


def _is_retouched(short: str, long: str) -> bool:
    """Tell whether a long sentence was copied with a few words changed."""
    return is_distinctive(short, times=2) and measure_shared_wording(short, long) >= _RETOUCHED


def is_distinctive(text: str, times: int = 1) -> bool:
    """Tell whether a text is too long for two writers to have it in common by chance."""
    if has_cjk(text):
        return len(text) >= times * _MIN_CHARACTERS
    return len(text.split()) >= times * _MIN_WORDS


@lru_cache(maxsize=4096)
def _registered_domain(place: str) -> str:
    """Return the registered part of a host; for unknown hosts, all but its usual prefixes."""
    found = get_fld(f"https://{place}", search_private=True, fail_silently=True)
    return str(found) if found else re.sub(r"^(?:www\d?|m|en|ko)\.(?=.+\.)", "", place)


def find_primary_pages(pages: Sequence[Page]) -> frozenset[str]:
    """Return the hashes of pages that are primary sources for what they do not attribute to others."""
    named = {
        canonical_address(origin.address)
        for page in pages
        for origin in page.origins
        if canonical_address(origin.address) != canonical_address(page.address)
    }
    return frozenset(
        p.sha for p in pages if canonical_address(p.address) in named or _is_original_publication(p)
    )


def is_primary(quote: Quote, pages: Mapping[str, Page], primary: Set[str]) -> bool:
    """Tell whether a quote is from a primary source that names no other source for it."""
    return quote.page in primary and find_origin(quote, pages[quote.page]) is None


def _is_original_publication(page: Page) -> bool:
    if not page.address.startswith(("http://", "https://")):
        return False
    if find_work(page) or is_official(page):
        return True
    words = _lexicon()
    if re.search(words["hosts"], parse_host(page.address)):
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

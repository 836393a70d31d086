"""Who speaks on a page, and which pages of some speak with one voice.

Certain cases only: a wrong guess that two pages are independent, or that they are not, is worse than none.
Does not know what is said, only whose words and whose page it is.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from tld import get_fld

from fathom.evidence.origins import origin_of
from fathom.search.addresses import canonical, host
from fathom.state import Page, Quote
from fathom.text.normal import folded
from fathom.text.shingles import contained_part, is_copy, shared_part
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
_DOI = re.compile(
    r"/(10\.\d{4,9}/[^\s?#&]+?)(?:\.pdf|/(?:full|pdf|abstract|epub|html))?(?:[?#].*)?$", re.IGNORECASE
)
_ARXIV = re.compile(r"https://arxiv\.org/abs/(.+)")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+?)(?:v\d+)?")
_SAME_TITLE = 0.5  # of the smaller text in the larger one, when both have one title
_CONVERTED = 0.6  # when one of them is a PDF or plain text and the other is not
_CONTAINED = 0.8
_RETOUCHED = 0.6
_MIN_CHARACTERS = 20  # of Korean, Chinese or Japanese, which have few spaces


def owner(page: Page) -> str:
    """Whose voice a page is: the work with a DOI, the file, the account on a platform, else the domain."""
    return work_of(page) or owner_of_address(page.address)


def work_of(page: Page) -> str:
    """The paper that a page is, announces or renders, by its DOI or arXiv number; empty for other pages."""
    return work_at(page.address, page.doi)


def work_at(address: str, doi: str = "") -> str:
    """The paper at an address."""
    if found := _ARXIV.match(canonical(address)):
        return f"arxiv:{found[1]}"
    said = doi.strip().lower() or ("" if (named := _DOI.search(address)) is None else named[1].lower())
    named_arxiv = _ARXIV_DOI.fullmatch(said)
    return f"arxiv:{named_arxiv[1]}" if named_arxiv else f"doi:{said}" if said else ""


def owner_of_address(address: str) -> str:
    """Whose voice speaks at an address of which nothing else is known."""
    if work := work_at(address):
        return work
    place = host(address)
    if not place or not address.startswith(("http://", "https://")):
        return address
    domain = _domain(place)
    if domain in _REPOSITORIES or place in _REPOSITORY_HOSTS:
        return canonical(address)
    platform = re.sub(r"^(?:www|m)\.", "", place)
    if platform in _ACCOUNTS_IN_PATHS:
        return "/".join([platform, *canonical(address).split("/")[3:4]])
    return platform if domain in _ACCOUNTS_IN_HOSTS else domain


def is_official(page: Page) -> bool:
    """Whether a government, a public body or a university speaks."""
    return _OFFICIAL.search(host(page.address)) is not None


def voices(quotes: Sequence[Quote], pages: Mapping[str, Page]) -> list[str]:
    """The independent voices behind quotes that say the same, named by one owner each, in alphabetical order.

    Two pages are one voice when they have one owner, are one document or one contains the other, when one or
    both attribute their quote to the same source, or when the quote of one stands in that of the other:
    whoever prints another's paragraph adds nothing to it.
    """
    owners = {
        quote.page: {owner(pages[quote.page]) if quote.page in pages else quote.page} for quote in quotes
    }
    named: dict[str, set[str]] = {sha: set() for sha in owners}
    for quote in quotes:
        if quote.page in pages and (origin := origin_of(quote, pages[quote.page])):
            named[quote.page].add(owner_of_address(origin.address))
    if len(owners) < 2:
        return sorted(min(named[sha] or owners[sha]) for sha in owners)
    groups: list[set[str]] = []
    for sha in sorted(owners):
        mine = owners[sha] | named[sha]
        alike = [g for g in groups if any(mine & (owners[o] | named[o]) or _is_one(sha, o, pages) for o in g)]
        groups = [g for g in groups if g not in alike] + [{sha}.union(*alike)]
    for left, right in _copied(quotes):
        one, two = (next(g for g in groups if sha in g) for sha in (left, right))
        if one is not two:
            groups = [g for g in groups if g is not one and g is not two] + [one | two]
    return sorted(_name(group, named) or _name(group, owners) for group in groups)


def _name(group: Iterable[str], names: Mapping[str, set[str]]) -> str:
    return min((name for sha in group for name in names[sha]), default="")


def is_one_document(one: Page, two: Page) -> bool:
    """Whether two pages are renderings of one document: HTML, text or PDF, or the paper and its abstract."""
    work = work_of(one)
    if work and work == work_of(two):
        return True
    if is_copy(one.sketch, two.sketch) or (one.author and _work(one) == _work(two)):
        return True
    shared = contained_part(one.sketch, two.sketch)
    is_titled = _work(one)[1] == _work(two)[1]
    is_converted = one.how != two.how and bool({"pdf", "text", "docx"} & {one.how, two.how})
    return (is_titled and shared >= _SAME_TITLE) or (is_converted and shared >= _CONVERTED)


def _is_one(left: str, right: str, pages: Mapping[str, Page]) -> bool:
    one, two = pages.get(left), pages.get(right)
    if one is None or two is None:
        return False
    return is_one_document(one, two) or contained_part(one.sketch, two.sketch) >= _CONTAINED


def _work(page: Page) -> tuple[str, str]:
    return folded(page.author or "").text, folded(page.title).text


def _copied(quotes: Sequence[Quote]) -> Iterable[tuple[str, str]]:
    """Pairs of pages of which one has the other's words, where the words are too many to be chance."""
    texts = [(quote.page, folded(quote.text).text.strip(" .")) for quote in quotes]
    for place, (page, text) in enumerate(texts):
        for other, words in texts[:place]:
            short, long = sorted((text, words), key=len)
            if page != other and is_telling(short) and (short in long or _is_retouched(short, long)):
                yield page, other


def _is_retouched(short: str, long: str) -> bool:
    """Whether a long sentence was copied with a few words changed; a short one may be alike by chance."""
    return is_telling(short, times=2) and shared_part(short, long) >= _RETOUCHED


def is_telling(text: str, times: int = 1) -> bool:
    """Whether words are too many for two writers to have them in common by chance."""
    if has_paired_script(text):
        return len(text) >= times * _MIN_CHARACTERS
    return len(text.split()) >= times * _MIN_WORDS


@lru_cache(maxsize=4096)
def _domain(place: str) -> str:
    """The part of a host that somebody registered; of a host no list knows, all but its usual prefixes."""
    found = get_fld(f"https://{place}", search_private=True, fail_silently=True)
    return str(found) if found else re.sub(r"^(?:www\d?|m|en|ko)\.(?=.+\.)", "", place)

"""Who owns a page, which pages are independent, which are primary, and whom a page names as its source.

Only certain cases count: a wrong guess about independence is worse than none. A page names the origin of a
statement by a phrase like "according to" with a link in the same sentence, a line "Source: …" below, a
footnote mark, or a sentence that refers to the source right after one that names it. The phrases are in
`lexicon/attribution.toml`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, lru_cache
from urllib.parse import unquote, urlsplit

from tld import get_fld

from fathom.evidence.checks import load_table
from fathom.http.urls import canonical_address, parse_host
from fathom.reading import Link
from fathom.state import Claim, ClaimDraft, Origin, Page, Quote
from fathom.text.normalization import fold_text
from fathom.text.sentences import SentenceSpan, split_sentences
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
    copied = {frozenset(pair) for pair in _find_copied_quotes(quotes)}

    def is_one_source(sha: str, other: str) -> bool:
        is_owned = not (owners[sha] | named[sha]).isdisjoint(owners[other] | named[other])
        return is_owned or {sha, other} in copied or _is_same_source(sha, other, pages)

    groups: list[set[str]] = []
    for sha in sorted(owners):
        alike = [group for group in groups if any(is_one_source(sha, other) for other in group)]
        groups = [group for group in groups if group not in alike] + [{sha}.union(*alike)]
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
    hosts, paths, titles = (_pattern(kind, "primary") for kind in ("hosts", "paths", "titles"))
    if hosts.search(parse_host(page.address)):
        return True
    try:
        path = unquote(urlsplit(page.address).path).lower()
    except ValueError:
        return False
    return bool(titles.search(page.title.lower()) or paths.search(path))


_MOST = 60
_NEAR_CHARS = 120  # between the attributing phrase and the link
_VERB_CHARS = 40
_WORDS_CHARS = 80
_MOST_GOING_ON = 2  # further sentences from the same source
_LONGEST = 600  # of a sentence


def find_origins(text: str, links: Sequence[Link]) -> list[Origin]:
    """Return what a page attributes to pages it links, with the attributed spans."""
    spans = split_sentences(text) if links else []
    starts = [span.start for span in spans]
    by_sentence: dict[int, list[Link]] = {}
    for link in links:
        place = bisect_right(starts, link.start) - 1
        if place >= 0 and link.start <= spans[place].end:
            by_sentence.setdefault(place, []).append(link)
    found: dict[tuple[str, int], Origin] = {}
    for place, here in sorted(by_sentence.items()):
        for origin in _find_in_sentence(text, spans, place, here):
            found.setdefault((origin.address, origin.start), origin)
    return list(found.values())[:_MOST]


def find_origin(quote: Quote, page: Page) -> Origin | None:
    """Return the source that the page names for a quote, if any."""
    behind = [origin for origin in page.origins if _covers(origin, quote)]
    return min(behind, key=lambda origin: (origin.end - origin.start, origin.start), default=None)


def keep_used_origins(page: Page, claims: Sequence[Claim | ClaimDraft]) -> Page:
    """Keep only the origins of quoted text, so that the state stays small."""
    quotes = [quote for claim in claims for quote in claim.quotes if quote.page == page.sha]
    used = [origin for origin in page.origins if any(_covers(origin, quote) for quote in quotes)]
    return page if len(used) == len(page.origins) else page.model_copy(update={"origins": used})


def _covers(origin: Origin, quote: Quote) -> bool:
    """Tell whether at least half of a quote is in the attributed span."""
    shared = min(origin.end, quote.end) - max(origin.start, quote.start)
    return 2 * shared >= quote.end - quote.start


def _find_in_sentence(
    text: str, spans: Sequence[SentenceSpan], place: int, links: Sequence[Link]
) -> list[Origin]:
    span = spans[place]
    low = span.text.lower()[:_LONGEST]
    if line := _pattern("line").search(low):
        start = _find_block_start(text, span.start)
        return [_make_origin(link, line.group(), start, span.end) for link in links]
    if beside := _find_nearest_link(low, span.start, links):
        link, words = beside
        return [_make_origin(link, words, span.start, _find_attribution_end(text, spans, place))]
    before = spans[place - 1] if place else None
    is_together = before is not None and "\n" not in text[before.end : span.start]
    named = _pattern("named").search(before.text.lower()) if before and is_together else None
    if before and named and _pattern("pointer").search(low):
        return [_make_origin(link, named.group(), before.start, span.end) for link in links[:1]]
    return [_make_origin(link, link.words, span.start, span.end) for link in links if _is_mark(link)]


def _find_nearest_link(low: str, start: int, links: Sequence[Link]) -> tuple[Link, str] | None:
    """Return the link nearest to the attributing phrase, if near enough."""
    best: tuple[int, Link, str] | None = None
    for kind, most in (("named", _NEAR_CHARS), ("said", _VERB_CHARS)):
        for words in _pattern(kind).finditer(low):
            for link in links:
                begin, end = link.start - start, link.end - start
                apart = max(0, words.start() - end, begin - words.end())
                # What a source "found" follows it: a link after the verb is about something else.
                is_near = apart <= most and (kind == "named" or begin <= words.end())
                if is_near and not _is_mark(link) and (best is None or apart < best[0]):
                    best = apart, link, words.group()
        if best:
            return best[1:]
    return None


def _find_attribution_end(text: str, spans: Sequence[SentenceSpan], place: int) -> int:
    """Return where the attributed text ends: with its sentence, or with those that continue it."""
    end = spans[place].end
    for span in spans[place + 1 : place + 1 + _MOST_GOING_ON]:
        if "\n" in text[end : span.start] or not _pattern("more").search(span.text.lower()[:_LONGEST]):
            break
        end = span.end
    return end


def _find_block_start(text: str, start: int) -> int:
    """Return where the paragraph, list or table right above starts."""
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip():
        return line  # the line names the source within its own paragraph
    above = text[:line].rstrip()
    return text.rfind("\n\n", 0, len(above)) + 2 if "\n\n" in above else 0


def _is_mark(link: Link) -> bool:
    return _pattern("mark").search(link.words.lower()) is not None


def _make_origin(link: Link, words: str, start: int, end: int) -> Origin:
    return Origin(address=link.address, words=" ".join(words.split())[:_WORDS_CHARS], start=start, end=end)


@cache
def _pattern(kind: str, table: str = "attribution") -> re.Pattern[str]:
    """Return the words of a kind, in all languages, as a pattern over lower-case text."""
    return re.compile("|".join(load_table(table)[kind].values()))

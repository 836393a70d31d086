"""Choose pages to read beside search hits: linked pages, stored pages that may close a gap, named sources.

Long pages have passages that no reader was shown. The choice needs no model and stays small, since reading a
page again costs as much as a new one.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from fathom.errors import ProviderError
from fathom.evidence.claims import ground_drafts
from fathom.evidence.link_paths import missing_words
from fathom.evidence.origins import find_origin
from fathom.evidence.quote_selection import select_sought_quotes
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.http.urls import canonical_address, short_name
from fathom.search.scope import Scope
from fathom.state import Claim, Gap, Hit, Origin, Page, Quote, Reread, ResearchState, RunConfig, SubQuestion
from fathom.state.model_io import LinkPaths
from fathom.text.mentions import strip_brackets
from fathom.text.normalization import one_line
from fathom.text.ranking import PAGE_TOKENS, best_passages, bm25, score_relevance, terms
from fathom.text.sentences import split_passages

_MAX_LINKED_PAGES = 5  # best pages to follow links among
_MAX_LINKED_A_ROUND = 2  # pages per round


async def reread_linked_pages(
    link_paths: LinkPaths,
    pages: Sequence[Page],
    claims: Sequence[Claim],
    questions: Sequence[SubQuestion],
    get: Callable[[str], Awaitable[str]],
) -> list[Claim]:
    """Extract claims from good pages without one that a page with claims links to."""
    known = {page.sha: page for page in pages}
    found: list[Claim] = []
    for sha, words in _linked_pages(link_paths, {quote.page for claim in claims for quote in claim.quotes}):
        page = known[sha]
        try:
            text = await get(sha)
        except ProviderError:
            continue  # the text is gone; the failure was recorded when it was read
        sought = SubQuestion(id=_closest_question(words, questions).id, text=words)
        found += await asyncio.to_thread(_draw_claims, link_paths.question, sought, page, text, questions)
    return found


def _draw_claims(
    question: str, sought: SubQuestion, page: Page, text: str, questions: Sequence[SubQuestion]
) -> list[Claim]:
    """Extract claims for the sought question from one page, verbatim sentences only."""
    return ground_drafts(
        select_sought_quotes(question, sought, page.title, text), page, text, questions
    ).claims


def _linked_pages(link_paths: LinkPaths, quoted: set[str]) -> list[tuple[str, str]]:
    """Return unquoted pages that a quoted page names, with the name and what the quoted page leaves open."""
    best = link_paths.best[:_MAX_LINKED_PAGES]
    led = {
        other: " ".join([strip_brackets(link_paths.read[other].title), *missing_words(link_paths, one)])
        for one in reversed(best)
        for other in best
        if (one, other) in link_paths.links and one in quoted and other not in quoted
    }
    return [(page, led[page]) for page in best if page in led][:_MAX_LINKED_A_ROUND]


def _closest_question(words: str, questions: Sequence[SubQuestion]) -> SubQuestion:
    """Return the sub-question that shares most words; ties go to the first."""
    return max(questions, key=lambda question: len(terms(question.text) & terms(words)))


_MAX_REREADS_A_ROUND = 2
_MAX_REREADS_A_PAGE = 2  # times a page may be read again in a run
_MAX_TEXTS = 60  # the newest
_SHORTLIST = 20  # passages examined closely for a gap
_LIKELY_ANSWER = 0.5  # the score that makes a passage worth a call
_LONG_CHARS = 2 * PAGE_TOKENS  # a shorter page was shown whole, in any language


async def choose_pages_for_gaps(
    gaps: Sequence[Gap],
    pages: Sequence[Page],
    questions: Sequence[SubQuestion],
    before: Sequence[Reread],
    number: int,
    text_of: Callable[[str], Awaitable[str]],
) -> list[Reread]:
    """Return the few pages that round `number` reads again, each for a gap that its passages may close."""
    wanted = [gap for gap in gaps if gap.priority != "low"]
    often = Counter(reread.page for reread in before)
    long = [page for page in pages if page.chars > _LONG_CHARS and often[page.sha] < _MAX_REREADS_A_PAGE]
    texts: dict[str, str] = {}
    for page in long[-_MAX_TEXTS:] if wanted else []:
        try:
            texts[page.sha] = await text_of(page.sha)
        except ProviderError:
            continue  # the text is gone; the failure was recorded when it was read
    known = {reread.key for reread in before}
    return await asyncio.to_thread(_choose_rereads, wanted, texts, questions, known, number) if texts else []


def _choose_rereads(
    gaps: Sequence[Gap],
    texts: Mapping[str, str],
    questions: Sequence[SubQuestion],
    known: set[str],
    number: int,
) -> list[Reread]:
    asked = [question.text for question in questions]
    hidden = [(sha, part) for sha, text in texts.items() for part in _unshown_passages(text, asked)]
    found: dict[str, Reread] = {}
    for gap in gaps:
        words = gap.suggested_query.strip() or gap.description
        sought = SubQuestion(id=gap.question or questions[0].id, text=words)
        for sha in _likely_pages(words, hidden):
            reread = Reread(page=sha, sought=sought, round=number)
            if sha not in found and reread.key not in known:
                found[sha] = reread
                break
        if len(found) == _MAX_REREADS_A_ROUND:
            break
    return list(found.values())


def _unshown_passages(text: str, asked: Sequence[str]) -> list[str]:
    """Return the passages of a page that its reader was not shown for these questions."""
    shown = set(best_passages(text, asked, PAGE_TOKENS))
    return [] if text in shown else [part for part in split_passages(text) if part not in shown]


def _likely_pages(words: str, hidden: Sequence[tuple[str, str]]) -> list[str]:
    """Return the pages whose hidden passages are likely to answer, best first."""
    if not hidden:
        return []
    scores = bm25([words], [part for _, part in hidden])[0]
    short = sorted((n for n, score in enumerate(scores) if score > 0), key=lambda n: -scores[n])[:_SHORTLIST]
    close = score_relevance([words], [hidden[n][1] for n in short])[0] if short else []
    ranked = sorted(zip(close, short, strict=True), key=lambda pair: -pair[0])
    return list(dict.fromkeys(hidden[n][0] for score, n in ranked if score >= _LIKELY_ANSWER))


ORIGIN_ENGINE = "origin"  # the engine of such a hit
_MAX_ORIGINS_A_ROUND = 3
_SNIPPET_CHARS = 300


def origin_hits(state: ResearchState, run_config: RunConfig) -> list[Hit]:
    """Return hits for unread origins, ordered by number and relevance of the claims that lead to them.

    A few at most, and at most half of a round's pages. The run's domain limits apply.
    """
    scope = Scope(tuple(run_config.include_domains), tuple(run_config.exclude_domains))
    found: dict[str, list[tuple[Claim, Quote, Origin]]] = {}
    for claim, quote, origin in _unread_origins(state):
        found.setdefault(canonical_address(origin.address), []).append((claim, quote, origin))
    ranked = sorted(found.values(), key=lambda led: (-len(led), -max(claim.relevance for claim, *_ in led)))
    hits = [_origin_hit(*led[0], rank, state) for rank, led in enumerate(ranked, 1)]
    most = min(_MAX_ORIGINS_A_ROUND, max(1, run_config.max_sources // 2))
    return [hit for hit in hits if scope.admits(hit)][:most]


def has_unread_origins(state: ResearchState) -> bool:
    """Tell whether an important named source is unread, whether or not the run may read it."""
    return next(_unread_origins(state), None) is not None


def _unread_origins(state: ResearchState) -> Iterator[tuple[Claim, Quote, Origin]]:
    read: dict[str, Page] = {page.sha: page for page in state.get("pages", []) if page.origins}
    visited = {
        *state.get("visited", []),
        *(canonical_address(page.address) for page in state.get("pages", [])),
    }
    for claim in state.get("claims", []) if read else ():
        for quote in claim.quotes if claim.relevance >= ANSWERED_FROM else ():
            page = read.get(quote.page)
            if page is None or not page.address.startswith(("http://", "https://")):
                continue
            origin = find_origin(quote, page)
            if origin and canonical_address(origin.address) not in visited:
                yield claim, quote, origin


def _origin_hit(claim: Claim, quote: Quote, origin: Origin, rank: int, state: ResearchState) -> Hit:
    asked = (query.id for query in reversed(state.get("asked", [])) if query.question == claim.question)
    return Hit(
        query=next(asked, ""),
        address=origin.address,
        title=short_name(origin.address),
        snippet=one_line(quote.text)[:_SNIPPET_CHARS],
        engine=ORIGIN_ENGINE,
        rank=rank,
    )

"""Choose pages to read beside search hits: linked pages, named sources, and stored pages to read again.

A stored page may close a gap, since a reader was not shown all of a long one, or answer a follow-up of the
thread that it was read in. The choice needs no model and stays small: reading a page again costs as much as
a new one.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fathom.errors import ProviderError
from fathom.evidence.answer_kinds import is_factual_question, score_directness
from fathom.evidence.claims import ground_drafts
from fathom.evidence.link_paths import missing_words
from fathom.evidence.quote_selection import select_quotes, select_sought_quotes
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.evidence.sources import find_origin
from fathom.http.urls import canonical_address, short_name
from fathom.search import Scope
from fathom.state import (
    Claim,
    Effort,
    Failure,
    Gap,
    Hit,
    Origin,
    Page,
    Query,
    Quote,
    Reread,
    ResearchState,
    RunConfig,
    SubQuestion,
    ThreadKnowledge,
    short_hash,
)
from fathom.state.model_io import LinkPaths, PlanInput
from fathom.text.mentions import find_name_words, strip_brackets
from fathom.text.normalization import one_line
from fathom.text.ranking import PAGE_TOKENS, best_passages, bm25, score_relevance, terms
from fathom.text.sentences import split_passages, split_sentences
from fathom.text.tokens import has_cjk

_MAX_LINKED_PAGES = 5  # best pages to follow links among
_MAX_LINKED_A_ROUND = 2  # pages per round
_MAX_REREADS_A_ROUND = 2
_MAX_REREADS_A_PAGE = 2  # times a page may be read again in a run
_MAX_TEXTS_FOR_GAPS = 60  # the newest
_SHORTLIST = 20  # passages examined closely for a gap
_LIKELY_ANSWER = 0.5  # the score that makes a passage worth a call
_LONG_CHARS = 2 * PAGE_TOKENS  # a shorter page was shown whole, in any language
ORIGIN_ENGINE = "origin"  # the engine of such a hit
_MAX_ORIGINS_A_ROUND = 3
_SNIPPET_CHARS = 300
_MAX_TEXTS_OF_THREAD = 200
_CLAIMS_A_QUESTION = 8  # per sub-question
_MAX_CLAIMS = 2000  # the most relevant first
_PAGES_A_QUESTION = 3  # per sub-question
_NEAR_BEST = 0.3  # of the best page's score for a sub-question: pages far below are about something else
DIRECT_FROM = 0.6  # of an answer of the kind that is asked for, with the verb that is asked
_MAX_FOREIGN_PAGES = 3  # pages in another language, whose words cannot be compared


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
        closest = max(questions, key=lambda question: len(terms(question.text) & terms(words)))
        sought = SubQuestion(id=closest.id, text=words)
        drafts = await asyncio.to_thread(select_sought_quotes, link_paths.question, sought, page.title, text)
        found += (await asyncio.to_thread(ground_drafts, drafts, page, text, questions)).claims
    return found


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
    # Of a text that is gone, the failure was recorded when the page was read.
    texts, _ = await _load_texts(long[-_MAX_TEXTS_FOR_GAPS:] if wanted else [], text_of)
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
    visited = {canonical_address(page.address) for page in state.get("pages", [])}
    visited.update(state.get("visited", []))
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


@dataclass(frozen=True)
class RecalledEvidence:
    """Evidence of a thread for new sub-questions."""

    again: list[str]  # hashes of the pages to read again
    claims: list[Claim]  # of other pages, under the new sub-questions
    pages: list[Page]  # the pages of those claims
    failures: list[Failure]  # pages whose texts are no longer stored


async def recall_thread(
    known: ThreadKnowledge,
    questions: Sequence[SubQuestion],
    most: int,
    text_of: Callable[[str], Awaitable[str]],
) -> RecalledEvidence:
    """Choose at most `most` pages to read again, and carry over claims of the other pages."""
    texts, failures = await _load_texts(known.pages[-_MAX_TEXTS_OF_THREAD:], text_of)
    again = await asyncio.to_thread(choose_pages_to_reread, questions, known.pages, texts, most)
    # A page that is read again gives better claims for the new sub-questions itself.
    others = {page.sha: page.title for page in known.pages if page.sha in texts.keys() - set(again)}
    claims = await asyncio.to_thread(carry_over_claims, known.claims, questions, others)
    used = {*again, *(quote.page for claim in claims for quote in claim.quotes)}
    return RecalledEvidence(again, claims, [page for page in known.pages if page.sha in used], failures)


async def _load_texts(
    read: Sequence[Page], text_of: Callable[[str], Awaitable[str]]
) -> tuple[dict[str, str], list[Failure]]:
    """Load the stored texts by hash, with a failure for each missing one."""
    texts: dict[str, str] = {}
    failures: list[Failure] = []
    for page in read:
        try:
            texts[page.sha] = await text_of(page.sha)
        except ProviderError as error:
            failures.append(error.failure("reading", page.address))
    return texts, failures


def carry_over_claims(
    claims: Sequence[Claim], questions: Sequence[SubQuestion], titles: Mapping[str, str]
) -> list[Claim]:
    """Return claims that answer a new sub-question, with its id and their relevance to it.

    Only claims of the pages in `titles` are used; their texts must be stored, so that claims can be checked.
    """
    bearing: dict[str, list[Claim]] = {question.id: [] for question in questions}
    for claim in sorted(claims, key=lambda c: -c.relevance)[:_MAX_CLAIMS]:
        if not all(quote.page in titles for quote in claim.quotes):
            continue
        page = claim.quotes[0].page
        served = select_quotes(questions, titles[page], claim.statement)
        best = max(served, key=lambda draft: draft.relevance, default=None)
        if best and best.relevance >= ANSWERED_FROM:
            new = {
                "id": short_hash(page, best.question, claim.statement),
                "question": best.question,
                "relevance": min(1.0, best.relevance),
            }
            bearing[best.question].append(claim.model_copy(update=new))
    best_first = (
        sorted(found, key=lambda c: -c.relevance)[:_CLAIMS_A_QUESTION] for found in bearing.values()
    )
    return [claim for found in best_first for claim in found]


def choose_pages_to_reread(
    questions: Sequence[SubQuestion], pages: Sequence[Page], texts: Mapping[str, str], most: int
) -> list[str]:
    """Return the hashes of the pages with most to say, alternating between the sub-questions."""
    shas = list(dict.fromkeys(page.sha for page in pages if page.sha in texts))
    titles = {page.sha: page.title for page in pages}
    rows = bm25([q.text for q in questions], [f"{titles[sha]} {texts[sha]}" for sha in shas])
    ranked = [
        _best_pages(_lift_direct(q.text, row, shas, texts), shas)
        for q, row in zip(questions, rows, strict=True)
    ]
    chosen = dict.fromkeys(
        row[place] for place in range(_PAGES_A_QUESTION) for row in ranked if place < len(row)
    )
    if not chosen:
        asked = has_cjk(" ".join(q.text for q in questions))
        chosen = dict.fromkeys([sha for sha in shas if has_cjk(texts[sha]) != asked][:_MAX_FOREIGN_PAGES])
    return list(chosen)[:most]


def _best_pages(scores: Sequence[float], shas: Sequence[str]) -> list[str]:
    """Return the best few pages for one sub-question; ties go to the one read first."""
    top = max(scores, default=0.0)
    near = [n for n, score in enumerate(scores) if score > 0 and score >= _NEAR_BEST * top]
    return [shas[n] for n in sorted(near, key=lambda n: -scores[n])[:_PAGES_A_QUESTION]]


def _lift_direct(
    question: str, scores: Sequence[float], shas: Sequence[str], texts: Mapping[str, str]
) -> list[float]:
    """Return the scores, those of pages with a direct answer to a question for a fact above all others."""
    if not is_factual_question(question):
        return list(scores)
    top = max(scores, default=0.0)
    names = [name.lower() for name in find_name_words(question)]

    def is_direct(text: str) -> bool:
        said = (span.text for span in split_sentences(text))
        about = (one for one in said if not names or any(name in one.lower() for name in names))
        return any(score_directness(question, one) >= DIRECT_FROM for one in about)

    rated = zip(scores, shas, strict=True)
    return [score + top * (score > 0 and is_direct(texts[sha])) for score, sha in rated]


def is_at_hand(known: ThreadKnowledge | None) -> bool:
    """Tell whether the first round uses the thread's knowledge, without any search."""
    return known is not None and known.is_at_hand


def add_thread(brief: PlanInput, known: ThreadKnowledge | None) -> PlanInput:
    """Add the thread's questions and answers to the planner's input; later rounds keep only gaps that matter.

    Claims of the thread have no sub-question, since theirs belong to earlier runs.
    """
    if known is None:
        return brief
    brief = replace(brief, thread=known.turns)
    if known.is_at_hand:
        return replace(brief, findings=[claim.model_copy(update={"question": ""}) for claim in known.claims])
    if not known.is_recalled:
        return brief
    leads = [] if brief.round == 2 else brief.leads  # gaps first, then follow-up queries
    return replace(brief, gaps=_open_gaps(brief), leads=leads)


def keep_queries_for_gaps(
    queries: Sequence[Query], brief: PlanInput, known: ThreadKnowledge | None
) -> list[Query]:
    """Return a follow-up's queries that serve open gaps; all of them if the gaps are unknown."""
    if known is None or not known.is_recalled:
        return list(queries)
    missing = {gap.question for gap in brief.gaps}
    return [query for query in queries if query.question in missing] or list(queries)


def add_recall_round(effort: Effort) -> Effort:
    """Add the round that a follow-up spends on stored pages."""
    return effort.model_copy(update={"recall_rounds": 1})


def _open_gaps(brief: PlanInput) -> list[Gap]:
    """Return important gaps without an answer; else all important ones; else all.

    A failing check of the whole question is listed under its best-known sub-question, which need not be the
    one that lacks it.
    """
    answered = {claim.question for claim in brief.findings if claim.relevance >= ANSWERED_FROM}
    mattering = [gap for gap in brief.gaps if gap.priority != "low"]
    return [gap for gap in mattering if gap.question not in answered] or mattering or list(brief.gaps)

"""What a thread already knows about new sub-questions: claims to carry over, pages to read again."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fathom.errors import ProviderError
from fathom.evidence.answer_kinds import is_factual_question, score_directness
from fathom.evidence.quote_selection import select_quotes
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.state import (
    Claim,
    Effort,
    Failure,
    Gap,
    Page,
    Query,
    ResearchState,
    SubQuestion,
    ThreadKnowledge,
    short_hash,
)
from fathom.state.model_io import PlanInput
from fathom.text.mentions import find_name_words
from fathom.text.ranking import bm25
from fathom.text.sentences import split_sentences
from fathom.text.tokens import has_cjk

_MAX_TEXTS = 200
_CLAIMS_A_QUESTION = 8  # per sub-question
_MAX_CLAIMS = 2000  # the most relevant first
_PAGES_A_QUESTION = 3  # per sub-question
_NEAR_BEST = 0.3  # of the best page's score for a sub-question: pages far below are about something else
_DIRECT_FROM = 0.6  # of an answer of the kind that is asked for, with the verb that is asked
_OF_THE_KIND = 0.3  # the same with any verb
_MAX_FOREIGN_PAGES = 3  # pages in another language, whose words cannot be compared


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
    texts, failures = await _load_texts(known.pages[-_MAX_TEXTS:], text_of)
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
    direct = (
        score > 0
        and any(
            score_directness(question, one) >= _DIRECT_FROM
            for one in (span.text for span in split_sentences(texts[sha]))
            if not names or any(name in one.lower() for name in names)
        )
        for score, sha in zip(scores, shas, strict=True)
    )
    return [score + top * is_lifted for score, is_lifted in zip(scores, direct, strict=True)]


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


def is_answered_by_words(state: ResearchState) -> bool:
    """Tell whether each part that asks for a fact has a claim of that kind about the thing that it names.

    For runs without a model, where a passage with some of the words is all that relevance says.
    """
    titles = {page.sha: page.title for page in state.get("pages", [])}
    for asked in state.get("questions", []):
        names = {name.lower() for name in find_name_words(asked.text)}
        said = [
            (quote.text, f"{titles.get(quote.page, '')} {quote.text}")
            for claim in state.get("claims", []) if claim.question == asked.id
            for quote in claim.quotes
        ]  # fmt: skip
        # Korean verbs are not compared well, and a place needs no verb.
        is_any_verb = has_cjk(asked.text) or asked.text.lower().startswith("where")
        least = _OF_THE_KIND if is_any_verb else _DIRECT_FROM
        if is_factual_question(asked.text) and not any(
            score_directness(asked.text, text) >= least and names <= _whole_words(around)
            for text, around in said
        ):
            return False
    return True


def _whole_words(text: str) -> set[str]:
    """Return the words of prose: a name inside of an identifier or an address is none."""
    return {word.strip(".,;:!?()[]\"'`*“”‘’").removesuffix("'s").lower() for word in text.split()}


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

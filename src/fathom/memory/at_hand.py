"""What a thread knows already that bears on new sub-questions: claims to carry over, pages to read again.

Does not know graphs or databases: whoever calls says how the text of a page is had.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from fathom.errors import ProviderError
from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.llm.quoting import quotable
from fathom.state import Claim, Failure, Known, Page, SubQuestion, short_hash
from fathom.text.ranking import bm25
from fathom.text.tokens import has_paired_script

_MAX_TEXTS = 200
_CARRIED = 8  # claims a sub-question
_LOOKED_AT = 2000  # claims, the most relevant of their time first
_PAGES = 3  # a sub-question
_NEAR = 0.3  # of the best page for a sub-question: what is far below it was about something else
_FOREIGN = 3  # pages, where words cannot be compared because the languages differ


@dataclass(frozen=True)
class Recalled:
    """What a thread has for new sub-questions."""

    again: list[str]  # hashes of the pages to read again
    claims: list[Claim]  # of other pages, under the new sub-questions
    pages: list[Page]  # that those stand on
    failures: list[Failure]  # pages whose texts are no longer kept


async def recall(
    known: Known, questions: Sequence[SubQuestion], most: int, text_of: Callable[[str], Awaitable[str]]
) -> Recalled:
    """Choose the pages to read again, at most so many, and carry over what other pages say."""
    texts, failures = await _texts(known.pages[-_MAX_TEXTS:], text_of)
    again = await asyncio.to_thread(worth_reading, questions, known.pages, texts, most)
    # What is read again says itself, and better, what it has for the new sub-questions.
    others = {page.sha: page.title for page in known.pages if page.sha in texts.keys() - set(again)}
    claims = await asyncio.to_thread(carried_over, known.claims, questions, others)
    used = {*again, *(quote.page for claim in claims for quote in claim.quotes)}
    return Recalled(again, claims, [page for page in known.pages if page.sha in used], failures)


async def _texts(
    read: Sequence[Page], text_of: Callable[[str], Awaitable[str]]
) -> tuple[dict[str, str], list[Failure]]:
    """The texts that are kept, by their hashes, and those that are not."""
    texts: dict[str, str] = {}
    failures: list[Failure] = []
    for page in read:
        try:
            texts[page.sha] = await text_of(page.sha)
        except ProviderError as error:
            failures.append(Failure(where="reading", what=page.address, why=str(error)))
    return texts, failures


def carried_over(
    claims: Sequence[Claim], questions: Sequence[SubQuestion], titles: Mapping[str, str]
) -> list[Claim]:
    """The claims that answer a new sub-question, under its name and as relevant as they are to it.

    `titles` are those of the pages that claims are wanted of; their texts must be kept, or nobody could check
    a claim again.
    """
    bearing: dict[str, list[Claim]] = {question.id: [] for question in questions}
    for claim in sorted(claims, key=lambda c: -c.relevance)[:_LOOKED_AT]:
        if not all(quote.page in titles for quote in claim.quotes):
            continue
        page = claim.quotes[0].page
        served = quotable(questions, titles[page], claim.statement)
        best = max(served, key=lambda draft: draft.relevance, default=None)
        if best and best.relevance >= ANSWERED_FROM:
            new = {
                "id": short_hash(page, best.question, claim.statement),
                "question": best.question,
                "relevance": min(1.0, best.relevance),
            }
            bearing[best.question].append(claim.model_copy(update=new))
    best_first = (sorted(found, key=lambda c: -c.relevance)[:_CARRIED] for found in bearing.values())
    return [claim for found in best_first for claim in found]


def worth_reading(
    questions: Sequence[SubQuestion], pages: Sequence[Page], texts: Mapping[str, str], most: int
) -> list[str]:
    """The hashes of the pages whose texts have most to say, the sub-questions taking turns."""
    shas = list(dict.fromkeys(page.sha for page in pages if page.sha in texts))
    titles = {page.sha: page.title for page in pages}
    rows = bm25([q.text for q in questions], [f"{titles[sha]} {texts[sha]}" for sha in shas])
    ranked = [_best(row, shas) for row in rows]
    chosen = dict.fromkeys(row[place] for place in range(_PAGES) for row in ranked if place < len(row))
    if not chosen:
        asked = has_paired_script(" ".join(q.text for q in questions))
        chosen = dict.fromkeys([sha for sha in shas if has_paired_script(texts[sha]) != asked][:_FOREIGN])
    return list(chosen)[:most]


def _best(scores: Sequence[float], shas: Sequence[str]) -> list[str]:
    """The few best for one sub-question, best first; of equals, the one that was read first."""
    top = max(scores, default=0.0)
    near = [n for n, score in enumerate(scores) if score > 0 and score >= _NEAR * top]
    return [shas[n] for n in sorted(near, key=lambda n: -scores[n])[:_PAGES]]

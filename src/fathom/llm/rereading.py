"""Pages that gave nothing until another page named them: read again for what that one leaves open.

Does not know models: what it draws are sentences as they stand, which need no verdict.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from fathom.errors import ProviderError
from fathom.evidence.claims import ground_drafts
from fathom.evidence.trails import Trails, missing_words
from fathom.llm.seeking import sought_in
from fathom.state import Claim, Page, SubQuestion
from fathom.text.phrases import bare
from fathom.text.ranking import terms

_BEST = 5  # pages, among which one leads to another
_MOST = 2  # pages a round


async def reread(
    trails: Trails,
    pages: Sequence[Page],
    claims: Sequence[Claim],
    questions: Sequence[SubQuestion],
    get: Callable[[str], Awaitable[str]],
) -> list[Claim]:
    """What the best pages without a claim say of their own names, when a page with one leads to them."""
    known = {page.sha: page for page in pages}
    found: list[Claim] = []
    for sha, words in _led_to(trails, {quote.page for claim in claims for quote in claim.quotes}):
        page = known[sha]
        try:
            text = await get(sha)
        except ProviderError:
            continue  # a text that is gone says nothing; why was told when it was read
        sought = SubQuestion(id=_served(words, questions).id, text=words)
        found += await asyncio.to_thread(_drawn, trails.question, sought, page, text, questions)
    return found


def _drawn(
    question: str, sought: SubQuestion, page: Page, text: str, questions: Sequence[SubQuestion]
) -> list[Claim]:
    """What is sought in one page, of that only sentences as they stand."""
    return ground_drafts(sought_in(question, sought, page.title, text), page, text, questions).claims


def _led_to(trails: Trails, quoted: set[str]) -> list[tuple[str, str]]:
    """Unquoted pages that a quoted one names, each with its name and what that one leaves open."""
    best = trails.best[:_BEST]
    led = {
        other: " ".join([bare(trails.read[other].title), *missing_words(trails, one)])
        for one in reversed(best)
        for other in best
        if (one, other) in trails.links and one in quoted and other not in quoted
    }
    return [(page, led[page]) for page in best if page in led][:_MOST]


def _served(words: str, questions: Sequence[SubQuestion]) -> SubQuestion:
    """The sub-question that has most of the words; of several the first."""
    return max(questions, key=lambda question: len(terms(question.text) & terms(words)))

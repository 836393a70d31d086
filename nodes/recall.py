"""The recall: what the thread knows already of a follow-up's sub-questions, before anything is looked for."""

import asyncio

from fathom.errors import ProviderError
from fathom.memory.at_hand import carried_over, worth_reading
from fathom.nodes.ports import Pages
from fathom.search.addresses import canonical
from fathom.state import Failure, Page, ResearchState, RunConfig

_MOST_TEXTS = 200


async def recall(state: ResearchState, *, pages: Pages, run_config: RunConfig) -> ResearchState:
    """Name the pages to read again for the new sub-questions, and carry over what others say about them.

    Nothing is searched and nothing fetched. What does not bear on the question is let go, so that it is in no
    later checkpoint; a page whose text is no longer kept is told as lost.

    Reads:  known, questions
    Writes: known, claims, pages, recalled, visited, failures
    """
    known, questions = state["known"], state["questions"]
    texts, failures = await _texts(known.pages[-_MOST_TEXTS:], pages)
    again = await asyncio.to_thread(worth_reading, questions, known.pages, texts, run_config.max_sources)
    # What is read again says itself, and better, what it has for the new sub-questions.
    others = {page.sha: page.title for page in known.pages if page.sha in texts.keys() - set(again)}
    claims = await asyncio.to_thread(carried_over, known.claims, questions, others)
    used = {*again, *(quote.page for claim in claims for quote in claim.quotes)}
    at_hand = [page for page in known.pages if page.sha in used]
    return {
        "known": known.model_copy(update={"pages": [], "claims": [], "is_recalled": True}),
        "claims": claims,
        "pages": at_hand,
        "recalled": again,
        "visited": [canonical(page.address) for page in at_hand],
        "failures": failures,
    }


async def _texts(read: list[Page], pages: Pages) -> tuple[dict[str, str], list[Failure]]:
    """The texts that are kept, by their hashes, and those that are not."""
    texts: dict[str, str] = {}
    failures: list[Failure] = []
    for page in read:
        try:
            texts[page.sha] = await pages.get(page.sha)
        except ProviderError as error:
            failures.append(Failure(where="reading", what=page.address, why=str(error)))
    return texts, failures

"""The retry: every refused claim gets one more chance, with the reason."""

import asyncio
from collections.abc import Sequence

from fathom.errors import ProviderError
from fathom.evidence.claims import rejection_of
from fathom.evidence.restating import ground_restated, refusal_of
from fathom.llm.port import Draft, ResearchModel
from fathom.nodes.ports import Pages
from fathom.state import ClaimDraft, Failure, ReadingRound


async def retry(state: ReadingRound, *, model: ResearchModel, pages: Pages) -> ReadingRound:
    """Have the refused claims of a round restated in one call; what nobody can mend is rejected.

    Reads:  refused, pages
    Writes: retried, rejected, failures, costs
    """
    refused = state["refused"]
    known = {page.sha: page for page in state["pages"]}
    texts = {sha: await pages.get(sha) for sha in {draft.page for draft in refused}}
    asked = await asyncio.to_thread(
        lambda: [refusal_of(draft, known[draft.page], texts[draft.page]) for draft in refused]
    )
    try:
        thought = await model.retry(asked)
    except ProviderError as error:
        failure = Failure(where="analysis", what="restating refused claims", why=str(error))
        rejected = [rejection_of(draft) for draft in refused]
        return {"retried": [], "rejected": rejected, "failures": [failure], "costs": error.costs}

    def ground(drafts: Sequence[Draft | None]) -> list[ClaimDraft]:
        return [
            ground_restated(old, new, known[old.page], texts[old.page])
            for old, new in zip(refused, drafts, strict=True)
        ]

    anew = await asyncio.to_thread(ground, thought.value)
    return {
        "retried": [draft for draft in anew if not draft.objection],
        "rejected": [rejection_of(draft) for draft in anew if draft.objection],
        "failures": thought.failures,
        "costs": thought.costs,
    }

"""Retry node: give every refused claim one more try, with the reason."""

import asyncio
from collections.abc import Sequence

from fathom.errors import ProviderError
from fathom.evidence.claims import ground_retry, make_refusal, make_rejection
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.state import ClaimDraft, ReadingRound, Reason
from fathom.state.model_io import ExtractedStatement


async def retry(state: ReadingRound, *, model: ResearchModel, pages: PagesPort) -> ReadingRound:
    """Restate the refused claims of a round in one call; reject those that cannot be repaired.

    Reads:  refused, pages
    Writes: retried, rejected, failures, costs
    """
    refused = state["refused"]
    known = {page.sha: page for page in state["pages"]}
    texts = {sha: await pages.get(sha) for sha in {draft.page for draft in refused}}
    asked = await asyncio.to_thread(
        lambda: [make_refusal(draft, known[draft.page], texts[draft.page]) for draft in refused]
    )
    try:
        result = await model.retry(asked)
    except ProviderError as error:
        failure = error.failure("analysis", "restating refused claims", Reason(phrase="restating"))
        rejected = [make_rejection(draft) for draft in refused]
        return {"retried": [], "rejected": rejected, "failures": [failure], "costs": error.costs}

    def ground(drafts: Sequence[ExtractedStatement | None]) -> list[ClaimDraft]:
        return [
            ground_retry(old, new, known[old.page], texts[old.page])
            for old, new in zip(refused, drafts, strict=True)
        ]

    anew = await asyncio.to_thread(ground, result.value)
    return {
        "retried": [draft for draft in anew if not draft.objection],
        "rejected": [make_rejection(draft) for draft in anew if draft.objection],
        "failures": result.failures,
        "costs": result.costs,
    }

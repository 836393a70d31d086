"""Analyzer node: extract claims about the sub-questions from one page."""

import asyncio

from fathom.errors import ProviderError
from fathom.evidence.claims import ground_drafts
from fathom.evidence.sources import keep_used_origins
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import Clock, PagesPort
from fathom.state import Claim, ClaimDraft, Page, Reading
from fathom.state.model_io import PageFacts


async def analyzer(state: Reading, *, model: ResearchModel, pages: PagesPort, clock: Clock) -> Reading:
    """Extract claims and ground them in quotes of the page.

    Statements that go beyond their quotes stay drafts.

    Reads:  hit, pages, question, questions, sought
    Writes: pages, claims, drafts, controls, rejected, failures, costs
    """
    page = state["pages"][0]
    facts = _facts(page, clock().date().isoformat())
    try:
        text = await pages.get(page.sha)
        read = await model.read(
            state["question"], state["questions"], page.title, text, state.get("sought"), facts
        )
    except ProviderError as error:
        return {"failures": [error.failure("analysis", page.title)], "costs": error.costs}
    found = await asyncio.to_thread(ground_drafts, read.value, page, text, state["questions"])
    quoting: list[Claim | ClaimDraft] = [*found.claims, *found.drafts]
    return {
        "pages": [keep_used_origins(page, quoting)] if "hit" in state else [],
        "claims": found.claims,
        "drafts": found.drafts,
        "controls": found.controls,
        "rejected": found.rejected,
        "failures": read.failures,
        "costs": read.costs,
    }


def _facts(page: Page, today: str) -> PageFacts:
    return PageFacts(page.publisher or "", page.author or "", page.published or "", today)

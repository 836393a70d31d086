"""Compare node: update the claims of an earlier run from its pages as they are now."""

import asyncio

from langgraph.types import Overwrite

from fathom.errors import ProviderError
from fathom.evidence.claims import update_claims
from fathom.evidence.sources import keep_used_origins
from fathom.nodes.ports import PagesPort
from fathom.state import Claim, Failure, Page, Reading, ReadingRound


async def compare(state: ReadingRound, *, pages: PagesPort) -> ReadingRound:
    """Keep the claims that still hold.

    A page that cannot be read again is marked and keeps all of its claims.

    Reads:  readings, pages, claims, failures
    Writes: pages, claims
    """
    now = {page.address: page for page in state.get("pages", [])}
    changed: list[Page] = []
    claims: list[Claim] = []
    compared: set[str] = set()
    for reading in [reading for reading in state["readings"] if "before" in reading]:
        before, known = reading["before"], reading["known"]
        page = now.get(before.address)
        if page is None or (before.how == "pdf" and page.how != "pdf"):
            changed.append(
                before.model_copy(update={"gone": _why_gone(page, reading, state.get("failures", []))})
            )
            claims += known
            compared |= {page.sha} if page else set()
        elif page.sha == before.sha:
            claims += known
            changed.append(keep_used_origins(page, known))
        else:
            new_claims = [claim for claim in state.get("claims", []) if claim.quotes[0].page == page.sha]
            text, then = await pages.get(page.sha), await _text_before(before, pages)
            claims += await asyncio.to_thread(update_claims, known, new_claims, then, page, text)
            compared.add(page.sha)
    others = [claim for claim in state.get("claims", []) if claim.quotes[0].page not in compared]
    return {"pages": changed, "claims": Overwrite([*claims, *others])}  # type: ignore[typeddict-item]


def _why_gone(page: Page | None, reading: Reading, failures: list[Failure]) -> str:
    lost = [failure.why for failure in failures if failure.what == reading["hit"].address]
    return lost[-1] if page is None and lost else "only another form of it can be read now"


async def _text_before(before: Page, pages: PagesPort) -> str:
    """Return the earlier text, or "" if it is no longer stored; then every claim of it counts as new."""
    try:
        return await pages.get(before.sha)
    except ProviderError:
        return ""

"""The comparison: what became of one page of an earlier run, and of the claims drawn from it."""

import asyncio

from langgraph.types import Overwrite

from fathom.errors import ProviderError
from fathom.evidence.origins import keep_used_origins
from fathom.evidence.renewal import renewed
from fathom.nodes.ports import Pages
from fathom.state import Reading


async def compare(state: Reading, *, pages: Pages) -> Reading:
    """Keep the claims that still stand; a page that cannot be read again keeps all of them, and is marked.

    Reads:  before, known, pages, claims, failures
    Writes: pages, claims
    """
    before, known = state["before"], state["known"]
    page = state["pages"][0] if state.get("pages") else None
    if page is None or (before.how == "pdf" and page.how != "pdf"):
        lost = state.get("failures", [])
        why = lost[-1].why if page is None and lost else "only another form of it can be read now"
        gone = before.model_copy(update={"gone": why})
        return {"pages": [gone], "claims": Overwrite(known)}  # type: ignore[typeddict-item]
    if page.sha == before.sha:
        return {"pages": [keep_used_origins(page, known)], "claims": known}
    text = await pages.get(page.sha)
    try:
        then = await pages.get(before.sha)
    except ProviderError:  # its text is no longer kept: then everything drawn from it counts as new
        then = ""
    claims = await asyncio.to_thread(renewed, known, state.get("claims", []), then, page, text)
    return {"claims": Overwrite(claims)}  # type: ignore[typeddict-item]

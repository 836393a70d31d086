"""Verifier node: check whether the drafts of a round say what their sources say."""

from fathom.evidence.claims import make_rejection
from fathom.evidence.controls import TrustLog
from fathom.evidence.verification import ControlPool, verify_drafts
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.state import ReadingRound


async def verifier(
    state: ReadingRound, *, model: ResearchModel, pages: PagesPort, trust: TrustLog
) -> ReadingRound:
    """Verify the drafts of all pages together. A refused draft is retried once, then rejected.

    Reads:  drafts, retried, controls, pages
    Writes: claims, refused, rejected, control_tallies, failures, costs
    """
    is_second = "retried" in state
    drafts = state["retried"] if is_second else state.get("drafts", [])
    if not drafts:
        return {}
    open_drafts = [draft for draft in drafts if not draft.objection]
    known = {page.sha: page for page in state["pages"]}
    texts = {sha: (known[sha], await pages.get(sha)) for sha in {draft.page for draft in open_drafts}}
    sound = [draft for draft in [*open_drafts, *state.get("drafts", [])] if not draft.objection]
    pool = ControlPool(state.get("controls", []), list({draft.id: draft for draft in sound}.values()))
    found = await verify_drafts(open_drafts, pool, texts, model.verify, trust)
    refused = {draft.id: draft for draft in [*drafts, *found.refused] if draft.objection}
    in_order = [refused[draft.id] for draft in drafts if draft.id in refused]
    return {
        "claims": found.claims,
        "refused": [] if is_second else in_order,
        "rejected": [make_rejection(draft) for draft in in_order] if is_second else [],
        "control_tallies": found.tallies,
        "failures": found.failures,
        "costs": found.costs,
    }

"""The analyzer: what one page says about the sub-questions, with quotes that are really there."""

from fathom.errors import ProviderError
from fathom.evidence.claims import as_claims, grounded
from fathom.minds.port import Mind, Thought
from fathom.nodes.ports import Pages
from fathom.state import Charge, Loss, Reading, Verdict


async def analyzer(state: Reading, *, mind: Mind, pages: Pages) -> Reading:
    """Draw claims from the page, ground them, verify them; keep what holds and count what does not.

    Reads:  pages, question, questions, sought
    Writes: claims, dropped, losses, charges
    """
    page = state["pages"][0]
    charges: list[Charge] = []
    losses: list[Loss] = []
    try:
        text = await pages.get(page.sha)
        read = await mind.read(state["question"], state["questions"], page.title, text, state.get("sought"))
        charges, losses = [*read.charges], [*read.losses]
        drafts, refused = grounded(read.value, page, text, state["questions"])
        doubtful = [d.evidence for d in drafts if not d.is_self_evident]
        verified = await mind.verify(doubtful) if doubtful else Thought[list[Verdict]]([])
    except ProviderError as error:
        loss = Loss(where="analysis", what=page.title, why=str(error))
        return {"losses": [*losses, loss], "charges": [*charges, *error.charges]}
    claims, dropped = as_claims(drafts, verified.value, page)
    return {
        "claims": claims,
        "dropped": [*refused, *dropped],
        "losses": [*losses, *verified.losses],
        "charges": [*charges, *verified.charges],
    }

"""The tally: what one branch has spent is told to the others, and theirs to it."""

from fathom.nodes.ports import Commons
from fathom.state import ResearchState


async def tally(state: ResearchState, *, commons: Commons) -> ResearchState:
    """Put this branch's charges into the common account, and see what the other branches spent.

    Reads:  run, charges
    Writes: elsewhere_usd
    """
    charges = state.get("charges", [])
    total = await commons.pay(state["run"], charges)
    return {"elsewhere_usd": max(0.0, total - sum(charge.usd for charge in charges))}

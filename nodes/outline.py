"""The outline: the report before it is written."""

from fathom.evidence.weighing import points_of
from fathom.minds.port import Mind
from fathom.state import Heading, Outline, Writing


async def outline(state: Writing, *, mind: Mind) -> Writing:
    """Headings from claims; a claim stands under one heading, and a heading without claims is gone.

    Reads:  question, questions, claims, findings
    Writes: outline, losses, charges
    """
    points = points_of(state["claims"], state.get("findings", []))
    thought = await mind.outline(state["question"], state.get("questions", []), points)
    known = {claim.id for claim in state["claims"]}
    headings: list[Heading] = []
    for offered in thought.value.headings:
        claims = [c for c in dict.fromkeys(offered.claims) if c in known]
        known -= set(claims)
        if claims:
            headings.append(offered.model_copy(update={"id": f"S{len(headings) + 1}", "claims": claims}))
    if not headings:  # a mind that forgot the claims still leaves a report to write
        everything = [claim.id for claim in state["claims"]]
        headings = [Heading(id="S1", title=state["question"], question="", claims=everything)]
    title = thought.value.title.strip() or state["question"]
    return {
        "outline": Outline(title=title, headings=headings),
        "losses": thought.losses,
        "charges": thought.charges,
    }

"""The outline: the report before it is written."""

from fathom.evidence.weighing import points_of
from fathom.llm.port import ResearchModel
from fathom.report.outlining import revised_outline, sound_outline
from fathom.state import Writing


async def outline(state: Writing, *, model: ResearchModel) -> Writing:
    """Headings from claims; a claim stands under one heading, and a heading without claims is gone.

    An outline that is there already is kept and takes in the claims that came since, at no cost.

    Reads:  question, questions, claims, findings, outline
    Writes: outline, failures, costs
    """
    question, questions, claims = state["question"], state.get("questions", []), state["claims"]
    earlier = state.get("outline")
    if earlier and earlier.question == question:
        return {"outline": revised_outline(earlier, claims, questions)}
    points = points_of(claims, state.get("findings", []))
    thought = await model.outline(question, questions, points)
    return {
        "outline": sound_outline(thought.value, question, questions, claims),
        "failures": thought.failures,
        "costs": thought.costs,
    }

"""The section: one part of the report, written from its claims only."""

from fathom.evidence.weighing import points_of
from fathom.llm.port import ResearchModel
from fathom.report.drafts import drafted
from fathom.report.outlining import basis_of
from fathom.state import Chapter, Section


async def section(state: Chapter, *, model: ResearchModel) -> Chapter:
    """Write one section; keys the writer was not given are dropped, and marks it left in the text are gone.

    Reads:  question, heading, claims, findings
    Writes: draft, failures, costs
    """
    heading = state["heading"]
    claims = {claim.id: claim for claim in state["claims"]}
    points = points_of(state["claims"], state.get("findings", []))
    thought = await model.write(state["question"], heading, points)
    written = Section(
        id=heading.id,
        title=heading.title,
        sentences=drafted(thought.value.sentences, claims),
        is_list=thought.value.is_list,
        blocks=thought.value.blocks,
        basis=basis_of(heading, claims),
    )
    return {"draft": written, "failures": thought.failures, "costs": thought.costs}

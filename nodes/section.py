"""Section node: write one part of the report from its claims only."""

from fathom.evidence.corroboration import make_points
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.report.drafting import draft_sentences, latest_day, source_texts
from fathom.report.outline import section_basis
from fathom.state import Part
from fathom.state.model_io import SectionInput


async def section(state: Part, *, model: ResearchModel, pages: PagesPort) -> Part:
    """Write one part; drop citation keys the writer was not given and marks left in the text.

    Reads:  question, outline, heading, claims, findings, pages, length, is_table_wanted
    Writes: drafts, failures, costs
    """
    heading, known = state["heading"], state.get("pages", [])
    claims = {claim.id: claim for claim in state["claims"]}
    brief = SectionInput(
        question=state["question"],
        heading=heading,
        points=make_points(state["claims"], state.get("findings", [])),
        outline=state["outline"],
        sources=await source_texts(state["claims"], known, pages.get),
        words=state.get("length", 0),
        today=latest_day(known),
        is_table_wanted=state.get("is_table_wanted", False),
    )
    result = await model.write(brief)
    named = {
        "id": heading.id,
        "title": heading.title,
        "sentences": draft_sentences(result.value, claims),
        "basis": section_basis(heading, claims),
        "kind": "conclusion" if heading.is_conclusion else "body",
    }
    draft = result.value.model_copy(update=named)
    return {"drafts": [draft], "failures": result.failures, "costs": result.costs}

"""The section: one part of the report, written from its claims only."""

from fathom.evidence.weighing import points_of
from fathom.llm.port import ResearchModel, SectionBrief
from fathom.nodes.ports import Pages
from fathom.report.drafts import draft_sentences
from fathom.report.material import source_texts, today_of
from fathom.report.outlining import basis_of
from fathom.state import Part


async def section(state: Part, *, model: ResearchModel, pages: Pages) -> Part:
    """Write one part; keys the writer was not given are dropped, and marks it left in the text are gone.

    Reads:  question, outline, heading, claims, findings, pages, length, is_table_wanted
    Writes: drafts, failures, costs
    """
    heading, known = state["heading"], state.get("pages", [])
    claims = {claim.id: claim for claim in state["claims"]}
    brief = SectionBrief(
        question=state["question"],
        heading=heading,
        points=points_of(state["claims"], state.get("findings", [])),
        outline=state["outline"],
        sources=await source_texts(state["claims"], known, pages.get),
        words=state.get("length", 0),
        today=today_of(known),
        is_table_wanted=state.get("is_table_wanted", False),
    )
    thought = await model.write(brief)
    named = {
        "id": heading.id,
        "title": heading.title,
        "sentences": draft_sentences(thought.value, claims),
        "basis": basis_of(heading, claims),
        "kind": "conclusion" if heading.is_conclusion else "body",
    }
    draft = thought.value.model_copy(update=named)
    return {"drafts": [draft], "failures": thought.failures, "costs": thought.costs}

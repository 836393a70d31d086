"""Draft node: write the parts of a chapter from their claims, in one go."""

from fathom.evidence.corroboration import make_points
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import PagesPort
from fathom.report.drafting import (
    check_subheadings,
    choose_part_title,
    draft_sentences,
    latest_day,
    source_texts,
)
from fathom.report.outline import section_basis
from fathom.state import Chapter, Section
from fathom.state.model_io import WriteInput


async def draft(state: Chapter, *, model: ResearchModel, pages: PagesPort) -> Chapter:
    """Write the parts; drop citation keys the writer was not given and marks left in the text.

    Reads:  question, outline, headings, claims, findings, pages, lengths, limits
    Writes: drafts, failures, costs
    """
    known = state.get("pages", [])
    claims = {claim.id: claim for claim in state["claims"]}
    brief = WriteInput(
        question=state["question"],
        headings=state["headings"],
        points=make_points(state["claims"], state.get("findings", [])),
        outline=state["outline"],
        sources=await source_texts(state["claims"], known, pages.get),
        lengths=state.get("lengths", {}),
        today=latest_day(known),
        limits=state.get("limits", []),
    )
    result = await model.write(brief)
    written = {section.id: section for section in result.value}
    drafts = []
    for heading in state["headings"]:
        own = written.get(heading.id) or Section(id=heading.id, title=heading.title, sentences=[])
        named = {
            "title": choose_part_title(own.title, heading, state["question"], state["claims"]),
            "sentences": draft_sentences(own, claims),
            "blocks": check_subheadings(own.blocks, state["question"], state["claims"]),
            "basis": section_basis(heading, claims),
            "kind": "conclusion" if heading.is_conclusion else "body",
        }
        drafts.append(own.model_copy(update=named))
    return {"drafts": drafts, "failures": result.failures, "costs": result.costs}

"""The edit: one pass over the whole checked draft."""

from fathom.llm.port import EditBrief, ResearchModel
from fathom.report.editing import order_sections
from fathom.report.material import today_of
from fathom.state import Writing


async def edit(state: Writing, *, model: ResearchModel) -> Writing:
    """Ask for a summary and for what makes the draft one text; nothing of it is believed yet.

    Reads:  question, outline, sections, lengths, pages
    Writes: edit, failures, costs
    """
    outline = state["outline"]
    brief = EditBrief(
        question=state["question"],
        title=outline.title,
        sections=order_sections(outline, state.get("sections", [])),
        words=sum(state.get("lengths", {}).values()),
        today=today_of(state.get("pages", [])),
    )
    thought = await model.edit(brief)
    return {"edit": thought.value, "failures": thought.failures, "costs": thought.costs}

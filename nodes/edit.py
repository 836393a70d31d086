"""The edit: one pass over the whole checked draft."""

from fathom.llm.protocol import ResearchModel
from fathom.report.drafting import latest_day
from fathom.report.editing import order_sections
from fathom.report.outline import whole_length
from fathom.state import Writing
from fathom.state.model_io import EditInput


async def edit(state: Writing, *, model: ResearchModel) -> Writing:
    """Ask for a summary and for what makes the draft one text; nothing of it is believed yet.

    Reads:  question, outline, sections, lengths, pages
    Writes: edit, failures, costs
    """
    outline = state["outline"]
    brief = EditInput(
        question=state["question"],
        title=outline.title,
        sections=order_sections(outline, state.get("sections", [])),
        words=whole_length(state.get("lengths", {})),
        today=latest_day(state.get("pages", [])),
    )
    thought = await model.edit(brief)
    return {"edit": thought.value, "failures": thought.failures, "costs": thought.costs}

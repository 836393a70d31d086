"""Edit node: one editing pass over the whole checked draft."""

from fathom.llm.protocol import ResearchModel
from fathom.report.drafting import latest_day
from fathom.report.editing import order_sections
from fathom.report.outline import whole_length
from fathom.state import Writing
from fathom.state.model_io import EditInput


async def edit(state: Writing, *, model: ResearchModel) -> Writing:
    """Ask the model for a summary and for edits. The confirm node checks them before they are used.

    Reads:  question, outline, sections, lengths, pages, limits
    Writes: edit, failures, costs
    """
    outline = state["outline"]
    brief = EditInput(
        question=state["question"],
        title=outline.title,
        sections=order_sections(outline, state.get("sections", [])),
        words=whole_length(state.get("lengths", {})),
        today=latest_day(state.get("pages", [])),
        limits=state.get("limits", []),
    )
    result = await model.edit(brief)
    return {"edit": result.value, "failures": result.failures, "costs": result.costs}

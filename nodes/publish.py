"""The last step: numbered citations and the text a reader gets."""

from fathom.nodes.ports import Purse
from fathom.report.publishing import published
from fathom.state import Writing


async def publish(state: Writing, *, purse: Purse) -> Writing:
    """Put the report together; everything in it comes from the state.

    Nothing else of the run works any more: what was paid for calls that were cut off is told here.

    Reads:  question, outline, sections, questions, pages, claims, dropped, judgements, losses, charges
    Writes: report, charges
    """
    return {"report": published(state), "charges": await purse.untold(state.get("charges", []))}

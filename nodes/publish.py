"""The last step: numbered citations and the text a reader gets."""

from fathom.report.publishing import published
from fathom.state import Writing


async def publish(state: Writing) -> Writing:
    """Put the report together; everything in it comes from the state.

    Reads:  question, outline, sections, questions, pages, claims, dropped, judgements, losses
    Writes: report
    """
    return {"report": published(state)}

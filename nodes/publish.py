"""The last step: numbered citations and the text a reader gets."""

from fathom.nodes.ports import BudgetPort
from fathom.report.publish import publish_report
from fathom.state import RunConfig, Writing


async def publish(state: Writing, *, budget: BudgetPort, run_config: RunConfig) -> Writing:
    """Put the report together; everything in it comes from the state.

    Nothing else of the run works any more: what was paid for calls that were cut off is told here.

    Reads:  question, outline, sections, questions, pages, claims, rejected, judgements, failures, costs
    Writes: report, costs
    """
    return {
        "report": publish_report(state, run_config.language, has_quotes=run_config.quotes),
        "costs": await budget.unreported_costs(state.get("costs", [])),
    }

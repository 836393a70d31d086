"""Publish node: number the citations and render the report."""

from fathom.nodes.ports import BudgetPort
from fathom.report.publish import publish_report
from fathom.state import RunConfig, Writing


async def publish(state: Writing, *, budget: BudgetPort, run_config: RunConfig) -> Writing:
    """Build the report from the state alone.

    This is the last node, so it also records what cancelled calls cost.

    Reads:  question, outline, sections, questions, pages, claims, rejected, judgements, findings,
            contradictions, earlier, update, failures, costs
    Writes: report, costs
    """
    return {
        "report": publish_report(state, run_config.language, has_quotes=run_config.quotes),
        "costs": await budget.unreported_costs(state.get("costs", [])),
    }

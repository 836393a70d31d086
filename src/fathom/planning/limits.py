"""What a round may still do, in words for the planner.

Does not know purses: it goes by what the state says was spent, so that a resumed run says the same.
"""

from collections.abc import Sequence

from fathom.state import Cost, RunConfig

_LITTLE, _HALF = 0.25, 0.5


def limits(run_config: RunConfig, number: int, costs: Sequence[Cost]) -> str:
    """The round's queries and pages, the rounds that are left, and how much of the budget is."""
    left = max(0, run_config.max_rounds - number)
    after = "this is the last round" if not left else f"{left} more may follow"
    return (
        f"{run_config.queries} queries and {run_config.max_sources} new pages in this round;"
        f" round {number} of at most {run_config.max_rounds}, {after}; {_money(run_config, costs)}."
    )


def _money(run_config: RunConfig, costs: Sequence[Cost]) -> str:
    looking_usd = run_config.budget_usd * (1.0 - run_config.reserve)
    left = 1.0 - sum(cost.usd for cost in costs) / looking_usd if looking_usd > 0 else 0.0
    if left < _LITTLE:
        return "little of the budget is left"
    return "less than half of the budget is left" if left < _HALF else "most of the budget is left"

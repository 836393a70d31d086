"""When it is enough: one small rule a reason, and the order in which they speak.

Does not know how the numbers come about.
"""

from collections.abc import Callable
from dataclasses import dataclass

from fathom.state import Gap, StopRule


@dataclass(frozen=True)
class Standing:
    """Where a run stands after a round."""

    round: int
    max_rounds: int
    overall: float
    threshold: float
    diversity: float
    sources: int
    claims: int
    new_claims: int
    gaps: list[Gap]
    spent_usd: float
    budget_usd: float
    is_finishing: bool
    has_asked: bool


Rule = Callable[[Standing], str | None]


def sufficient(at: Standing) -> str | None:
    """The score reaches the threshold."""
    if at.claims and at.overall >= at.threshold:
        return f"score {at.overall:.2f} of {at.threshold:.2f} needed"
    return None


def saturated(at: Standing) -> str | None:
    """After round 1, new findings are under a tenth of what was known."""
    known = at.claims - at.new_claims
    if at.round > 1 and known and at.new_claims < 0.1 * known:
        return f"{at.new_claims} new claims on {known} known"
    return None


def only_minor_gaps(at: Standing) -> str | None:
    """Something is known and only low-priority gaps are left."""
    if at.claims and all(gap.priority == "low" for gap in at.gaps):
        return f"{len(at.gaps)} gaps left, none above low priority"
    return None


def diverse(at: Standing) -> str | None:
    """Five sources or more, and they differ; but not while a part of the question has no answer."""
    if at.sources >= 5 and at.diversity >= 0.7 and all(gap.priority != "high" for gap in at.gaps):
        return f"diversity {at.diversity:.2f} over {at.sources} sources"
    return None


def rounds_used_up(at: Standing) -> str | None:
    """The last round allowed is over."""
    return f"{at.round} of {at.max_rounds} rounds" if at.round >= at.max_rounds else None


def budget_used_up(at: Standing) -> str | None:
    """What was spent reaches the budget; a run that costs nothing has no use for one."""
    if at.spent_usd > 0 and at.spent_usd >= at.budget_usd:
        return f"{at.spent_usd:.4f} of {at.budget_usd:.2f} USD"
    return None


def a_persons_word(at: Standing) -> str | None:
    """Somebody said finish."""
    return "told to finish" if at.is_finishing else None


def nothing_left_to_ask(at: Standing) -> str | None:
    """The planner had no query that was not asked before."""
    return None if at.has_asked else "no query that was not asked before"


RULES: dict[StopRule, Rule] = {
    "a person's word": a_persons_word,
    "budget used up": budget_used_up,
    "nothing left to ask": nothing_left_to_ask,
    "sufficient": sufficient,
    "saturated": saturated,
    "only minor gaps": only_minor_gaps,
    "diverse": diverse,
    "rounds used up": rounds_used_up,
}


def stop(at: Standing) -> tuple[StopRule | None, str]:
    """The first rule that says stop, with its numbers; None to go on."""
    for name, rule in RULES.items():
        because = rule(at)
        if because is not None:
            return name, because
    return None, ""

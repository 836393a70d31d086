"""A round that is long over, told again from what the run remembers of it.

Does not know events that were told at the time. What was found is as sure as it is held to be today.
"""

from fathom.budget.accounts import cost_by
from fathom.events import KeyFinding, RoundCompleted, Spent
from fathom.report.rounds import suggested, summary
from fathom.state import Finding, Judgement, RunState


def round_of(state: RunState, number: int) -> tuple[RoundCompleted, Spent, list[str] | None]:
    """A judged round, what the run had spent by then, and what was asked next if anything was."""
    judgement = next(j for j in state["judgements"] if j.round == number)
    found = _found(state, judgement)
    is_last = number == state["judgements"][-1].round
    done = RoundCompleted(
        round=number,
        claims=judgement.claims,
        new_claims=judgement.new_claims,
        findings=[KeyFinding(statement=f.statement, tag=f.tag, confidence=f.confidence) for f in found],
        hypotheses=judgement.hypotheses,
        gaps=[gap.description for gap in judgement.gaps],
        suggested=[] if judgement.stop else suggested(judgement),
        answered=judgement.coverage,
        has_high_gap=any(gap.importance == "high" for gap in judgement.gaps),
        is_by_words=judgement.is_by_words,
        summary=summary(judgement, state.get("findings", [])) if is_last else "",
        spent_by=cost_by(state.get("costs", []) if is_last else []),
    )
    asked = [query.text for query in state.get("asked", []) if query.round == number + 1]
    spent = spent_of(state) if is_last else Spent(budget_usd=_budget(state))
    return done, spent.model_copy(update={"usd": judgement.spent_usd}), asked or None


def spent_of(state: RunState) -> Spent:
    """What a run has cost by now."""
    return Spent.on(state.get("costs", []), _budget(state))


def _found(state: RunState, judgement: Judgement) -> list[Finding]:
    """The findings that the best new claims of the round went into."""
    new = set(judgement.found)
    return [finding for finding in state.get("findings", []) if not new.isdisjoint(finding.claims)]


def _budget(state: RunState) -> float:
    return state["run_config"].budget_usd if "run_config" in state else 0.0

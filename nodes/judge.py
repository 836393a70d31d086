"""Judge node: measure what is known and what is missing, and decide whether to stop."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from langgraph.types import interrupt

from fathom.evidence.answer_kinds import confirm_checks
from fathom.evidence.corroboration import ClaimComparison, ComparisonResult
from fathom.evidence.link_paths import load_link_paths
from fathom.evidence.scoring import add_thin_parts, compute_round_gain, track_gaps
from fathom.evidence.stopping import RunPosition, decide_stop
from fathom.llm.protocol import ResearchModel
from fathom.nodes.ports import BudgetPort, Clock, ControlSignalsPort, PagesPort, TimeBudgetPort
from fathom.planning.hypotheses import active_hypotheses
from fathom.planning.model_inputs import (
    assess_without_model,
    find_position,
    make_judge_input,
    score_round,
    weigh_round_hypotheses,
)
from fathom.planning.reading_list import choose_pages_for_gaps, reread_linked_pages
from fathom.report.outline import OutlineMaterial, drop_empty_parts, update_outline
from fathom.report.publish import publish_nothing_found
from fathom.report.rounds import review_details
from fathom.state import Claim, Cost, Failure, Hypothesis, Judgement, ResearchState, ReviewAnswer, RunConfig
from fathom.state.model_io import Assessment, JudgeInput, LinkPaths


async def judge(
    state: ResearchState,
    *,
    model: ResearchModel,
    pages: PagesPort,
    run_config: RunConfig,
    clock: Clock,
    signals: ControlSignalsPort,
    budget: BudgetPort,
    time_budget: TimeBudgetPort | None,
) -> ResearchState:
    """Judge the round: one model call for rubric, gaps and outline, every other score computed.

    A user's signals are applied first; between branches, where there is no review, this includes a pause.
    Stored pages that may close a gap are chosen for the next round, except in a run without a model.

    Reads:  question, questions, queries, asked, claims, pages, judgements, costs, failures, hypotheses,
            rulings, is_finishing, earlier, known, effort, rejected, outline, rereads, direction, strategy,
            perspectives, tool, waiting, visited, directions, findings, contradictions, forecast
    Writes: claims, judgements, findings, rulings, contradictions, hypotheses, is_report_due, failures,
            costs; outline and rereads when a model judged; report when it ends with nothing found
    """
    today = clock().date()
    state = await _apply_signals(state, run_config, signals, budget)
    link_paths, new_claims = await _read_linked_pages(state, pages)
    state = {**state, "claims": [*state.get("claims", []), *new_claims]}
    assessed = await _assess(state, link_paths, model, run_config, today)
    costs = await _collect_costs(state, assessed.costs, budget)
    hypotheses = weigh_round_hypotheses(state, assessed.assessment)
    judgement = _score(state, assessed, costs, hypotheses, today)
    wishes = [] if "direction" in state else await signals.waiting()
    position = find_position(state, judgement, assessed.assessment, run_config, await budget.account())
    judgement = decide_stop(
        judgement, _add_requests_and_time(position, bool(wishes), run_config, time_budget)
    )
    update: ResearchState = {
        "claims": new_claims,
        "findings": assessed.comparison.findings,
        "rulings": assessed.comparison.rulings,
        "contradictions": assessed.comparison.contradictions,
        "hypotheses": hypotheses,
        "judgements": [judgement],
        "is_report_due": judgement.stop is not None or run_config.endless,
        "failures": assessed.failures,
        "costs": costs,
    }
    if outline := assessed.assessment.outline:
        update["outline"] = drop_empty_parts(outline) if update["is_report_due"] else outline
    if judgement.stop:
        return _end_run(update, state, wishes, run_config)
    return {**update, **await _choose_rereads(state, assessed.assessment, judgement, pages)}


@dataclass(frozen=True)
class _AssessedRound:
    """What the judge was shown, its completed answer, and how the claims compare."""

    judge_input: JudgeInput
    assessment: Assessment
    comparison: ComparisonResult
    failures: list[Failure]
    costs: list[Cost]


async def _read_linked_pages(state: ResearchState, pages: PagesPort) -> tuple[LinkPaths, list[Claim]]:
    """Return how pages link to each other, and the claims of good pages that other pages led to."""
    read, known = state.get("pages", []), state.get("claims", [])
    link_paths = await load_link_paths(state["question"], read, known, state.get("asked", []), pages.get)
    new = await reread_linked_pages(link_paths, read, known, state.get("questions", []), pages.get)
    return link_paths, new


async def _assess(
    state: ResearchState,
    link_paths: LinkPaths,
    model: ResearchModel,
    run_config: RunConfig,
    today: date,
) -> _AssessedRound:
    """Compare the claims and ask the model, if it is needed; then complete outline, gaps and checks."""
    claims = ClaimComparison(state.get("claims", []), state.get("pages", []), state.get("rulings", []))
    # In a thread: word vectors are read from a file the first time.
    judge_input = await asyncio.to_thread(
        claims.add_to_input, make_judge_input(state, link_paths, run_config, today)
    )
    result = assess_without_model(state, run_config.language) or await model.judge(judge_input)
    comparison = await asyncio.to_thread(claims.compare, result.value.rulings)
    judge_input, assessment = _complete_assessment(state, judge_input, result.value, comparison)
    return _AssessedRound(judge_input, assessment, comparison, result.failures, result.costs)


def _score(
    state: ResearchState,
    assessed: _AssessedRound,
    costs: Sequence[Cost],
    hypotheses: Sequence[Hypothesis],
    today: date,
) -> Judgement:
    """Return the judgement with every score, before the decision to stop."""
    spent_usd = sum(cost.usd for cost in [*state.get("costs", []), *costs])
    gain = compute_round_gain(
        assessed.comparison.findings, state.get("asked", []), spent_usd, state.get("judgements", [])
    )
    scores = {"gain": gain, "spent_usd": spent_usd, "hypotheses": active_hypotheses(hypotheses)}
    return score_round(state, assessed.judge_input, assessed.assessment, today).model_copy(update=scores)


async def _apply_signals(
    state: ResearchState, run_config: RunConfig, signals: ControlSignalsPort, budget: BudgetPort
) -> ResearchState:
    """Apply a user's signals to the state.

    This comes before anything that costs money, since the node may run again.
    """
    if "direction" in state:  # a branch must not consume a signal for the whole run
        return {**state, "is_finishing": state.get("is_finishing", False) or await signals.is_stopping()}
    place = f"judge {len(state.get('judgements', [])) + 1}"
    is_finishing = state.get("is_finishing", False)
    if run_config.strategy != "loop" and not is_finishing and await signals.is_pausing(place):
        spent_usd = (await budget.account()).usd
        shown = review_details(state, run_config, spent_usd, why="paused", answers=["approve", "finish"])
        answer = ReviewAnswer.model_validate(interrupt(shown, response_schema=ReviewAnswer))
        is_finishing = answer.action == "finish"
    return {**state, "is_finishing": await signals.is_stopping(place) or is_finishing}


async def _collect_costs(state: ResearchState, own: Sequence[Cost], budget: BudgetPort) -> list[Cost]:
    """Return the costs of this judgement and of calls cancelled before it.

    In a branch others may still be running, so cancelled calls are left out.
    """
    costs = list(own)
    if "direction" in state:
        return costs
    return [*costs, *await budget.unreported_costs([*state.get("costs", []), *costs])]


def _add_requests_and_time(
    position: RunPosition,
    has_requested_query: bool,
    run_config: RunConfig,
    time_budget: TimeBudgetPort | None,
) -> RunPosition:
    """Add what comes from outside: a user's waiting query, which keeps the run going, and the time limit."""
    position = replace(position, has_requested_query=has_requested_query and run_config.strategy == "loop")
    if not time_budget:
        return position
    return replace(position, worked_s=time_budget.worked_s(), time_limit_s=run_config.time_limit_s)


def _end_run(
    update: ResearchState, state: ResearchState, wishes: list[str], run_config: RunConfig
) -> ResearchState:
    """Finish the last judgement: report queries that came too late, and give a report even without claims."""
    why = "it was added when looking had come to its end"
    lost = [
        *update["failures"],
        *(Failure(where="order", what=query, why=why, code="added_late") for query in wishes),
    ]
    if state.get("claims"):
        return {**update, "failures": lost}
    failures = [*state.get("failures", []), *lost]
    report = publish_nothing_found(state, update["judgements"][0], failures, run_config.language)
    return {**update, "failures": lost, "report": report}


async def _choose_rereads(
    state: ResearchState, assessment: Assessment, judgement: Judgement, pages: PagesPort
) -> ResearchState:
    """Return the stored pages to read again for a gap; none when no model judged the evidence."""
    is_model_asked = assessment.failed is not None
    if not is_model_asked or not state.get("questions"):
        return {}
    read, before = state.get("pages", []), state.get("rereads", [])
    asked, number = state["questions"], judgement.round + 1
    return {"rereads": await choose_pages_for_gaps(judgement.gaps, read, asked, before, number, pages.get)}


def _complete_assessment(
    state: ResearchState, judge_input: JudgeInput, assessment: Assessment, comparison: ComparisonResult
) -> tuple[JudgeInput, Assessment]:
    """Apply the judge's rulings on checks, repair the outline, and add thin parts and retries to the gaps."""
    outline = assessment.outline
    if outline:
        known = (judge_input.question, judge_input.questions, judge_input.claims, comparison.findings)
        material = OutlineMaterial(*known, judge_input.kind, judge_input.language)
        outline = update_outline(outline, judge_input.outline, material)
    thin = add_thin_parts(assessment.gaps, outline, judge_input.question)
    gaps = track_gaps(thin, state.get("judgements", []), judge_input.question)
    checks = confirm_checks(judge_input.checks, assessment.failed)
    return replace(judge_input, checks=checks), replace(assessment, outline=outline, gaps=gaps)

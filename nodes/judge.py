"""Judge node: measure what is known and what is missing, and decide whether to stop."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from langgraph.types import interrupt

from fathom.evidence.corroboration import ClaimComparison, ComparisonResult
from fathom.evidence.gaps import add_thin_parts, track_gaps
from fathom.evidence.link_paths import load_link_paths
from fathom.evidence.question_checks import confirm_checks
from fathom.evidence.scoring import compute_round_gain
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
from fathom.state import Cost, Failure, Judgement, ResearchState, ReviewAnswer, RunConfig
from fathom.state.model_io import Assessment, JudgeInput


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
    read, asked = state.get("pages", []), state.get("asked", [])
    link_paths = await load_link_paths(state["question"], read, state.get("claims", []), asked, pages.get)
    drawn = await reread_linked_pages(
        link_paths, read, state.get("claims", []), state.get("questions", []), pages.get
    )
    claims = [*state.get("claims", []), *drawn]
    state = {**state, "claims": claims}
    comparison = ClaimComparison(claims, read, state.get("rulings", []))
    # In a thread: word vectors are read from a file the first time.
    case = await asyncio.to_thread(
        comparison.add_to_input, make_judge_input(state, link_paths, run_config, today)
    )
    result = assess_without_model(state, run_config.language) or await model.judge(case)
    balance = await asyncio.to_thread(comparison.compare, result.value.rulings)
    case, assessment = _complete_assessment(state, case, result.value, balance)
    hypotheses = weigh_round_hypotheses(state, assessment)
    costs = await _collect_costs(state, result.costs, budget)
    here_usd = sum(cost.usd for cost in [*state.get("costs", []), *costs])
    gain = compute_round_gain(balance.findings, asked, here_usd, state.get("judgements", []))
    scores = {"gain": gain, "spent_usd": here_usd, "hypotheses": active_hypotheses(hypotheses)}
    judgement = score_round(state, case, assessment, today).model_copy(update=scores)
    position = find_position(state, judgement, assessment, run_config, await budget.account())
    wishes = [] if "direction" in state else await signals.waiting()
    judgement = decide_stop(
        judgement, _add_requests_and_time(position, bool(wishes), run_config, time_budget)
    )
    update: ResearchState = {
        "claims": drawn,
        "findings": balance.findings,
        "rulings": balance.rulings,
        "contradictions": balance.contradictions,
        "hypotheses": hypotheses,
        "judgements": [judgement],
        "is_report_due": judgement.stop is not None or run_config.endless,
        "failures": result.failures,
        "costs": costs,
    }
    if assessment.outline:
        due = update["is_report_due"]
        update["outline"] = drop_empty_parts(assessment.outline) if due else assessment.outline
    if judgement.stop:
        return _end_run(update, state, wishes, run_config)
    return {**update, **await _choose_rereads(state, assessment, judgement, pages)}


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
    if assessment.failed is None or not state.get("questions"):
        return {}
    read, before = state.get("pages", []), state.get("rereads", [])
    asked, number = state["questions"], judgement.round + 1
    return {"rereads": await choose_pages_for_gaps(judgement.gaps, read, asked, before, number, pages.get)}


def _complete_assessment(
    state: ResearchState, case: JudgeInput, assessment: Assessment, balance: ComparisonResult
) -> tuple[JudgeInput, Assessment]:
    """Apply the judge's rulings on checks, repair the outline, and add thin parts and retries to the gaps."""
    outline = assessment.outline
    if outline:
        known = (case.question, case.questions, case.claims, balance.findings)
        material = OutlineMaterial(*known, case.kind, case.language)
        outline = update_outline(outline, case.outline, material)
    thin = add_thin_parts(assessment.gaps, outline, case.question)
    gaps = track_gaps(thin, state.get("judgements", []), case.question)
    checks = confirm_checks(case.checks, assessment.failed)
    return replace(case, checks=checks), replace(assessment, outline=outline, gaps=gaps)

"""The judge: how much is known, what is missing, and whether that is enough."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from langgraph.types import interrupt

from fathom.evidence import sufficiency
from fathom.evidence.accounting import best_new, gain_of
from fathom.evidence.checks import checked, decided_checks, failing
from fathom.evidence.gaps import all_gaps, followed, with_thin_parts
from fathom.evidence.leads import walked
from fathom.evidence.stopping import Position, decided, idle_rounds
from fathom.evidence.trails import Trails
from fathom.evidence.weighing import Scales, Weighed
from fathom.llm.port import Assessment, Case, ResearchModel, Thought
from fathom.llm.rereading import reread
from fathom.llm.rubric import nothing_known
from fathom.memory.hypotheses import active, weighed
from fathom.memory.unshown import pages_for_gaps
from fathom.nodes.ports import Account, Budget, Clock, ControlSignals, Pages, TimeBudget
from fathom.planning.limits import limits
from fathom.planning.origins import origin_hits
from fathom.report.living_outline import Material, kept_outline, without_empty_parts
from fathom.report.publishing import nothing_found
from fathom.report.rounds import on_the_table
from fathom.state import Cost, Failure, Hypothesis, Judgement, ResearchState, ReviewAnswer, RunConfig

_EVIDENCE = 10  # pages a judgement names
_QUICK_PATIENCE = 1  # rounds after which an important gap no longer keeps a quick run going


async def judge(
    state: ResearchState,
    *,
    model: ResearchModel,
    pages: Pages,
    run_config: RunConfig,
    clock: Clock,
    signals: ControlSignals,
    budget: Budget,
    time_budget: TimeBudget | None,
) -> ResearchState:
    """Judge the round with one thought for rubric, gaps and outline; every other score is computed.

    A person's orders are heard first; between branches, where there is no review, also a pause. Pages at hand
    that may close a gap are chosen for the next round, except in a run without a model.

    Reads:  question, questions, queries, asked, claims, pages, judgements, costs, failures, hypotheses,
            rulings, is_finishing, earlier, known, effort, rejected, outline, rereads
    Writes: claims, judgements, findings, rulings, contradictions, hypotheses, is_report_due, failures,
            costs; outline and rereads when a model judged; report when it ends with nothing found
    """
    today = clock().date()
    state = await _heard(state, run_config, signals, budget)
    read, asked = state.get("pages", []), state.get("asked", [])
    trails = await walked(state["question"], read, state.get("claims", []), asked, pages.get)
    drawn = await reread(trails, read, state.get("claims", []), state.get("questions", []), pages.get)
    claims = [*state.get("claims", []), *drawn]
    state = {**state, "claims": claims}
    scales = Scales(claims, read, state.get("rulings", []))
    # In a thread: word vectors are read from a file the first time.
    case = await asyncio.to_thread(scales.put_to, _case(state, trails, run_config, today))
    thought = _known(state, run_config.language) or await model.judge(case)
    balance = await asyncio.to_thread(scales.weighed, thought.value.rulings)
    case, assessment = _settled(state, case, thought.value, balance)
    hypotheses = _weighed(state, assessment)
    costs = await _paid(state, thought.costs, budget)
    here_usd = sum(cost.usd for cost in [*state.get("costs", []), *costs])
    gain = gain_of(balance.findings, asked, here_usd, state.get("judgements", []))
    told = {"gain": gain, "spent_usd": here_usd, "hypotheses": active(hypotheses)}
    judgement = _judged(state, case, assessment, today).model_copy(update=told)
    position = _position(state, judgement, assessment, run_config, await budget.account())
    wishes = [] if "direction" in state else await signals.waiting()
    judgement = decided(judgement, _pressed(position, bool(wishes), run_config, time_budget))
    update: ResearchState = {
        "claims": drawn,
        "findings": balance.findings,
        "rulings": balance.rulings,
        "contradictions": balance.contradictions,
        "hypotheses": hypotheses,
        "judgements": [judgement],
        "is_report_due": judgement.stop is not None or run_config.endless,
        "failures": thought.failures,
        "costs": costs,
    }
    if assessment.outline:
        due = update["is_report_due"]
        update["outline"] = without_empty_parts(assessment.outline) if due else assessment.outline
    if judgement.stop:
        return _ended(update, state, wishes, run_config)
    return {**update, **await _at_hand(state, assessment, judgement, pages)}


async def _heard(
    state: ResearchState, run_config: RunConfig, signals: ControlSignals, budget: Budget
) -> ResearchState:
    """The state with what a person ordered; before anything that costs, since the node may run again."""
    if "direction" in state:  # a branch is not the place where an order for the whole run is done with
        return {**state, "is_finishing": state.get("is_finishing", False) or await signals.is_stopping()}
    place = f"judge {len(state.get('judgements', [])) + 1}"
    is_finishing = state.get("is_finishing", False)
    if run_config.strategy != "loop" and not is_finishing and await signals.is_pausing(place):
        spent_usd = (await budget.account()).usd
        shown = on_the_table(state, run_config, spent_usd, why="paused", answers=["approve", "finish"])
        answer = ReviewAnswer.model_validate(interrupt(shown, response_schema=ReviewAnswer))
        is_finishing = answer.action == "finish"
    return {**state, "is_finishing": await signals.is_stopping(place) or is_finishing}


async def _paid(state: ResearchState, own: Sequence[Cost], budget: Budget) -> list[Cost]:
    """What this judgement cost, and what was cut off before it; in a branch, others may still be at work."""
    costs = list(own)
    if "direction" in state:
        return costs
    return [*costs, *await budget.untold([*state.get("costs", []), *costs])]


def _pressed(
    position: Position, is_wished: bool, run_config: RunConfig, time_budget: TimeBudget | None
) -> Position:
    """The position with what presses from outside: a person's wish, and the time."""
    position = replace(position, is_wished=is_wished and run_config.strategy == "loop")
    if not time_budget:
        return position
    return replace(position, worked_s=time_budget.worked_s(), time_limit_s=run_config.time_limit_s)


def _ended(
    update: ResearchState, state: ResearchState, wishes: list[str], run_config: RunConfig
) -> ResearchState:
    """The last judgement: what a person added too late is told, and there is a report even on nothing."""
    why = "it was added when looking had come to its end"
    lost = [*update["failures"], *(Failure(where="order", what=query, why=why) for query in wishes)]
    if state.get("claims"):
        return {**update, "failures": lost}
    failures = [*state.get("failures", []), *lost]
    report = nothing_found(state, update["judgements"][0], failures, run_config.language)
    return {**update, "failures": lost, "report": report}


async def _at_hand(
    state: ResearchState, assessment: Assessment, judgement: Judgement, pages: Pages
) -> ResearchState:
    """The pages at hand that the next round reads again for a gap; none when no model read the evidence."""
    if assessment.failed is None or not state.get("questions"):
        return {}
    read, before = state.get("pages", []), state.get("rereads", [])
    asked, number = state["questions"], judgement.round + 1
    return {"rereads": await pages_for_gaps(judgement.gaps, read, asked, before, number, pages.get)}


def _settled(
    state: ResearchState, case: Case, assessment: Assessment, balance: Weighed
) -> tuple[Case, Assessment]:
    """The checks as the judge decided them, the outline made sound, and the gaps with what is thin in it and
    with how long each was looked for."""
    outline = assessment.outline
    if outline:
        material = Material(case.question, case.questions, case.claims, balance.findings, case.kind)
        outline = kept_outline(outline, case.outline, material)
    thin = with_thin_parts(assessment.gaps, outline, case.question)
    gaps = followed(thin, state.get("judgements", []), case.question)
    checks = decided_checks(case.checks, assessment.failed)
    return replace(case, checks=checks), replace(assessment, outline=outline, gaps=gaps)


def _case(state: ResearchState, trails: Trails, run_config: RunConfig, today: date) -> Case:
    """What there is to judge, before claims are weighed against each other."""
    question, claims, read = state["question"], state.get("claims", []), state.get("pages", [])
    before, present = state.get("judgements", []), state.get("outline")
    return Case(
        question,
        state.get("questions", []),
        claims,
        checks=checked(question, claims, read, today, before, run_config.language),
        hypotheses=active(state.get("hypotheses", [])),
        trails=trails,
        before=before[-1].evidence if before else [],
        pages=read,
        rejected=state.get("rejected", []),
        gaps=before[-1].gaps if before else [],
        outline=present if present and present.question == question else None,
        kind=effort.kind if (effort := state.get("effort")) else "survey",
        limits=limits(run_config, len(before) + 1, state.get("costs", [])),
        today=today.isoformat(),
        language=run_config.language,
    )


def _known(state: ResearchState, language: str | None) -> Thought[Assessment] | None:
    """What is known without thinking: there are no claims, or in an update the same as before."""
    claims, earlier = state.get("claims", []), state.get("earlier")
    if not claims:
        is_rejected = any(not entry.section for entry in state.get("rejected", []))
        return Thought(nothing_known(state.get("questions", []), language, is_rejected=is_rejected))
    if earlier is None or {claim.id for claim in claims} != {claim.id for claim in earlier.claims}:
        return None
    last = earlier.judgements[-1]
    known = Assessment(last.rubric, last.gaps, confidence=last.confidence, is_by_words=last.is_by_words)
    return Thought(known)


def _weighed(state: ResearchState, assessment: Assessment) -> list[Hypothesis]:
    """The hypotheses, with what this round speaks for and against them."""
    known = {claim.id: claim for claim in state.get("claims", [])}
    speaking = sufficiency.voices_of(state.get("pages", []))
    number = len(state.get("judgements", [])) + 1
    return weighed(state.get("hypotheses", []), assessment.bearings, known, speaking, number)


def _judged(state: ResearchState, case: Case, assessment: Assessment, today: date) -> Judgement:
    """The scores, what was found, and all that is missing; not yet whether that is enough."""
    claims, read = state.get("claims", []), state.get("pages", [])
    before = state.get("judgements", [])
    parts = {
        "coverage": sufficiency.coverage(case.questions, claims),
        "diversity": sufficiency.diversity(claims, read),
        "quality": sufficiency.quality(assessment.rubric) if claims else 0.0,
        "freshness": sufficiency.freshness(claims, read, today),
    }
    return Judgement(
        round=len(before) + 1,
        **parts,
        overall=sufficiency.overall(**parts),
        rubric=assessment.rubric,
        gaps=all_gaps(assessment.gaps, case.checks),
        checks=list(case.checks),
        claims=len(claims),
        pages=len(read),
        new_claims=len(claims) - (before[-1].claims if before else 0),
        confidence=min(1.0, max(0.0, assessment.confidence)),
        found=best_new(claims, before),
        evidence=case.trails.best[:_EVIDENCE] if case.trails else [],
        leads=case.trails.leads if case.trails else [],
        is_by_words=assessment.is_by_words,
    )


def _position(
    state: ResearchState,
    judgement: Judgement,
    assessment: Assessment,
    run_config: RunConfig,
    account: Account,
) -> Position:
    """Where the run stands, for the rules; a failing check holds rules back by itself, not as a gap."""
    known = state.get("known")
    is_follow_up = known is not None and known.is_recalled
    return Position(
        round=judgement.round,
        max_rounds=run_config.max_rounds,
        overall=judgement.overall,
        threshold=run_config.threshold,
        diversity=judgement.diversity,
        sources=sufficiency.sources(state.get("claims", []), state.get("pages", [])),
        claims=judgement.claims,
        new_claims=judgement.new_claims,
        gaps=assessment.gaps,
        spent_usd=account.usd,
        budget_usd=run_config.budget_usd,
        reserve=run_config.reserve,
        is_spent=account.is_out,
        is_finishing=state.get("is_finishing", False),
        has_asked=bool(state.get("queries")) or (is_follow_up and judgement.round == 1),
        coverage=judgement.coverage,
        confidence=judgement.confidence,
        gain=judgement.gain,
        failing=failing(judgement.checks, state.get("judgements", [])),
        is_endless=run_config.endless,
        idle_rounds=idle_rounds([*state.get("judgements", []), judgement]),
        settled=assessment.settled,
        unsettled=assessment.unsettled,
        is_follow_up=is_follow_up,
        has_unread_origins=bool(origin_hits(state, run_config)),
        patience=_QUICK_PATIENCE if run_config.depth == "quick" else run_config.max_rounds,
        is_by_words=judgement.is_by_words,
    )

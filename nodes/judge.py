"""The judge: how much is known, what is missing, and whether that is enough."""

import asyncio

from fathom.evidence import sufficiency
from fathom.evidence.accounting import all_gaps, best_new, gain_of
from fathom.evidence.checks import checked, failing
from fathom.evidence.leads import walked
from fathom.evidence.stopping import Standing, held, stop, waived
from fathom.evidence.sufficiency import voices_of
from fathom.evidence.weighing import Scales
from fathom.memory.hypotheses import active, weighed
from fathom.minds.port import Assessment, Case, Mind, Thought
from fathom.minds.rubric import nothing_known
from fathom.nodes.ports import Clock, Pages
from fathom.report.publishing import nothing_found
from fathom.state import Judgement, Knobs, ResearchState

_EVIDENCE = 10  # pages a judgement names


async def judge(
    state: ResearchState, *, mind: Mind, pages: Pages, knobs: Knobs, clock: Clock
) -> ResearchState:
    """Judge the round with one thought for rubric and gaps; every other score is computed.

    Reads:  question, questions, queries, asked, claims, dropped, pages, judgements, charges, losses,
            hypotheses, rulings, is_finishing, elsewhere_usd, earlier
    Writes: judgements, findings, rulings, contradictions, hypotheses, losses, charges; report when it ends
            with nothing found
    """
    claims, read = state.get("claims", []), state.get("pages", [])
    questions, before = state.get("questions", []), state.get("judgements", [])
    hypotheses, scales = state.get("hypotheses", []), Scales(claims, read, state.get("rulings", []))
    checks = checked(state["question"], claims, read, clock().date(), before)
    trails = await walked(state["question"], read, claims, state.get("asked", []), pages.get)
    case = Case(
        state["question"],
        questions,
        claims,
        checks=checks,
        hypotheses=active(hypotheses),
        trails=trails,
        before=before[-1].evidence if before else [],
    )
    # In a thread: word vectors are read from a file the first time.
    case = await asyncio.to_thread(scales.put_to, case)
    thought = _known(state) or await mind.judge(case)
    balance = await asyncio.to_thread(scales.weighed, thought.value.rulings)
    here_usd = sum(c.usd for c in [*state.get("charges", []), *thought.charges])
    known = {claim.id: claim for claim in claims}
    hypotheses = weighed(hypotheses, thought.value.bearings, known, voices_of(read), len(before) + 1)
    told = {
        "checks": checks,
        "gain": gain_of(balance.findings, state.get("asked", []), here_usd, before),
        "found": best_new(claims, before),
        "hypotheses": active(hypotheses),
        "spent_usd": here_usd,
        "evidence": trails.best[:_EVIDENCE],
        "leads": trails.leads,
    }
    judgement = _judged(state, thought.value, clock).model_copy(update=told)
    at = _standing(state, judgement, knobs, thought.value)
    name, because = stop(at)
    gaps = all_gaps(judgement.gaps, checks)
    judgement = judgement.model_copy(
        update={
            "stop": name,
            "because": because,
            "held": None if name else held(at),
            "waived": waived(at),
            "gaps": gaps,
        }
    )
    update: ResearchState = {
        "findings": balance.findings,
        "rulings": balance.rulings,
        "contradictions": balance.contradictions,
        "hypotheses": hypotheses,
        "judgements": [judgement],
        "losses": thought.losses,
        "charges": thought.charges,
    }
    if name and not claims:
        losses = [*state.get("losses", []), *thought.losses]
        update["report"] = nothing_found(state, judgement, losses, knobs.language)
    return update


def _known(state: ResearchState) -> Thought[Assessment] | None:
    """What is known without thinking: there are no claims, or in an update the same as before."""
    claims, earlier = state.get("claims", []), state.get("earlier")
    if not claims:
        return Thought(nothing_known(state.get("questions", [])))
    if earlier is None or {claim.id for claim in claims} != {claim.id for claim in earlier.claims}:
        return None
    last = earlier.judgements[-1]
    return Thought(Assessment(last.rubric, last.gaps, confidence=last.confidence))


def _judged(state: ResearchState, assessment: Assessment, clock: Clock) -> Judgement:
    claims, pages = state.get("claims", []), state.get("pages", [])
    before = state.get("judgements", [])
    parts = {
        "coverage": sufficiency.coverage(state.get("questions", []), claims),
        "diversity": sufficiency.diversity(claims, pages),
        "quality": sufficiency.quality(assessment.rubric) if claims else 0.0,
        "freshness": sufficiency.freshness(claims, pages, clock().date()),
    }
    return Judgement(
        round=len(before) + 1,
        **parts,
        overall=sufficiency.overall(**parts),
        rubric=assessment.rubric,
        gaps=assessment.gaps,
        claims=len(claims),
        new_claims=len(claims) - (before[-1].claims if before else 0),
        confidence=min(1.0, max(0.0, assessment.confidence)),
    )


def _standing(state: ResearchState, judgement: Judgement, knobs: Knobs, assessment: Assessment) -> Standing:
    return Standing(
        round=judgement.round,
        max_rounds=knobs.max_rounds,
        overall=judgement.overall,
        threshold=knobs.threshold,
        diversity=judgement.diversity,
        sources=sufficiency.sources(state.get("claims", []), state.get("pages", [])),
        claims=judgement.claims,
        new_claims=judgement.new_claims,
        gaps=judgement.gaps,
        spent_usd=judgement.spent_usd + state.get("elsewhere_usd", 0.0),
        budget_usd=knobs.budget_usd,
        is_finishing=state.get("is_finishing", False),
        has_asked=bool(state.get("queries")),
        coverage=judgement.coverage,
        confidence=judgement.confidence,
        gain=judgement.gain,
        failing=[
            *failing(judgement.checks, state.get("judgements", [])),
            *filter(None, [assessment.unsettled]),
        ],
        is_endless=knobs.endless,
        settled=assessment.settled,
    )

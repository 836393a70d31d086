"""The judge: how much is known, what is missing, and whether that is enough."""

from fathom.evidence import sufficiency
from fathom.evidence.corroboration import findings_of
from fathom.evidence.stopping import Standing, stop
from fathom.minds.port import Assessment, Case, Mind, Thought
from fathom.minds.rubric import nothing_known
from fathom.nodes.ports import Clock
from fathom.report.publishing import nothing_found
from fathom.state import Judgement, Knobs, ResearchState


async def judge(state: ResearchState, *, mind: Mind, knobs: Knobs, clock: Clock) -> ResearchState:
    """Judge the round with one thought for rubric and gaps; every other score is computed.

    Reads:  question, questions, queries, asked, claims, dropped, pages, judgements, charges, losses,
            is_finishing, elsewhere_usd
    Writes: judgements, findings, losses, charges; report when it ends with nothing found
    """
    claims = state.get("claims", [])
    questions = state.get("questions", [])
    # Without claims there is nothing to weigh, and a model would be paid to say so.
    thought = (
        await mind.judge(Case(state["question"], questions, claims))
        if claims
        else Thought(nothing_known(questions))
    )
    judgement = _judged(state, thought.value, clock)
    spent = [*state.get("charges", []), *thought.charges]
    spent_usd = sum(c.usd for c in spent) + state.get("elsewhere_usd", 0.0)
    name, because = stop(_standing(state, judgement, knobs, spent_usd))
    judgement = judgement.model_copy(update={"stop": name, "because": because})
    update: ResearchState = {
        "findings": findings_of(claims, state.get("pages", [])),
        "judgements": [judgement],
        "losses": thought.losses,
        "charges": thought.charges,
    }
    if name and not claims:
        losses = [*state.get("losses", []), *thought.losses]
        update["report"] = nothing_found(state, judgement, losses, knobs.language)
    return update


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


def _standing(state: ResearchState, judgement: Judgement, knobs: Knobs, spent_usd: float) -> Standing:
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
        spent_usd=spent_usd,
        budget_usd=knobs.budget_usd,
        is_finishing=state.get("is_finishing", False),
        has_asked=bool(state.get("queries")),
        coverage=judgement.coverage,
        confidence=judgement.confidence,
        is_endless=knobs.endless,
    )

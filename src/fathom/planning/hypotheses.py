"""Hypotheses: statements scored by the independent sources for and against them.

Confidence is recomputed from all evidence each time, so that a repeated claim counts once.
"""

from collections.abc import Iterable, Mapping, Sequence

from fathom.evidence.checks import has_phrase, phrase_pattern
from fathom.state import Claim, Hypothesis
from fathom.state.model_io import HypothesisEvidence
from fathom.text.mentions import extract_numbers, is_negated
from fathom.text.normalization import one_line
from fathom.text.ranking import jaccard_similarity, terms

_SHARED = 0.6  # of the statement's words


def find_bearings(hypotheses: Sequence[Hypothesis], claims: Sequence[Claim]) -> list[HypothesisEvidence]:
    """Return for each hypothesis the claims about the same thing, by the side they support."""
    bags = [(claim, terms(claim.statement)) for claim in claims]
    found = []
    for hypothesis in hypotheses:
        sides: dict[bool, list[str]] = {True: [], False: []}
        wanted = _terms_without_direction(hypothesis.statement)
        for claim, words in bags:
            if wanted and len(wanted & words) / len(wanted) >= _SHARED:
                sides[is_in_agreement(hypothesis.statement, claim.statement)].append(claim.id)
        found.append(HypothesisEvidence(hypothesis.id, sides[True], sides[False]))
    return found


def is_in_agreement(statement: str, said: str) -> bool:
    """Tell whether two statements about one thing agree."""
    if is_negated(statement) != is_negated(said):
        return False
    ours, theirs = set(extract_numbers(statement)), set(extract_numbers(said))
    if ours and theirs and not ours & theirs:
        return False
    return _direction_sign(statement) * _direction_sign(said) != -1


def _terms_without_direction(statement: str) -> set[str]:
    """Return the statement's words without those that only give a direction."""
    return terms(phrase_pattern("down").sub(" ", phrase_pattern("up").sub(" ", statement.lower())))


def _direction_sign(text: str) -> int:
    return has_phrase("up", text) - has_phrase("down", text)


MAX_ACTIVE = 5
START_CONFIDENCE, SUPPORT_STEP, CONTRADICTION_STEP = 0.5, 0.10, 0.15
_SAME_STATEMENT = 0.85
_DENSE_SOURCES = 10  # sources for full evidence density; one against it takes away half a source
_RECENT_ROUNDS = 2  # rounds in which evidence for a hypothesis is recent; then it counts half
_MAX_HYPOTHESES = 40  # in all, active or inactive
_MAX_SOURCES_A_SIDE = 50  # per side
_MAX_STATEMENT_CHARS = 300


def adopt_hypotheses(known: Sequence[Hypothesis], offered: Iterable[str], number: int) -> list[Hypothesis]:
    """Merge known and new hypotheses, each statement once; the best five are active."""
    kept = list(known)
    for statement in offered:
        text = one_line(statement)[:_MAX_STATEMENT_CHARS]
        words = terms(text)
        if (
            not words
            or len(kept) >= _MAX_HYPOTHESES
            or any(jaccard_similarity(words, terms(h.statement)) >= _SAME_STATEMENT for h in kept)
        ):
            continue
        name = f"H{len(kept) + 1}"  # none is ever removed, so that a name stays
        kept.append(Hypothesis(id=name, statement=text, born=number, touched=number, backed=number))
    return rank_hypotheses(kept, number)


def weigh_hypotheses(
    known: Sequence[Hypothesis],
    bearings: Sequence[HypothesisEvidence],
    claims: Mapping[str, Claim],
    sources: Mapping[str, str],
    number: int,
) -> list[Hypothesis]:
    """Update every hypothesis with its evidence; unknown keys are dropped."""
    spoken = {bearing.hypothesis: bearing for bearing in bearings}
    weighed = [_weigh(h, spoken[h.id], claims, sources, number) if h.id in spoken else h for h in known]
    return rank_hypotheses(weighed, number)


def _weigh(
    hypothesis: Hypothesis,
    bearing: HypothesisEvidence,
    claims: Mapping[str, Claim],
    sources: Mapping[str, str],
    number: int,
) -> Hypothesis:
    # A claim listed on both sides counts for neither.
    both = set(bearing.supporting) & set(bearing.contradicting)
    pro = [c for c in bearing.supporting if c in claims and c not in both]
    con = [c for c in bearing.contradicting if c in claims and c not in both]
    supporting = _one_claim_a_source(
        [*(c for c in hypothesis.supporting if c not in con), *pro], claims, sources
    )
    contradicting = _one_claim_a_source(
        [*(c for c in hypothesis.contradicting if c not in pro), *con], claims, sources
    )
    is_news = (supporting, contradicting) != (hypothesis.supporting, hypothesis.contradicting)
    is_backed = not set(supporting) <= set(hypothesis.supporting)
    return hypothesis.model_copy(
        update={
            "supporting": supporting,
            "contradicting": contradicting,
            "confidence": compute_confidence(len(supporting), len(contradicting)),
            "touched": number if is_news else hypothesis.touched,
            "backed": number if is_backed else hypothesis.backed,
        }
    )


def _one_claim_a_source(
    ids: Iterable[str], claims: Mapping[str, Claim], sources: Mapping[str, str]
) -> list[str]:
    """Return the first claim of every independent source."""
    heard: dict[str, str] = {}
    for claim_id in ids:
        if claim_id in claims:
            page = claims[claim_id].quotes[0].page
            heard.setdefault(sources.get(page, page), claim_id)
    return list(heard.values())[:_MAX_SOURCES_A_SIDE]


def compute_confidence(supporting: int, contradicting: int) -> float:
    """Return 0.5, plus 0.1 per source for it, minus 0.15 per source against it, within bounds."""
    value = START_CONFIDENCE + SUPPORT_STEP * supporting - CONTRADICTION_STEP * contradicting
    return round(min(1.0, max(0.0, value)), 6)


def compute_priority(hypothesis: Hypothesis, number: int) -> float:
    """Return 0.5 confidence + 0.3 evidence density + 0.2 recency.

    Recency counts only evidence for it, so that evidence against it never raises the priority.
    """
    net = len(hypothesis.supporting) - 0.5 * len(hypothesis.contradicting)
    density = min(1.0, max(0.0, net / _DENSE_SOURCES))
    recency = 1.0 if hypothesis.backed >= number - _RECENT_ROUNDS else 0.5
    return 0.5 * hypothesis.confidence + 0.3 * density + 0.2 * recency


def rank_hypotheses(known: Sequence[Hypothesis], number: int) -> list[Hypothesis]:
    """Rank best first; five are active, others stay inactive until new evidence."""
    best = sorted(known, key=lambda h: (-compute_priority(h, number), h.id))
    return [
        h.model_copy(update={"status": "active" if place < MAX_ACTIVE else "set aside"})
        for place, h in enumerate(best)
    ]


def active_hypotheses(known: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Return the active hypotheses, most confident first."""
    working = [h for h in known if h.status == "active"]
    return sorted(working, key=lambda h: -h.confidence)[:MAX_ACTIVE]


def leading_hypothesis(known: Sequence[Hypothesis]) -> Hypothesis | None:
    """Return the best supported hypothesis, whose counter-evidence is searched for."""
    return next(iter(active_hypotheses(known)), None)

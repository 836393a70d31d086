"""What may be true: statements weighed by the independent voices that speak for and against them.

Does not know who proposes them or who reads the evidence. Confidence is computed anew from the evidence each
time, so that the same claim told twice counts once.
"""

from collections.abc import Iterable, Mapping, Sequence

from fathom.llm.port import Bearing
from fathom.state import Claim, Hypothesis, short_hash
from fathom.text.normal import one_line
from fathom.text.ranking import likeness, terms

MOST_ACTIVE = 5
START, FOR, AGAINST = 0.5, 0.10, 0.15
_SAME = 0.85
_DENSE = 5  # voices that make the evidence as dense as it needs to be
_FRESH = 10  # rounds after which nothing of a hypothesis is recent
_MOST = 40  # in all, active or set aside
_MOST_VOICES = 50  # a side
_LONGEST = 300


def adopted(known: Sequence[Hypothesis], offered: Iterable[str], number: int) -> list[Hypothesis]:
    """What is known and what is new, each statement once; the best five are active."""
    kept = list(known)
    for statement in offered:
        text = one_line(statement)[:_LONGEST]
        words = terms(text)
        if not words or len(kept) >= _MOST or any(likeness(words, terms(h.statement)) >= _SAME for h in kept):
            continue
        name = f"H{short_hash(text.casefold())[:6]}"
        kept.append(Hypothesis(id=name, statement=text, born=number, touched=number, backed=number))
    return ranked(kept, number)


def weighed(
    known: Sequence[Hypothesis],
    bearings: Sequence[Bearing],
    claims: Mapping[str, Claim],
    voices: Mapping[str, str],
    number: int,
) -> list[Hypothesis]:
    """Every hypothesis with the evidence it has by now; keys nobody gave are dropped."""
    spoken = {bearing.hypothesis: bearing for bearing in bearings}
    return ranked([_with(h, spoken.get(h.id), claims, voices, number) for h in known], number)


def _with(
    hypothesis: Hypothesis,
    bearing: Bearing | None,
    claims: Mapping[str, Claim],
    voices: Mapping[str, str],
    number: int,
) -> Hypothesis:
    if bearing is None:
        return hypothesis
    # A claim that is said to speak for both sides speaks for neither.
    both = set(bearing.supporting) & set(bearing.contradicting)
    pro = [c for c in bearing.supporting if c in claims and c not in both]
    con = [c for c in bearing.contradicting if c in claims and c not in both]
    supporting = _one_a_voice([*(c for c in hypothesis.supporting if c not in con), *pro], claims, voices)
    contradicting = _one_a_voice(
        [*(c for c in hypothesis.contradicting if c not in pro), *con], claims, voices
    )
    is_news = (supporting, contradicting) != (hypothesis.supporting, hypothesis.contradicting)
    is_backed = not set(supporting) <= set(hypothesis.supporting)
    return hypothesis.model_copy(
        update={
            "supporting": supporting,
            "contradicting": contradicting,
            "confidence": confidence(len(supporting), len(contradicting)),
            "touched": number if is_news else hypothesis.touched,
            "backed": number if is_backed else hypothesis.backed,
        }
    )


def _one_a_voice(ids: Iterable[str], claims: Mapping[str, Claim], voices: Mapping[str, str]) -> list[str]:
    """The first claim of every independent voice."""
    heard: dict[str, str] = {}
    for claim_id in ids:
        if claim_id in claims:
            page = claims[claim_id].quotes[0].page
            heard.setdefault(voices.get(page, page), claim_id)
    return list(heard.values())[:_MOST_VOICES]


def confidence(supporting: int, contradicting: int) -> float:
    """From 0.5, a tenth up for every voice for it, three twentieths down for every voice against it."""
    return round(min(1.0, max(0.0, START + FOR * supporting - AGAINST * contradicting)), 6)


def priority(hypothesis: Hypothesis, number: int) -> float:
    """0.5 confidence + 0.3 density of evidence + 0.2 recency, of what speaks for it: counter-evidence lowers
    its confidence, and raises nothing."""
    density = min(1.0, len(hypothesis.supporting) / _DENSE)
    recency = max(0.0, 1.0 - (number - hypothesis.backed) / _FRESH)
    return 0.5 * hypothesis.confidence + 0.3 * density + 0.2 * recency


def ranked(known: Sequence[Hypothesis], number: int) -> list[Hypothesis]:
    """Best first; five are active, the others set aside, where evidence may bring them back."""
    best = sorted(known, key=lambda h: (-priority(h, number), h.id))
    return [
        h.model_copy(update={"status": "active" if place < MOST_ACTIVE else "set aside"})
        for place, h in enumerate(best)
    ]


def active(known: Sequence[Hypothesis]) -> list[Hypothesis]:
    """The ones that are worked on, surest first."""
    working = [h for h in known if h.status == "active"]
    return sorted(working, key=lambda h: -h.confidence)[:MOST_ACTIVE]


def leading(known: Sequence[Hypothesis]) -> Hypothesis | None:
    """The one that most speaks for: its counter-evidence is looked for, however sure it seems."""
    return next(iter(active(known)), None)

"""Which points of a section are worth showing without a model, and in which order: the answer first.

Does not know pages. What it leaves out stays in the ledger's claims.
"""

from collections.abc import Sequence

from fathom.evidence.answering import directness, is_of_fact, thing_asked
from fathom.evidence.facts import is_negated, numbers
from fathom.llm.port import Point
from fathom.text.ranking import likeness, terms

_DIRECT, _DOUBT, _VOICE, _MOST_VOICES = 0.1, 0.7, 0.05, 3
_ANSWERS = 0.3
_DEFINES = 0.5
_FLOOR = 0.9  # of the first point of the section
_DISPUTING = 0.5  # the same for a point that others contradict
_SAME, _WITHIN = 0.6, 0.8


def worth_telling(question: str, points: Sequence[Point], most: int) -> list[Point]:
    """The best few, best first; nothing twice, and nothing far below the best.

    What contradicts another point is shown beside it, beyond `most` and below the best. Telling again what
    was chosen once changes nothing.
    """
    ranked = sorted(points, key=lambda p: -_worth(question, p))
    if is_of_fact(question):
        ranked = [p for p in ranked if _is_direct(question, p)] or ranked
    if thing := thing_asked(question):
        ranked = _defining(question, thing, ranked)
    best = _strength(ranked[0]) if ranked else 0.0
    kept: list[Point] = []
    for point in ranked:
        is_disputed = point.finding.tag == "CONTRADICTED"
        if len(kept) >= most and not is_disputed:
            continue
        is_good = _strength(point) >= (_DISPUTING if is_disputed else _FLOOR) * best
        if is_good and not any(_repeats(point, other) or _overlaps(point, other) for other in kept):
            kept.append(point)
    return kept


def _defining(question: str, thing: str, ranked: list[Point]) -> list[Point]:
    """Where a point says what the thing is, only such points, its entries, and what is contradicted."""
    if not any(directness(question, _said(point)) >= _DEFINES for point in ranked):
        return ranked
    return [
        point
        for point in ranked
        if directness(question, _said(point)) >= _DEFINES
        or terms(_said(point).partition(":")[0]) == terms(thing)
        or point.finding.tag == "CONTRADICTED"
    ]


def _said(point: Point) -> str:
    return point.claims[0].statement


def _is_direct(question: str, point: Point) -> bool:
    quotes = (quote.text for quote in point.claims[0].quotes)
    return any(directness(question, said) >= _ANSWERS for said in (_said(point), *quotes))


def _worth(question: str, point: Point) -> float:
    """Its strength, more when it answers directly, less when a rule or a weak quote speaks against it."""
    doubt = _DOUBT if point.finding.tag == "UNCERTAIN" else 1.0
    return doubt * _strength(point) * (1 + _DIRECT * directness(question, _said(point)))


def _strength(point: Point) -> float:
    """How relevant it is, and by how many it is told."""
    voices = min(len(point.finding.voices), _MOST_VOICES) - 1
    return max(claim.relevance for claim in point.claims) + _VOICE * max(0, voices)


def _repeats(point: Point, told: Point) -> bool:
    """Whether it says in other words what is told; other figures or a "not" make it another statement."""
    ours, theirs = _said(point), _said(told)
    if not set(numbers(ours)) <= set(numbers(theirs)) or is_negated(ours) != is_negated(theirs):
        return False
    left, right = terms(ours), terms(theirs)
    return likeness(left, right) >= _SAME or len(left & right) >= _WITHIN * len(left)


def _overlaps(point: Point, told: Point) -> bool:
    """Whether one quotes what the other quotes too."""
    one, other = point.claims[0].quotes[0].text, told.claims[0].quotes[0].text
    return one in other or other in one

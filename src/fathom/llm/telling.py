"""Which points of a section are worth telling without a model, and in which order: the answer first.

Does not know pages. What it leaves out stays in the ledger's claims.
"""

from collections.abc import Sequence

from fathom.evidence.answering import asks_what, directness, is_fitting, is_of_fact, most_points
from fathom.evidence.facts import is_negated, numbers
from fathom.llm.port import Point
from fathom.text.ranking import likeness, terms

_DIRECT, _DOUBT, _VOICE, _MOST_VOICES = 0.5, 0.7, 0.1, 3
_ANSWERS = 0.3
_FLOOR, _SURVEY_FLOOR = 0.7, 0.4  # of the best point of the section
_SAME, _WITHIN = 0.6, 0.8
_PER_PAGE = 3


def worth_telling(question: str, points: Sequence[Point], most: int) -> list[Point]:
    """What answers the question first, then the strongest; nothing twice, and nothing far below the best.

    Telling again what was chosen once changes nothing.
    """
    fitting = [p for p in points if is_fitting(question, _said(p))] or list(points)
    ranked = sorted(fitting, key=lambda p: -_worth(question, p))
    if is_of_fact(question):
        ranked = [p for p in ranked if directness(question, _said(p)) >= _ANSWERS] or ranked
    is_narrow = is_of_fact(question) or asks_what(question)
    floor = (_FLOOR if is_narrow else _SURVEY_FLOOR) * max((_strength(p) for p in ranked), default=0.0)
    most = most_points(question, most)
    kept: list[Point] = []
    per_page: dict[str, int] = {}
    for point in ranked:
        if len(kept) == most:
            break
        page = point.claims[0].quotes[0].page
        has_room = per_page.get(page, 0) < max(_PER_PAGE, most // 2)
        if has_room and _strength(point) >= floor and not any(_repeats(point, k) for k in kept):
            kept.append(point)
            per_page[page] = per_page.get(page, 0) + 1
    return kept


def _said(point: Point) -> str:
    return point.claims[0].statement


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

"""Going round in circles, and what must change then: one small rule each.

Does not know how a query is varied; it says that it must be.
"""

from collections.abc import Sequence

from fathom.state import Judgement, Query
from fathom.text.ranking import likeness, terms

_ALIKE = 0.5
_PATTERN = 3
_BARREN = 5


def is_worn(query: Query, asked: Sequence[Query]) -> bool:
    """The same pattern for the fourth time: sub-question, family and half the words as three before it."""
    words = terms(query.text)
    same = [past for past in asked if (past.question, past.family) == (query.question, query.family)]
    return sum(likeness(words, terms(past.text)) >= _ALIKE for past in same) >= _PATTERN


def barren_rounds(judgements: Sequence[Judgement]) -> int:
    """How many rounds in a row, up to the last, brought nothing new."""
    count = 0
    for judgement in reversed(judgements):
        if judgement.new_claims > 0:
            break
        count += 1
    return count


def approach(judgements: Sequence[Judgement]) -> str:
    """What must change after five rounds with nothing new, and after each five more; empty before."""
    barren = barren_rounds(judgements)
    if not barren or barren % _BARREN:
        return ""
    return (
        f"{barren} rounds brought nothing new: step back to a broader question, or split the question anew"
        " and look from where nobody looked yet."
    )

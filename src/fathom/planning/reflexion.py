"""What earlier queries taught (Reflexion): which brought claims, and which brought nothing.

Does not know plans. Everything is counted in code from what was asked, chosen, read and kept.
"""

from collections.abc import Sequence

from fathom.search.addresses import canonical
from fathom.state import Claim, Family, Hit, Lesson, Page, Query
from fathom.text.ranking import likeness, terms

_SHOWN = 5
_ALIKE = 0.5
_WEIGHT = 0.5
_LATEST = 40


def lessons(
    asked: Sequence[Query], chosen: Sequence[Hit], pages: Sequence[Page], claims: Sequence[Claim], number: int
) -> list[Lesson]:
    """One lesson for each query of a round: the pages read because of it, and the claims they gave."""
    shas = {canonical(page.address): page.sha for page in pages}
    found: list[Lesson] = []
    for query in (q for q in asked if q.round == number):
        read = {shas[a] for hit in chosen if hit.query == query.id and (a := canonical(hit.address)) in shas}
        new = sum(any(quote.page in read for quote in claim.quotes[:1]) for claim in claims)
        found.append(
            Lesson(
                query=query.id,
                text=query.text,
                question=query.question,
                family=query.family,
                round=number,
                pages=len(read),
                claims=new,
            )
        )
    return found


def worked(known: Sequence[Lesson]) -> list[Lesson]:
    """The few that brought most, the latest first among equals."""
    good = [lesson for lesson in known if lesson.claims]
    return sorted(good, key=lambda lesson: (-lesson.claims, -lesson.round))[:_SHOWN]


def failed(known: Sequence[Lesson]) -> list[Lesson]:
    """The latest few that brought nothing."""
    return [lesson for lesson in reversed(known) if not lesson.claims][:_SHOWN]


def discount(text: str, family: Family, known: Sequence[Lesson]) -> float:
    """How much less a query is worth for what failed before it, 0 to 1: like words, or the same family."""
    latest = known[-_LATEST:]
    words = terms(text)
    like = [lesson for lesson in latest if likeness(words, terms(lesson.text)) >= _ALIKE]
    same = [lesson for lesson in latest if lesson.family == family]
    return _WEIGHT * _failing(like) + (1 - _WEIGHT) * (_failing(same) if len(same) >= 2 else 0.0)


def _failing(known: Sequence[Lesson]) -> float:
    return sum(not lesson.claims for lesson in known) / len(known) if known else 0.0

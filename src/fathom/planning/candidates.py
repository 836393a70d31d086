"""At least ten queries to choose from: the mind's own, and what code makes of questions and perspectives.

Does not know which of them is asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from fathom.planning.families import forms, topic
from fathom.planning.repeats import plain
from fathom.state import Family, Query, SubQuestion

ENOUGH = 10
_FAMILIES: tuple[Family, ...] = ("web", "academic", "counter")


@dataclass(frozen=True)
class Candidate:
    """A query that may be asked, and whose idea it was."""

    query: Query
    origin: Literal["mind", "code"] = "mind"


@dataclass(frozen=True)
class Theme:
    """What code may make queries of."""

    question: str
    round: int
    open_questions: Sequence[SubQuestion]  # that can be asked now, most wanted first
    perspectives: Sequence[str] = ()


def candidates(own: Sequence[Query], theme: Theme) -> list[Candidate]:
    """The mind's own queries, filled up to ten in three families; no text twice."""
    found: dict[str, Candidate] = {}
    for query in own:
        found.setdefault(plain(query.text), Candidate(query))
    for query in made(own, theme):
        if len(found) >= ENOUGH:
            break
        found.setdefault(plain(query.text), Candidate(query, "code"))
    return [candidate for text, candidate in found.items() if text]


def made(own: Sequence[Query], theme: Theme) -> Iterator[Query]:
    """Queries that code can make, the most telling first."""
    for question in theme.open_questions:
        for family in _FAMILIES:
            yield _query(forms(topic(question.text), family)[0], question.id, family, theme)
    for perspective in theme.perspectives:
        yield _query(_seen_from(perspective, theme), _asks_from(perspective, theme), "web", theme)
    for query in [q for q in own if q.family == "web"][:3]:
        for family in _FAMILIES[1:]:
            yield _query(forms(topic(query.text), family)[0], query.question, family, theme)
    asked = [*(q.text for q in theme.open_questions), theme.question]
    ids = [*(q.id for q in theme.open_questions), _first_id(theme)]
    for text, name in zip(asked, ids, strict=True):
        for family in _FAMILIES:
            for form in forms(topic(text), family):
                yield _query(form, name, family, theme)


def _seen_from(perspective: str, theme: Theme) -> str:
    return f"{topic(theme.question)} {topic(perspective)}"


def _asks_from(perspective: str, theme: Theme) -> str:
    own = (q.id for q in theme.open_questions if q.perspective == perspective)
    return next(own, _first_id(theme))


def _first_id(theme: Theme) -> str:
    return theme.open_questions[0].id if theme.open_questions else "Q1"


def _query(text: str, question: str, family: Family, theme: Theme) -> Query:
    return Query(id="", text=" ".join(text.split()), question=question, round=theme.round, family=family)

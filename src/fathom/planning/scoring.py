"""What a query is worth: what it may bring, and whether it can be asked at all.

Does not know which queries are chosen. A query's likeness to those beside it is the choice's business.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.planning.arms import PRIORITIES
from fathom.planning.dependencies import has_place
from fathom.planning.reflexion import discount
from fathom.search.choice import HYBRID, KNOWN
from fathom.state import Claim, Family, Gap, Lesson, Query, RunConfig, SubQuestion
from fathom.text.ranking import terms
from fathom.text.tokens import has_paired_script

_NO_GAP = 0.4
_LESSON = 0.2
_WEIGHTS = {"information": 0.6, "feasibility": 0.25}
_FEW_WORDS, _MANY_WORDS = 2, 16
_MANY_CHARS = 60  # of a script without spaces between all words
_OPERATORS = ('"', "(", "site:", " OR ", " AND ", "*", "intitle:", "filetype:")
_NO_MARKS: Mapping[Family, float] = {"web": 1.0, "academic": 1.0, "counter": 1.0}


@dataclass(frozen=True)
class View:
    """What a query's worth is measured against."""

    openness: Mapping[str, float]  # by sub-question: 1 without evidence, less with more
    wanted: Mapping[str, float]  # by sub-question: the priority of its gap
    known: frozenset[str]  # words that were asked or found
    lessons: Sequence[Lesson] = ()
    served: Mapping[Family, float] = field(default_factory=lambda: dict(_NO_MARKS))
    is_doubting: bool = False  # something is known, and it should be tested


def view(
    questions: Sequence[SubQuestion],
    claims: Sequence[Claim],
    gaps: Sequence[Gap],
    asked: Sequence[Query],
    lessons: Sequence[Lesson] = (),
    served: Mapping[Family, float] = _NO_MARKS,
    is_doubting: bool = False,
) -> View:
    """The measure of a round."""
    best: dict[str, float] = {}
    for claim in claims:
        best[claim.question] = max(best.get(claim.question, 0.0), claim.relevance)
    openness = {q.id: _openness(best.get(q.id)) for q in questions}
    wanted: dict[str, float] = {}
    for gap in gaps:
        wanted[gap.question] = max(wanted.get(gap.question, 0.0), PRIORITIES[gap.priority])
    said = [*(q.text for q in asked), *(claim.statement for claim in claims)]
    known = frozenset(word for text in said for word in terms(text))
    return View(openness, wanted, known, lessons, served, is_doubting)


def served_families(run_config: RunConfig) -> dict[Family, float]:
    """How well the run's engines serve each family; papers are seldom among somebody's own documents."""
    named = [KNOWN[name].capabilities for name in run_config.engines if name in KNOWN]
    if run_config.academic or HYBRID in run_config.engines or any("academic" in able for able in named):
        return dict(_NO_MARKS)
    is_local = bool(run_config.docs) and not run_config.engines
    return {"web": 1.0, "academic": 0.3 if is_local else 0.7, "counter": 0.8 if is_local else 1.0}


def score(query: Query, at: View) -> float:
    """The worth of an idea of code's own, from 0 to 1; a query that cannot be asked is worth nothing."""
    able = feasibility(query, at.served)
    if not able:
        return 0.0
    value = _WEIGHTS["information"] * information(query, at) + _WEIGHTS["feasibility"] * able
    return max(0.0, value - _LESSON * discount(query.text, query.family, at.lessons))


def information(query: Query, at: View) -> float:
    """What may be learnt: an open sub-question, an important gap, words that nobody used yet."""
    words = terms(query.text)
    new = len(words - at.known) / len(words) if words else 0.0
    gap = at.wanted.get(query.question, _NO_GAP if at.openness.get(query.question, 1.0) > 0.5 else 0.2)
    value = 0.4 * at.openness.get(query.question, 0.5) + 0.3 * gap + 0.3 * new
    # Before anything is known there is nothing to speak against.
    return value if query.family != "counter" or at.is_doubting else 0.6 * value


def feasibility(query: Query, served: Mapping[Family, float] = _NO_MARKS) -> float:
    """Whether an engine can make something of it: its length, its operators, its family, no open place."""
    if has_place(query.text) or not terms(query.text):
        return 0.0
    words = len(query.text.split())
    if has_paired_script(query.text):
        length = 1.0 if len(query.text) <= _MANY_CHARS else 0.5
    else:
        length = 1.0 if _FEW_WORDS <= words <= _MANY_WORDS else 0.5
    operators = sum(query.text.count(mark) for mark in _OPERATORS)
    return served.get(query.family, 1.0) * length * (1.0 if operators <= 2 else 0.5)


def _openness(best: float | None) -> float:
    if best is None:
        return 1.0
    return 0.7 if best < ANSWERED_FROM else 0.3

"""Drop repeated queries, score the others by information and feasibility, and choose those of a round."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from fathom.evidence.checks import parse_text
from fathom.evidence.checks.roles import find_exchange, find_swapped_roles
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.planning.memory import lesson_discount
from fathom.planning.queries import QueryCandidate, detect_family, normalize_query
from fathom.planning.questions import has_placeholder
from fathom.planning.tree import PRIORITY_WEIGHTS, rank_arms
from fathom.search.routing import HYBRID, KNOWN_ENGINES
from fathom.state import Claim, Family, Gap, Lesson, Query, RunConfig, SubQuestion
from fathom.text.mentions import extract_numbers, is_negated
from fathom.text.ranking import jaccard_similarity, stem, terms
from fathom.text.similarity import embed, is_embeddable
from fathom.text.tokens import has_cjk, tokens

_NO_GAP = 0.4
_LESSON_WEIGHT = 0.2
_WEIGHTS = {"information": 0.6, "feasibility": 0.25}
_FEW_WORDS, _MANY_WORDS = 2, 16
_MANY_CHARS = 60  # in a script without spaces between words
_OPERATORS = ('"', "(", "site:", " OR ", " AND ", "*", "intitle:", "filetype:")
_ALL_SERVED: Mapping[Family, float] = {"web": 1.0, "academic": 1.0, "counter": 1.0}


@dataclass(frozen=True)
class ScoringContext:
    """What queries are scored against."""

    openness: Mapping[str, float]  # by sub-question: 1 without evidence, less with more
    wanted: Mapping[str, float]  # by sub-question: the priority of its gap
    known: frozenset[str]  # words asked or found before
    lessons: Sequence[Lesson] = ()
    served: Mapping[Family, float] = field(default_factory=lambda: dict(_ALL_SERVED))
    is_doubting: bool = False  # something is known, and should be tested


def make_scoring_context(
    questions: Sequence[SubQuestion],
    claims: Sequence[Claim],
    gaps: Sequence[Gap],
    asked: Sequence[Query],
    lessons: Sequence[Lesson] = (),
    served: Mapping[Family, float] = _ALL_SERVED,
    is_doubting: bool = False,
) -> ScoringContext:
    """Build the scoring context of a round."""
    best: dict[str, float] = {}
    for claim in claims:
        best[claim.question] = max(best.get(claim.question, 0.0), claim.relevance)
    openness = {q.id: _rate_openness(best.get(q.id)) for q in questions}
    wanted: dict[str, float] = {}
    for gap in gaps:
        wanted[gap.question] = max(wanted.get(gap.question, 0.0), PRIORITY_WEIGHTS[gap.priority])
    said = [*(q.text for q in asked), *(claim.statement for claim in claims)]
    known = frozenset(word for text in said for word in terms(text))
    return ScoringContext(openness, wanted, known, lessons, served, is_doubting)


def rate_families(run_config: RunConfig) -> dict[Family, float]:
    """Rate how well the run's engines serve each family; own documents seldom contain papers."""
    named = [KNOWN_ENGINES[name].capabilities for name in run_config.engines if name in KNOWN_ENGINES]
    if run_config.academic or HYBRID in run_config.engines or any("academic" in able for able in named):
        return dict(_ALL_SERVED)
    is_local = bool(run_config.docs) and not run_config.engines
    return {"web": 1.0, "academic": 0.3 if is_local else 0.7, "counter": 0.8 if is_local else 1.0}


def score_query(query: Query, at: ScoringContext) -> float:
    """Score a generated query from 0 to 1; 0 if it cannot be asked."""
    able = feasibility(query, at.served)
    if not able:
        return 0.0
    value = _WEIGHTS["information"] * information_gain(query, at) + _WEIGHTS["feasibility"] * able
    return max(0.0, value - _LESSON_WEIGHT * lesson_discount(query.text, query.family, at.lessons))


def information_gain(query: Query, at: ScoringContext) -> float:
    """Score what a query may teach: an open sub-question, an important gap, unused words."""
    words = terms(query.text)
    new = len(words - at.known) / len(words) if words else 0.0
    gap = at.wanted.get(query.question, _NO_GAP if at.openness.get(query.question, 1.0) > 0.5 else 0.2)
    value = 0.4 * at.openness.get(query.question, 0.5) + 0.3 * gap + 0.3 * new
    # Before anything is known, counter-evidence is worth less.
    return value if query.family != "counter" or at.is_doubting else 0.6 * value


def feasibility(query: Query, served: Mapping[Family, float] = _ALL_SERVED) -> float:
    """Score whether an engine can answer it: its length, operators and family, and no placeholder."""
    if has_placeholder(query.text) or not terms(query.text):
        return 0.0
    words = len(query.text.split())
    if has_cjk(query.text):
        length = 1.0 if len(query.text) <= _MANY_CHARS else 0.5
    else:
        length = 1.0 if _FEW_WORDS <= words <= _MANY_WORDS else 0.5
    operators = sum(query.text.count(mark) for mark in _OPERATORS)
    return served.get(query.family, 1.0) * length * (1.0 if operators <= 2 else 0.5)


def _rate_openness(best: float | None) -> float:
    if best is None:
        return 1.0
    return 0.7 if best < ANSWERED_FROM else 0.3


_RELEVANCE_WEIGHT = 0.7
_MIN_QUERIES = 3


def choose_queries(
    offered: Sequence[QueryCandidate], at: ScoringContext, limit: int, turn: Sequence[str]
) -> list[Query]:
    """Choose at most `limit` queries: the planner's first ones in order, with one for counter-evidence.

    Generated queries fill up: for an open sub-question without a query, and up to three in total.
    """
    own = [c for c in offered if c.origin == "model" and feasibility(c.query, at.served)]
    picked = _keep_one_doubt(own, at, limit) if limit > 1 else own[:limit]
    ideas = [c for c in offered if c.origin == "code" and score_query(c.query, at) > 0]
    if at.is_doubting and limit > 1 and not any(map(_is_counter, picked)):
        picked = [*picked[: limit - 1], *_best_idea([c for c in ideas if _is_counter(c)], picked, at)]
    for question in turn:
        if len(picked) < limit and not any(_is_for(c, question) for c in picked):
            picked = [*picked, *_best_idea([c for c in ideas if _is_for(c, question)], picked, at)]
    while len(picked) < min(limit, _MIN_QUERIES) and (idea := _best_idea(ideas, picked, at)):
        picked = [*picked, *idea]
    return [candidate.query for candidate in picked]


def _keep_one_doubt(own: Sequence[QueryCandidate], at: ScoringContext, limit: int) -> list[QueryCandidate]:
    """Return the first few; if none seeks counter-evidence, the next that does comes last."""
    first = list(own[:limit])
    if not at.is_doubting or any(map(_is_counter, first)):
        return first
    doubt = next((c for c in own[limit:] if _is_counter(c)), None)
    return [*first[: limit - 1], doubt] if doubt else first


def _best_idea(
    ideas: Sequence[QueryCandidate], picked: Sequence[QueryCandidate], at: ScoringContext
) -> list[QueryCandidate]:
    """Return the best generated query by maximal marginal relevance, if any."""
    bags = [terms(c.query.text) for c in picked]

    def marginal(candidate: QueryCandidate) -> float:
        nearest = max((jaccard_similarity(terms(candidate.query.text), bag) for bag in bags), default=0.0)
        return _RELEVANCE_WEIGHT * score_query(candidate.query, at) - (1 - _RELEVANCE_WEIGHT) * nearest

    left = [c for c in ideas if c not in picked]
    return [max(left, key=marginal)] if left else []


def order_open_questions(
    open_ids: Sequence[str], asked: Sequence[Query], claims: Sequence[Claim], wanted: Mapping[str, float]
) -> list[str]:
    """Rank open sub-questions by upper confidence bound, ties by priority.

    A sub-question that stayed empty however often it was asked is left out while another is open.
    """
    arms = rank_arms(open_ids, asked, claims)
    ranked = sorted(arms, key=lambda arm: (-arm.bound, -wanted.get(arm.id, 0.0)))
    return [arm.id for arm in ranked if not arm.is_pruned]


def _is_for(candidate: QueryCandidate, question: str) -> bool:
    return candidate.query.question == question and not _is_counter(candidate)


def _is_counter(candidate: QueryCandidate) -> bool:
    return candidate.query.family == "counter"


_SAME_COSINE = 0.90
_SAME_WORDS = 0.80  # of the words, without vectors
_SYNONYM_COSINE = 0.50
_RELATED_COSINE = 0.35
_FILLERS = frozenset(
    "fact detail information info guide overview explain late new recent full basic".split()  # noqa: SIM905
)
_ASKS_WHOM = re.compile(r"(?:who|whom)\s+(?:\w+\s+)?(?:did|does|do)\b", re.IGNORECASE)


def drop_repeats(offered: Sequence[Query], asked: Sequence[Query]) -> list[Query]:
    """Return the queries that repeat neither an asked query nor one earlier in the list."""
    kept: list[Query] = []
    past = [q.text for q in asked]
    vectors = embed([q.text for q in offered] + past)
    alike = vectors[: len(offered)] @ vectors.T
    places: list[int] = []
    for place, query in enumerate(offered):
        rivals = [*places, *range(len(offered), len(vectors))]
        texts = [q.text for q in kept] + past
        if query.text.strip() and not any(
            _is_same(query.text, text, float(alike[place, rival]))
            for rival, text in zip(rivals, texts, strict=True)
        ):
            kept.append(query)
            places.append(place)
    return kept


def _is_same(query: str, other: str, cosine: float) -> bool:
    if normalize_query(query) == normalize_query(other):
        return True
    left, right = _key_words(query), _key_words(other)
    if left == right:
        return not _has_different_sense(query, other)
    if is_embeddable(query) and is_embeddable(other):
        return (
            cosine > _SAME_COSINE and not _has_different_sense(query, other) and _are_synonyms(query, other)
        )
    return jaccard_similarity(left, right) > _SAME_WORDS and not _has_different_sense(query, other)


@lru_cache(maxsize=512)
def _key_words(text: str) -> set[str]:
    """Return the content words; cached, since long runs compare the same queries again and again."""
    return terms(text) - _FILLERS


def _has_different_sense(query: str, other: str) -> bool:
    """Tell whether the guards see a difference that similarity misses."""
    return (
        sorted(extract_numbers(query)) != sorted(extract_numbers(other))
        or is_negated(query) != is_negated(other)
        or detect_family(query) != detect_family(other)
        or _has_other_roles(query, other)
    )


def _has_other_roles(query: str, other: str) -> bool:
    """Tell whether words have changed places: who did it to whom, what is more than what."""
    one, two = parse_text(query), parse_text(other)
    if ("by" in one.low.split()) != ("by" in two.low.split()):
        return True
    is_whom = bool(_ASKS_WHOM.match(query)) != bool(_ASKS_WHOM.match(other))
    return is_whom or bool(find_swapped_roles(one, [two])) or find_exchange(query, other) is not None


def _are_synonyms(query: str, other: str) -> bool:
    """Tell whether the words that only one of them has are synonyms or fillers."""
    left, right = terms(query) - terms(other), terms(other) - terms(query)
    if left and right:
        return _cosine(_words_with_stems(left, query), _words_with_stems(right, other)) >= _SYNONYM_COSINE
    extra = (left | right) - _FILLERS
    longer = query if left else other
    return (
        not extra
        or _cosine(_words_with_stems(extra, longer), _words_with_stems(terms(longer) - extra, longer))
        >= _RELATED_COSINE
    )


def _words_with_stems(stems: set[str], text: str) -> str:
    """Return the words of the text with these stems."""
    return " ".join(word for word in tokens(text) if stem(word) in stems)


def _cosine(left: str, right: str) -> float:
    one, two = embed([left, right])
    return float(one @ two)

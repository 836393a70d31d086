"""Detect queries that ask the same: similarity above 0.90, with guards for what similarity misses.

Numbers, negation, reversed roles and replaced words distinguish queries with nearly equal vectors. Korean has
no vectors here and is compared by shared words.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from fathom.planning.queries import detect_family, normalize_query
from fathom.state import Query
from fathom.text.embedding import embed, is_embeddable
from fathom.text.mentions import extract_numbers, is_negated
from fathom.text.ranking import jaccard_similarity, stem, terms
from fathom.text.tokens import STOP_WORDS, tokens

_SAME_COSINE = 0.90

_SAME_WORDS = 0.80  # of the words, without vectors

_SYNONYM_COSINE = 0.50

_RELATED_COSINE = 0.35

_DIRECTION_WORDS = frozenset(
    ["than", "over", "versus", "vs", "to", "from", "by", "against", "into", "on", "before", "after"]
)

_FILLERS = frozenset(
    [
        "fact",
        "detail",
        "information",
        "info",
        "guide",
        "overview",
        "explain",
        "late",
        "new",
        "recent",
        "full",
        "basic",
    ]
)

_ASKS_WHOM = re.compile(r"(?:who|whom)\s+(?:\w+\s+)?(?:did|does|do)\b", re.IGNORECASE)

_ROLES = (
    ("than", re.compile(r"보다$")),
    ("from", re.compile(r"(?:에서|부터)$")),
    ("to", re.compile(r"(?:에게|으로|까지|로)$")),
    ("object", re.compile(r"[을를]$")),
    ("subject", re.compile(r"[은는이가]$")),
)


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
        or _is_turned_round(query, other)
        or _has_other_roles(query, other)
    )


def _is_turned_round(query: str, other: str) -> bool:
    """Tell whether the words before and after some word have changed places."""
    left, right = _sequence(query), _sequence(other)
    if ("by" in left) != ("by" in right) or bool(_ASKS_WHOM.match(query)) != bool(_ASKS_WHOM.match(other)):
        return True
    for word in set(left) & set(right):
        a, b = left.index(word), right.index(word)
        moved_back = set(left[:a]) & set(right[b + 1 :])
        moved_front = set(left[a + 1 :]) & set(right[:b])
        if moved_back and moved_front:
            return True
    return False


def _sequence(text: str) -> list[str]:
    return [stem(word) for word in tokens(text) if word not in STOP_WORDS or word in _DIRECTION_WORDS]


def _has_other_roles(query: str, other: str) -> bool:
    """Tell whether a Korean word is the subject in one query and the object in the other."""
    left, right = _roles(query), _roles(other)
    return any(left[word] != right[word] for word in left.keys() & right.keys())


def _roles(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in re.findall(r"[가-힣]{2,}", text):
        for role, ending in _ROLES:
            if ending.search(word):
                found[ending.sub("", word)] = role
                break
    return found


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

"""The passages of a page that a model gets to see.

Does not know models; it is told how many tokens there is room for.
"""

from collections.abc import Sequence

from fathom.text.embedding import embed, is_embeddable
from fathom.text.fitting import Count, cut_to
from fathom.text.passages import passages as split_passages
from fathom.text.ranking import bm25
from fathom.text.tokencount import token_count

PAGE_TOKENS = 7_000  # an article of usual length: some 25,000 characters of English, 9,000 of Korean
_RRF = 60
_NEIGHBOUR = 0.3
_MOST_CHARS = 16  # a token is never that long over a whole page; what is longer need not be counted
_LEAST_ROOM = 16


def best_passages(
    text: str, questions: Sequence[str], max_tokens: int, count: Count = token_count
) -> list[str]:
    """As many passages as there is room for, those that fit the questions best, in the page's order.

    Each question ranks them by shared words and by meaning; the ranks are fused, and what stands beside a
    good passage counts a little too, because an answer often begins or ends there.
    """
    if len(text) <= _MOST_CHARS * max_tokens and count(text) <= max_tokens:
        return [text]
    found = list(split_passages(text))
    scores = _fused([*bm25(questions, found), *_by_meaning(questions, found)], len(found))
    beside = [max(scores[max(0, n - 1) : n] + scores[n + 1 : n + 2], default=0.0) for n in range(len(found))]
    worth = [own + _NEIGHBOUR * near for own, near in zip(scores, beside, strict=True)]
    chosen, room = set(), max_tokens
    ranked = sorted(range(len(found)), key=lambda n: -worth[n])
    for place in ranked:
        if room < _LEAST_ROOM:
            break
        if (cost := count(found[place])) <= room:
            chosen.add(place)
            room -= cost
    if not chosen and ranked:  # not even the best one fits: its beginning does
        return [part] if (part := cut_to(found[ranked[0]], max_tokens, count)) else []
    return [found[place] for place in sorted(chosen)]


def _by_meaning(questions: Sequence[str], found: Sequence[str]) -> list[list[float]]:
    asked = [question for question in questions if is_embeddable(question)]
    if not asked:
        return []
    rows: list[list[float]] = (embed(asked) @ embed(found).T).tolist()
    return rows


def _fused(rankings: Sequence[Sequence[float]], count: int) -> list[float]:
    """Reciprocal rank fusion; what has nothing in common with a question gets nothing from its ranking."""
    fused = [0.0] * count
    for row in rankings:
        ranked = sorted(range(count), key=lambda n: -row[n])
        for rank, place in enumerate(ranked, start=1):
            fused[place] += 1 / (_RRF + rank) if row[place] > 0 else 0.0
    return fused

"""Score how well short texts answer a question, 0 to 1: shared words by rarity, and semantic similarity.

Weights are summed in word order: set order differs between processes, and with it the last digit of a sum and
the order of ties.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

import numpy as np

from fathom.text.sentences import split_passages
from fathom.text.similarity import embed, is_embeddable
from fathom.text.token_count import CountTokens, count_tokens, truncate_to_tokens
from fathom.text.tokens import has_cjk, query_terms, tokens

_MEANING = 0.45
_K1, _B = 1.2, 0.75

# Words of questions that do not occur in answers.
_ASKING_WORDS = frozenset(
    """happen happens happened work works working mean means explain describe tell give list example examples
    way ways kind kinds many much exactly actually possible 설명 방법 경우""".split()  # noqa: SIM905
)
_ENDING = re.compile(r"(?:ations?|ing|edly|ed|ies|es|s|ly|ence|ance|ment|e)$")
_KOREAN_ENDING = re.compile(
    r"(?<=[가-힣]{2})(?:은|는|이|가|을|를|의|에|에서|에게|으로|로|와|과|도|만|까지|부터|이란|란|하는|되는|한|된"
    r"|(?:하|되|했|됐|한|된|있|없|이)?(?:는가|은가|ㄴ가|인가|나요|는지|니까|습니까|습니다|한다|된다|다))(?=[\s?.!,]|$)"
)

_KOREAN_ASKING = re.compile(
    r"(?<![가-힣])(?:얼마|무엇|무슨|어떻게|어떤|어디|언제|누구|누가|왜|어째서|몇)[가-힣]*"
    r"|(?<![가-힣])(?:(?:되어|돼|하고)\s*)?있(?:나|나요|는가|는지|습니까)(?=[\s?.!,]|$)|(?<=[가-힣])가(?=\s*\?)"
)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Strip the commonest endings of an English word; other words stay."""
    if not word.isascii() or len(word) < 5:
        return word
    cut = _ENDING.sub("", word)
    return cut if len(cut) >= 3 else word


def terms(text: str) -> set[str]:
    """Return the content words of a text, stemmed; Korean words without particles."""
    return set(_terms(text))


@lru_cache(maxsize=4096)  # long runs compare the same statements and queries in every round
def _terms(text: str) -> frozenset[str]:
    bare = _KOREAN_ENDING.sub("", _KOREAN_ASKING.sub(" ", text)) if has_cjk(text) else text
    words = query_terms(bare) or query_terms(text)
    telling = frozenset(stem(word) for word in words if word not in _ASKING_WORDS)
    return telling or frozenset(map(stem, words))


def jaccard_similarity(left: Set[str], right: Set[str]) -> float:
    """Return the share of words two texts have in common (Jaccard)."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def score_relevance(questions: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
    """Score for each question how well each text answers it."""
    bags = [{stem(w) for w in tokens(text)} for text in texts]
    rarity = _count_documents(bags)
    lexical = [_score_coverage(terms(question), bags, rarity) for question in questions]
    if not texts or not questions or not all(map(is_embeddable, questions)):
        return lexical
    alike = (embed(questions) @ embed(texts).T).clip(min=0).astype(float)
    rows: list[list[float]] = ((1 - _MEANING) * np.array(lexical) + _MEANING * alike).tolist()
    return rows


def bm25(questions: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
    """Return the BM25 score of each text for each question."""
    bags = [Counter(map(stem, tokens(text))) for text in texts]
    lengths = [sum(bag.values()) for bag in bags]
    usual = sum(lengths) / len(lengths) if any(lengths) else 1.0
    norms = [_K1 * (1 - _B + _B * length / usual) for length in lengths]
    known = _count_documents(bags)

    def row(wanted: set[str]) -> list[float]:
        weights = {
            t: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for t in sorted(wanted) if (n := known[t])
        }
        return [
            sum(w * bag[t] * (_K1 + 1) / (bag[t] + norm) for t, w in weights.items() if t in bag)
            for bag, norm in zip(bags, norms, strict=True)
        ]

    return [row(terms(question)) for question in questions]


def _count_documents(bags: Iterable[Iterable[str]]) -> Counter[str]:
    counts: Counter[str] = Counter(word for bag in bags for word in bag)
    return counts


def _score_coverage(wanted: set[str], bags: Sequence[set[str]], counts: Counter[str]) -> list[float]:
    """Return the share of wanted words in each text, weighted by rarity."""
    weights = {w: math.log(1 + (len(bags) + 1) / (counts[w] + 0.5)) for w in sorted(wanted) if counts[w]}
    # A word the page never uses gets an average weight.
    usual = sum(weights.values()) / len(weights) if weights else 1.0
    total = sum(weights.values()) + usual * (len(wanted) - len(weights))
    return [sum(w for t, w in weights.items() if t in bag) / total if total else 0.0 for bag in bags]


PAGE_TOKENS = 7_000  # an article of usual length: about 25,000 characters of English, 9,000 of Korean
_RANK_FUSION = 60
_NEIGHBOUR_SHARE = 0.3
_MAX_TOKEN_CHARS = 16  # upper bound of a token's average length; longer text need not be counted
_LEAST_ROOM = 16


def best_passages(
    text: str, questions: Sequence[str], max_tokens: int, count: CountTokens = count_tokens
) -> list[str]:
    """Return the passages that fit the questions best within the limit, in page order.

    Each question ranks them by shared words and by similarity; the ranks are fused. Neighbours of a good
    passage gain a little, since answers often start or end there.
    """
    if len(text) <= _MAX_TOKEN_CHARS * max_tokens and count(text) <= max_tokens:
        return [text]
    found = list(split_passages(text))
    scores = _fuse_ranks([*bm25(questions, found), *_meaning_scores(questions, found)], len(found))
    beside = [max(scores[max(0, n - 1) : n] + scores[n + 1 : n + 2], default=0.0) for n in range(len(found))]
    worth = [own + _NEIGHBOUR_SHARE * near for own, near in zip(scores, beside, strict=True)]
    chosen, room = set(), max_tokens
    ranked = sorted(range(len(found)), key=lambda n: -worth[n])
    for place in ranked:
        if room < _LEAST_ROOM:
            break
        if (cost := count(found[place])) <= room:
            chosen.add(place)
            room -= cost
    if not chosen and ranked:  # not even the best one fits: use its beginning
        return [part] if (part := truncate_to_tokens(found[ranked[0]], max_tokens, count)) else []
    return [found[place] for place in sorted(chosen)]


def _meaning_scores(questions: Sequence[str], found: Sequence[str]) -> list[list[float]]:
    asked = [question for question in questions if is_embeddable(question)]
    if not asked:
        return []
    rows: list[list[float]] = (embed(asked) @ embed(found).T).tolist()
    return rows


def _fuse_ranks(rankings: Sequence[Sequence[float]], count: int) -> list[float]:
    """Fuse ranks reciprocally; a passage without anything in common with a question gains nothing from it."""
    fused = [0.0] * count
    for row in rankings:
        ranked = sorted(range(count), key=lambda n: -row[n])
        for rank, place in enumerate(ranked, start=1):
            fused[place] += 1 / (_RANK_FUSION + rank) if row[place] > 0 else 0.0
    return fused

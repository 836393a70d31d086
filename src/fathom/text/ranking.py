"""How well short texts answer a question, from 0 to 1: shared words by rarity, and meaning where it helps.

Does not know pages or claims. Weights are added up in the order of their words: a set has another order, and
a sum of floats another last digit, in every process, and so would be which of two equals comes first.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

from fathom.text.embedding import embed, is_embeddable
from fathom.text.tokens import has_paired_script, query_terms, tokens

_MEANING = 0.45
_HEADING_SHARE = 0.5
_K1, _B = 1.2, 0.75
# Words that questions are made of and answers are not.
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
    """An English word without its commonest endings; other words as they are."""
    if not word.isascii() or len(word) < 5:
        return word
    cut = _ENDING.sub("", word)
    return cut if len(cut) >= 3 else word


def terms(text: str) -> set[str]:
    """The telling words of a text, stemmed; Korean words without their endings."""
    return set(_terms(text))


@lru_cache(maxsize=20_000)  # a long run compares the same statements and queries in every round
def _terms(text: str) -> frozenset[str]:
    bare = _KOREAN_ENDING.sub("", _KOREAN_ASKING.sub(" ", text)) if has_paired_script(text) else text
    words = query_terms(bare) or query_terms(text)
    telling = frozenset(stem(word) for word in words if word not in _ASKING_WORDS)
    return telling or frozenset(map(stem, words))


def likeness(left: Set[str], right: Set[str]) -> float:
    """The share of words two texts have in common (Jaccard)."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


def relevance(
    questions: Sequence[str], texts: Sequence[str], contexts: Sequence[str] = ()
) -> list[list[float]]:
    """For each question, how well each text answers it; a word in a text's context counts half."""
    bags = [{stem(w) for w in tokens(text)} for text in texts]
    around = [{stem(w) for w in tokens(context)} for context in contexts] or [set[str]() for _ in texts]
    rarity = _rarity(bags)
    lexical = [_covered(terms(question), bags, around, rarity) for question in questions]
    if not texts or not all(is_embeddable(q) for q in questions):
        # With nothing but words to go by, a context may strengthen a text but not speak for it.
        return [
            [score if wanted & bag else 0.0 for score, bag in zip(row, bags, strict=True)]
            for row, wanted in zip(lexical, map(terms, questions), strict=True)
        ]
    alike = embed(questions) @ embed(texts).T
    return [
        [
            (1 - _MEANING) * words + _MEANING * max(0.0, float(meaning))
            for words, meaning in zip(a, b, strict=True)
        ]
        for a, b in zip(lexical, alike, strict=True)
    ]


def bm25(questions: Sequence[str], texts: Sequence[str]) -> list[list[float]]:
    """For each question the BM25 score of each text among the others."""
    bags = [Counter(map(stem, tokens(text))) for text in texts]
    lengths = [sum(bag.values()) for bag in bags]
    usual = sum(lengths) / len(lengths) if any(lengths) else 1.0
    norms = [_K1 * (1 - _B + _B * length / usual) for length in lengths]
    known = _rarity(bags)

    def row(wanted: set[str]) -> list[float]:
        weights = {
            t: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for t in sorted(wanted) if (n := known[t])
        }
        return [
            sum(w * bag[t] * (_K1 + 1) / (bag[t] + norm) for t, w in weights.items() if t in bag)
            for bag, norm in zip(bags, norms, strict=True)
        ]

    return [row(terms(question)) for question in questions]


def _rarity(bags: Iterable[Iterable[str]]) -> Counter[str]:
    counts: Counter[str] = Counter(word for bag in bags for word in bag)
    return counts


def _covered(
    wanted: set[str], bags: Sequence[set[str]], around: Sequence[set[str]], counts: Counter[str]
) -> list[float]:
    """The share of the wanted words that each text has, rare words weighing more."""
    weights = {w: math.log(1 + (len(bags) + 1) / (counts[w] + 0.5)) for w in sorted(wanted) if counts[w]}
    # A word the page never uses is missing evidence, but no more telling than the words it does use.
    usual = sum(weights.values()) / len(weights) if weights else 1.0
    total = sum(weights.values()) + usual * (len(wanted) - len(weights))
    if not total:
        return [0.0] * len(bags)
    return [
        sum(w * (1.0 if t in bag else _HEADING_SHARE if t in near else 0.0) for t, w in weights.items())
        / total
        for bag, near in zip(bags, around, strict=True)
    ]

"""How far quotes carry a statement, from 0 to 1, judged without a model: a weighted sum of a few plain signs.

Does not know what is refused outright: that is what `flaws` says; only a number, a date or a "not" that the
best two sentences do not have makes it nothing here too. The weights were fitted on a benchmark, and
docs/log.md says how well they do on claims they were not fitted on. Korean has no word vectors here: its
words decide.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from fathom.evidence.flaws import flaws_by_kind
from fathom.evidence.words import Text, covered, parsed, split
from fathom.text.embedding import embed, is_embeddable, rarity
from fathom.text.ranking import stem, terms
from fathom.text.tokens import tokens

SUPPORTED_FROM = 0.7
WEIGHTS = {"rare words": 2.8, "side by side": 1.26, "likeness": 2.13, "size": -0.14}
_BIAS = -3.43
# Where the weighted sum, as a chance, is cut: chosen on the benchmark for a precision of three in four.
_CUT = 0.46
_FATAL = {"a number", "a date", "a negation"}
_COMMON = 5.0


def support(statement: str, quotes: Sequence[str]) -> float:
    """How far the quotes carry it; from `SUPPORTED_FROM` on it counts as carried."""
    said = parsed(statement)
    sentences = [text for quote in quotes for text in split(quote)]
    told = [text for text in sentences if not text.text.endswith("?")] or sentences
    if not said.telling or not told:
        return 0.0
    pairs = [list(pair) for pair in pairwise(told)]
    windows = [[text] for text in told] + pairs
    if not is_embeddable(statement):
        best = max(windows, key=lambda window: (covered(said, window), -_length(window)))
        return 0.0 if _is_fatal(statement, best) else covered(said, best)
    found = signs(statement, told, windows)
    chance = 1 / (1 + math.exp(-(_BIAS + sum(WEIGHTS[name] * value for name, value in found.items()))))
    best = max(windows, key=lambda window: (_share(statement, window), -_length(window)))
    return 0.0 if _is_fatal(statement, best) else float(chance ** (math.log(SUPPORTED_FROM) / math.log(_CUT)))


def signs(statement: str, told: Sequence[Text], windows: Sequence[Sequence[Text]]) -> dict[str, float]:
    """What speaks for it: its rare words, those within two sentences running, and the likest words."""
    texts = [" ".join(text.text for text in window) for window in windows]
    vectors = embed([statement, *texts])
    return {
        "rare words": _share(statement, told),
        "side by side": max(_share(statement, window) for window in windows) ** 8,
        "likeness": max(0.0, float((vectors[1:] @ vectors[0]).max())),
        "size": math.log1p(sum(_weights(statement).values())),
    }


def _share(statement: str, texts: Sequence[Text]) -> float:
    """The share of its telling words that the texts have, by how rare they are."""
    weights = _weights(statement)
    had = {stem(word) for text in texts for word in tokens(text.text)}
    return sum(weight for word, weight in weights.items() if word in had) / (sum(weights.values()) or 1.0)


def _weights(statement: str) -> dict[str, float]:
    written = {stem(word): word for word in tokens(statement)}
    return {term: max(0.5, rarity(written.get(term, term)) - _COMMON) for term in terms(statement)}


def _length(window: Sequence[Text]) -> int:
    return sum(len(text.words) for text in window)


def _is_fatal(statement: str, window: Sequence[Text]) -> bool:
    found = flaws_by_kind(statement, [" ".join(text.text for text in window)])
    return not _FATAL.isdisjoint(found)

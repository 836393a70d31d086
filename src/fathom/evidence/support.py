"""How far quotes carry a statement, from 0 to 1, judged without a model: a weighted sum of a few plain signs.

Does not know what is refused outright: that is what `flaws` says; only a number, a date, a "not" or a "C#"
that the best two sentences do not have makes it nothing here too. The weights were fitted on a benchmark, and
docs/log.md says how well they do on claims they were not fitted on. Korean has no word vectors here: its
words decide.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from fathom.evidence.flaws import flaws_by_kind
from fathom.evidence.negation import negated
from fathom.evidence.words import Text, covered, parsed, same, split
from fathom.text.embedding import embed, is_embeddable, rarity
from fathom.text.ranking import stem, terms
from fathom.text.tokens import tokens

SUPPORTED_FROM = 0.7
WEIGHTS = {
    "rare words": 1.17,
    "in one sentence": 0.77,
    "likeness": 1.77,
    "its end": 0.75,
    "rarest missing": -0.13,
    "comparison missing": -0.77,
    "denied": -1.76,
}
_BIAS = -2.48
# Where the weighted sum, as a chance, is cut: chosen on the benchmark for a precision of three in four.
_CUT = 0.43
_FATAL = {"a number", "a date", "a negation"}
_COMMON = 5.0
_COMPARING = re.compile(
    r"\b(?:than|more|less|fewer|most|least|best|worst|only|first|last"
    r"|(?!interest|forest|request|harvest|protest|contest|honest|suggest|modest|arrest|digest|invest)[a-z]{3,}est)\b"
)
# Names that a mark tells apart, and that words alone would take for each other: "C", "C#", "C++".
_MARKED = re.compile(r"\b\w+[+#]+(?!\w)")


def support(statement: str, quotes: Sequence[str]) -> float:
    """How far the quotes carry it; from `SUPPORTED_FROM` on it counts as carried."""
    said = parsed(statement)
    sentences = [text for quote in quotes for text in split(quote)]
    told = [text for text in sentences if not text.text.endswith("?")] or sentences
    if not said.telling or not told:
        return 0.0
    windows = [*([text] for text in told), *(list(pair) for pair in pairwise(told))]
    if not is_embeddable(statement):
        best = max(windows, key=lambda window: (covered(said, window), -_length(window)))
        return 0.0 if _is_fatal(statement, best) else covered(said, best)
    weights = _weights(statement)
    best = max(windows, key=lambda window: (_share(weights, window), -_length(window)))
    if _is_fatal(statement, best):
        return 0.0
    found = signs(statement, told, best)
    chance = 1 / (1 + math.exp(-(_BIAS + sum(WEIGHTS[name] * value for name, value in found.items()))))
    return float(chance ** (math.log(SUPPORTED_FROM) / math.log(_CUT)))


def signs(statement: str, told: Sequence[Text], best: Sequence[Text]) -> dict[str, float]:
    """What speaks for it and against it in what is told; `best` are the sentences with most of its words."""
    weights = _weights(statement)
    pairs = [f"{one.text} {other.text}" for one, other in pairwise(told)]
    vectors = embed([statement, *(text.text for text in told), *pairs])
    known = _words(" ".join(text.text for text in told))
    return {
        "rare words": _share(weights, told),
        "in one sentence": max(_share(weights, [text]) for text in told),
        "likeness": max(0.0, float((vectors[1:] @ vectors[0]).max())),
        "its end": _end(statement, known),
        "rarest missing": max((weight for word, weight in weights.items() if word not in known), default=0.0),
        "comparison missing": float(not _comparing([parsed(statement)]) <= _comparing(best)),
        "denied": _denied(parsed(statement), told),
    }


def _share(weights: dict[str, float], texts: Sequence[Text]) -> float:
    """The share of its telling words that the texts have, by how rare they are."""
    had = set[str]().union(*(_words(text.text) for text in texts))
    return sum(weight for word, weight in weights.items() if word in had) / (sum(weights.values()) or 1.0)


def _weights(statement: str) -> dict[str, float]:
    """Its telling words, each with how rare it is."""
    written = {stem(word): word for word in tokens(statement)}
    return {term: max(0.5, rarity(written.get(term, term)) - _COMMON) for term in terms(statement)}


def _words(text: str) -> set[str]:
    return {stem(word) for word in tokens(text)}


def _end(statement: str, known: set[str]) -> float:
    """How much of what it ends with is known: it begins with what it is about, and that is easily found."""
    telling = terms(statement)
    words = dict.fromkeys(word for word in map(stem, tokens(statement)) if word in telling)
    last = [word in known for word in [*words][-2:]]
    return sum(last) / len(last) if last else 1.0


def _comparing(texts: Sequence[Text]) -> set[str]:
    """The words by which things are compared or ranked."""
    return {word for text in texts for word in _COMPARING.findall(text.low)}


def _denied(said: Text, told: Sequence[Text]) -> float:
    """The share of its words that what is told negates somewhere, and it does not."""
    own = {word for reach in negated(said) for word in reach}
    theirs = {word for text in told for reach in negated(text) for word in reach}
    denied = {key for key in said.keys - own if any(same(key, word) for word in theirs)}
    return len(denied) / max(1, len(said.keys))


def _length(window: Sequence[Text]) -> int:
    return sum(len(text.words) for text in window)


def _is_fatal(statement: str, window: Sequence[Text]) -> bool:
    told = " ".join(text.text for text in window)
    is_other = not set(_MARKED.findall(statement)) <= set(_MARKED.findall(told))
    return is_other or not _FATAL.isdisjoint(flaws_by_kind(statement, [told]))

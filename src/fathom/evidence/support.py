"""Score how far quotes support a statement, 0 to 1, without a model: a weighted sum of simple signs.

A number, date, negation or "C#" that the best two sentences lack makes the score 0. The weights were fitted
on a benchmark; docs/log.md has the results on other claims. Korean has no word vectors here: its words
decide.
"""

import math
import re
from collections.abc import Sequence
from itertools import pairwise

from fathom.evidence.checks import (
    ParsedText,
    is_same_word,
    load_table,
    measure_coverage,
    parse_sentences,
    parse_text,
    phrase_pattern,
)
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.negation import find_negations
from fathom.evidence.checks.strict import find_amounts, find_flaws, find_flaws_by_kind
from fathom.evidence.statement_pairs import find_denial
from fathom.text.mentions import extract_numbers, is_negated
from fathom.text.ranking import stem, terms
from fathom.text.similarity import embed, is_embeddable, word_rarity
from fathom.text.tokens import STOP_WORDS, has_cjk, tokens

_FAR = 0.5  # of its content words: "The mayor was arrested" shares half with "The mayor opened a park"
_FAR_WITH_FIGURES = 0.33  # lower with an agreeing figure, which ties it to its quotes
_LEAD_IN = re.compile(r"^(?P<words>[^,:;.!?]{1,70}?)(?:[,:;]\s+|\s+that\s+|:\s*)")
_ADVERB = re.compile(
    r"^(?:indeed|in fact|actually|also|moreover|furthermore|notably|overall|clearly|certainly|however|thus|"
    r"therefore|likewise|similarly|실제로|사실|또한|한편|그러나|하지만|참고로|특히|즉)[,:]?\s+"
    r"|^(?:(?:한|여러|두|이|그|다른)\s+)?(?:출처|자료|보고서?|연구|근거)들?에\s*(?:따르면|의하면),?\s+",
    re.IGNORECASE,
)
_REPORTING_WORDS = frozenset(load_table("connectives")["reporting"].split())


def find_unsupported(statement: str, quotes: Sequence[str]) -> list[str]:
    """Return short reasons why the quotes do not support the statement; none if code finds nothing."""
    found = find_unsupported_by_kind(statement, quotes)
    return list(dict.fromkeys(reason for reasons in found.values() for reason in reasons))


def find_unsupported_by_kind(statement: str, quotes: Sequence[str]) -> dict[str, list[str]]:
    """Return the same reasons by kind."""
    found = find_flaws_by_kind(statement, quotes)
    bare = strip_lead_in(statement)
    if bare != statement:
        found |= {
            kind: [*found.get(kind, []), *more] for kind, more in find_flaws_by_kind(bare, quotes).items()
        }
    if not found and _is_far(bare, quotes):
        found["most of its words"] = ["most of its words are not in its quotes"]
    return found


def find_contradicting_quote(statement: str, quotes: Sequence[str]) -> str:
    """Return why the quotes of one claim contradict the statement; "" if they do not.

    An omission is no contradiction: another claim may support it.
    """
    if not find_flaws(statement, quotes):
        return ""
    bare = strip_lead_in(statement)
    parts = [part.text for quote in quotes for part in parse_sentences(quote)]
    return next((why for part in parts if (why := find_denial(bare, part))), "")


def strip_lead_in(sentence: str) -> str:
    """Remove a lead-in without content, such as "According to one source,"."""
    bare = sentence
    while True:
        cut = _ADVERB.sub("", bare, count=1)
        if (lead := _LEAD_IN.match(cut)) and _says_nothing(lead):
            cut = cut[lead.end() :]
        if cut == bare or not cut:
            return bare
        bare = cut


def _says_nothing(lead: re.Match[str]) -> bool:
    """Tell whether a lead-in has no content; text before a colon is never part of the statement."""
    words = re.findall(r"\w+", lead["words"].lower())
    return ":" in lead.group() or all(word in STOP_WORDS or word in _REPORTING_WORDS for word in words)


def _is_far(sentence: str, quotes: Sequence[str]) -> bool:
    quoted = " ".join(quotes)
    is_one_language = has_cjk(sentence) == has_cjk(quoted)
    limit = _FAR_WITH_FIGURES if find_amounts(sentence) or find_dates(sentence) else _FAR
    shared = measure_coverage(parse_text(sentence), [parse_text(quote) for quote in quotes])
    return is_one_language and shared <= limit


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MOST_WORDS = 16
_ENGLISH_CONNECTIVES = frozenset(load_table("connectives")["english"].split())
_ASSERTING = frozenset("can could should will would must may might cannot".split())  # noqa: SIM905
_KOREAN_CONNECTIVES = tuple(load_table("connectives")["korean"].split())
_LONGEST_ENDING = 4


def is_connective(sentence: str) -> bool:
    """Tell whether it consists only of connective words, and has at least one."""
    words = [found.group().lower() for found in _WORD.finditer(sentence)]
    if extract_numbers(sentence) or is_negated(sentence) or len(words) > _MOST_WORDS:
        return False
    content = [word for word in words if word not in STOP_WORDS or word in _ASSERTING]
    return bool(content) and all(_is_connecting_word(word) for word in content)


def _is_connecting_word(word: str) -> bool:
    if word.isascii():
        return word in _ENGLISH_CONNECTIVES
    return any(
        word.startswith(known) and len(word) <= len(known) + _LONGEST_ENDING for known in _KOREAN_CONNECTIVES
    )


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

# Threshold of the weighted sum as a probability: chosen on the benchmark for a precision of 75 %.
_CUT = 0.43
_FATAL = {"a number", "a date", "a negation"}
_COMMON = 5.0

# Names that differ only in a mark: "C", "C#", "C++".
_MARKED = re.compile(r"\b\w+[+#]+(?!\w)")


def score_support(statement: str, quotes: Sequence[str]) -> float:
    """Score how far the quotes support it; from `SUPPORTED_FROM` on it counts as supported."""
    said = parse_text(statement)
    sentences = [text for quote in quotes for text in parse_sentences(quote)]
    declarative = [text for text in sentences if not text.text.endswith("?")] or sentences
    if not said.content_words or not declarative:
        return 0.0
    windows = [*([text] for text in declarative), *(list(pair) for pair in pairwise(declarative))]
    if not is_embeddable(statement):
        best = max(windows, key=lambda window: (measure_coverage(said, window), -_count_words(window)))
        return 0.0 if _is_fatal(statement, best) else measure_coverage(said, best)
    weights = _weigh_words(statement)
    best = max(windows, key=lambda window: (_weighted_share(weights, window), -_count_words(window)))
    if _is_fatal(statement, best):
        return 0.0
    found = compute_support_signs(statement, declarative, best)
    chance = 1 / (1 + math.exp(-(_BIAS + sum(WEIGHTS[name] * value for name, value in found.items()))))
    return float(chance ** (math.log(SUPPORTED_FROM) / math.log(_CUT)))


def compute_support_signs(
    statement: str, texts: Sequence[ParsedText], best: Sequence[ParsedText]
) -> dict[str, float]:
    """Compute the signs for and against it; `best` are the sentences with most of its words."""
    weights = _weigh_words(statement)
    pairs = [f"{one.text} {other.text}" for one, other in pairwise(texts)]
    vectors = embed([statement, *(text.text for text in texts), *pairs])
    known = _stem_words(" ".join(text.text for text in texts))
    return {
        "rare words": _weighted_share(weights, texts),
        "in one sentence": max(_weighted_share(weights, [text]) for text in texts),
        "likeness": max(0.0, float((vectors[1:] @ vectors[0]).max())),
        "its end": _known_ending(statement, known),
        "rarest missing": max((weight for word, weight in weights.items() if word not in known), default=0.0),
        "comparison missing": float(
            not _find_comparing_words([parse_text(statement)]) <= _find_comparing_words(best)
        ),
        "denied": _denied_share(parse_text(statement), texts),
    }


def _weighted_share(weights: dict[str, float], texts: Sequence[ParsedText]) -> float:
    """Return the share of its content words that the texts have, weighted by rarity."""
    had = set[str]().union(*(_stem_words(text.text) for text in texts))
    return sum(weight for word, weight in weights.items() if word in had) / (sum(weights.values()) or 1.0)


def _weigh_words(statement: str) -> dict[str, float]:
    """Return its content words, weighted by rarity."""
    written = {stem(word): word for word in tokens(statement)}
    return {term: max(0.5, word_rarity(written.get(term, term)) - _COMMON) for term in terms(statement)}


def _stem_words(text: str) -> set[str]:
    return {stem(word) for word in tokens(text)}


def _known_ending(statement: str, known: set[str]) -> float:
    """Return how much of its ending is known; its beginning names the topic, which is easily found."""
    content = terms(statement)
    words = dict.fromkeys(word for word in map(stem, tokens(statement)) if word in content)
    last = [word in known for word in [*words][-2:]]
    return sum(last) / len(last) if last else 1.0


def _find_comparing_words(texts: Sequence[ParsedText]) -> set[str]:
    """Return the words of comparison or ranking."""
    return {word for text in texts for word in phrase_pattern("comparing").findall(text.low)}


def _denied_share(said: ParsedText, texts: Sequence[ParsedText]) -> float:
    """Return the share of its words that the texts negate and it does not."""
    own = {word for reach in find_negations(said) for word in reach}
    theirs = {word for text in texts for reach in find_negations(text) for word in reach}
    denied = {key for key in said.keys - own if any(is_same_word(key, word) for word in theirs)}
    return len(denied) / max(1, len(said.keys))


def _count_words(window: Sequence[ParsedText]) -> int:
    return sum(len(text.words) for text in window)


def _is_fatal(statement: str, window: Sequence[ParsedText]) -> bool:
    joined = " ".join(text.text for text in window)
    is_other = not set(_MARKED.findall(statement)) <= set(_MARKED.findall(joined))
    return is_other or not _FATAL.isdisjoint(find_flaws_by_kind(statement, [joined]))

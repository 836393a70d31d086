"""Parse a statement for rules: its words, amounts, dates and names; whether it negates, hedges or asks."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fathom.evidence.checks import (
    ParsedText,
    ParsedWord,
    has_phrase,
    index_letter,
    is_same_word,
    parse_text,
    phrase_pattern,
)
from fathom.evidence.checks.dates import Date, find_dates
from fathom.evidence.checks.figures import Figure
from fathom.evidence.checks.negation import Members, find_exclusive
from fathom.evidence.checks.strict import find_amounts, find_denied_span
from fathom.text.mentions import begins_word, find_name_words, is_negated
from fathom.text.normalization import fold_text
from fathom.text.ranking import jaccard_similarity, terms

_AFTER_EVENT = re.compile(rf"(?:{phrase_pattern('event').pattern})[^,.;]{{0,24}}$")
_AT_THAT_TIME = re.compile(r"\b(?:when|as|at|once|since|until)\b[^,.;]*$")


_GLUED = re.compile(
    r"([가-힣]{1,6}?)(?:이|가|을|를|은|는|의|에|로|으로|도|만|다|이다|였다|이었다|입니다)?(?![가-힣])"
)
_TWOFOLD = re.compile(r"\b(?:but|while|although|though|whereas|however|except)\b|;|\?|지만|반면|으나|외에는")
_RATE = re.compile(r"\b(?:per|each|every)\s+(\w+)|(?<!\S)(\S+?)당(?=\s)|매(?:년|월|일|주)|연간|월간|하루")


@dataclass(frozen=True, eq=False)
class ParsedStatement:
    """A statement in the parts that rules compare."""

    text: ParsedText
    plain: str  # folded, to detect equal statements
    words: tuple[str, ...]  # content words in order, without those of amounts and dates
    pieces: frozenset[str]  # the same as letter bigrams if Korean, where spacing varies
    amounts: tuple[tuple[Figure, str], ...]  # each with what it measures or counts
    dates: tuple[Date, ...]
    years: frozenset[int]
    figure_years: frozenset[int]  # without those that only say when it was opened or built
    names: tuple[str, ...]
    is_negated: bool
    is_hedged: bool
    has_two_parts: bool  # it says one thing but also another, or only asks
    rates: frozenset[str]
    events: frozenset[str]  # events that happen only once
    scopes: Members  # statements of different ones are about different things
    denials: Members  # statements of different ones contradict each other


@lru_cache(maxsize=1024)
def parse_statement(statement: str) -> ParsedStatement:
    """Parse a statement; cached."""
    text = parse_text(statement)
    when = find_dates(text.text)
    given = [a for a in find_amounts(text.text) if not _is_part_of_a_name(a, text.text)]
    denied = [span for a in given if len(given) > 1 and (span := find_denied_span(a, text.text))]
    found = [a for a in given if len(given) == 1 or find_denied_span(a, text.text) is None]
    taken = [(a.start, a.end) for a in found] + [(d.start, d.end) for d in when] + denied
    content = [w for w in text.content_words if all(w.end <= start or end <= w.start for start, end in taken)]
    return ParsedStatement(
        text=text,
        plain=fold_text(statement).text.strip(" ."),
        words=tuple(dict.fromkeys(word.key for word in content)),
        pieces=frozenset(terms(" ".join(w.text for w in content))) if text.is_korean else frozenset(),
        amounts=tuple(
            (amount, amount.dimension or _find_counted_thing(amount, text.text, text.words))
            for amount in found
        ),
        dates=when,
        years=frozenset(date.year for date in when if date.year),
        figure_years=frozenset(d.year for d in when if d.year and not _is_of_event(d, text.low)),
        names=tuple(
            dict.fromkeys(fold_text(name).text for name in find_name_words(_mask_spans(text.text, taken)))
        ),
        is_negated=is_negated(phrase_pattern("no_negation").sub(" ", _mask_spans(text.low, denied))),
        is_hedged=has_phrase("hedge", text.low),
        has_two_parts=_TWOFOLD.search(text.low) is not None,
        rates=frozenset("".join(m.groups(default="")) or m.group() for m in _RATE.finditer(text.low)),
        events=frozenset(phrase_pattern("event").findall(text.low)),
        scopes=find_exclusive(text.low, "scopes"),
        denials=find_exclusive(text.low, "denials"),
    )


def _is_of_event(date: Date, text: str) -> bool:
    """Tell whether a date is that of a one-time event, so that figures beside it need not be of that time."""
    before = text[max(0, date.start - 40) : date.start]
    is_after = _AFTER_EVENT.search(before) and not _AT_THAT_TIME.search(before)
    return bool(is_after or phrase_pattern("event_after").match(text, date.end))


def _is_part_of_a_name(amount: Figure, text: str) -> bool:
    """Tell whether it is a number word in a title, as in "Square Two"."""
    return amount.start > 0 and text[amount.start].isupper()


def _mask_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Replace amounts and dates by digits, so that "MW" and "May" are not taken for names."""
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}0{text[end:]}"
    return text


def _find_counted_thing(amount: Figure, text: str, words: Sequence[ParsedWord]) -> str:
    """Return what a bare number counts: the Korean word attached to it, or the next content word."""
    if glued := _GLUED.match(text, amount.end):
        return glued[1]
    return next((w.key for w in words if w.start >= amount.end and w.is_content), "")


@dataclass(frozen=True)
class WordOverlap:
    """Shared content words of two statements, as shares of the shorter one and of both."""

    shared: int
    of_shorter: float
    of_all: float
    is_changed: bool  # each has a word that the other lacks


def measure_overlap(one: ParsedStatement, two: ParsedStatement) -> WordOverlap:
    """Measure shared words, with forms of one word counted as one; for Korean also letter bigrams."""
    left, right = ([w for w in a.words if w not in b.words] for a, b in ((one, two), (two, one)))
    alike = _count_related(left, right), _count_related(right, left)
    shared = len(one.words) - len(left) + min(alike)
    shorter, both = min(len(one.words), len(two.words)), len(one.words) + len(two.words) - shared
    pieces = len(one.pieces & two.pieces) / max(1, min(len(one.pieces), len(two.pieces)))
    return WordOverlap(
        shared=shared,
        of_shorter=max(shared / max(1, shorter), pieces),
        of_all=max(shared / max(1, both), jaccard_similarity(one.pieces, two.pieces)),
        is_changed=alike[0] < len(left) and alike[1] < len(right),
    )


def _count_related(keys: Sequence[str], others: Sequence[str]) -> int:
    """Count the keys that are forms of one of the others, by a common prefix."""
    near: dict[str, list[str]] = {}
    for other in others:
        near.setdefault(index_letter(other), []).append(other)
    return sum(any(is_same_word(key, other) for other in near.get(index_letter(key), ())) for key in keys)


def is_in_same_order(one: ParsedStatement, two: ParsedStatement, most_turned: float) -> bool:
    """Tell whether the shared words come in nearly the same order: who does what to whom."""
    shared = [two.words.index(word) for word in one.words if word in two.words]
    turned = sum(a > b for n, a in enumerate(shared) for b in shared[n + 1 :])
    return turned <= most_turned * len(shared) * (len(shared) - 1) / 2


def lacks_name(wanted: Sequence[str], other: ParsedStatement) -> bool:
    """Tell whether a name is missing from the other statement, even as a prefix of a word."""
    return not all(begins_word(name[:-1] if len(name) > 4 else name, other.text.low) for name in wanted)


# What a length may be the length of; figures of two of them do not conflict.
DIMENSIONS = {
    "height": r"\b(?:tall|high|height|elevation|rises?|stands?|stood)\b|높",
    "length": r"\b(?:long|length)\b|길이|길다",
    "width": r"\b(?:wide|width|broad)\b|너비|폭",
    "depth": r"\b(?:deep|depth)\b|깊",
    "distance": r"\b(?:away|from|distance|apart|off)\b|떨어|거리",
}


def find_dimension(amount: Figure, statement: ParsedStatement) -> str:
    """Return the kind of length that the words around a figure name, the nearest first; "" if none."""
    text = statement.text.low
    near = text[amount.end : amount.end + 12], text[max(0, amount.start - 30) : amount.start]
    return next((kind for part in near for kind, words in DIMENSIONS.items() if re.search(words, part)), "")

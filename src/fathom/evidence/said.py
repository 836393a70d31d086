"""What code sees in a statement: its words, amounts, dates and names; whether it denies, hedges or asks.

Does not know other statements, but for how many words two of them share.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from fathom.evidence.amounts import Amount, amounts, denied_at
from fathom.evidence.contrasts import DENIALS, SCOPES, once, sides
from fathom.evidence.dates import Date, dates
from fathom.evidence.facts import begins, is_negated, names
from fathom.evidence.words import Text, Word, head, parsed, same
from fathom.text.normal import folded
from fathom.text.ranking import likeness, terms

_HEDGE = re.compile(
    r"\b(?:may|might|could|perhaps|possibly|probably|likely|suggests?|appears?|seems?|estimated|expected"
    r"|planned|forecast|projected|would|should|claims?|claimed|alleged\w*|reportedly)\b"
    r"|수 있|수도 있|것으로 보|추정|예상|전망|가능성|계획|예정|듯하|듯 하"
)
_NOT_A_NEGATION = re.compile(
    r"\bnot (?:only|just|merely|least)\b|\bno (?:less|fewer|more|later|longer|doubt)\b"
    r"|뿐만? 아니라|밖에|다름없|틀림없"
)
_GLUED = re.compile(
    r"([가-힣]{1,6}?)(?:이|가|을|를|은|는|의|에|로|으로|도|만|다|이다|였다|이었다|입니다)?(?![가-힣])"
)
_TWOFOLD = re.compile(r"\b(?:but|while|although|though|whereas|however|except)\b|;|\?|지만|반면|으나|외에는")
_RATE = re.compile(r"\b(?:per|each|every)\s+(\w+)|(?<!\S)(\S+?)당(?=\s)|매(?:년|월|일|주)|연간|월간|하루")


@dataclass(frozen=True, eq=False)
class Said:
    """A statement in the parts that rules compare."""

    text: Text
    plain: str  # folded, to see that two are one word for word
    words: tuple[str, ...]  # its telling words in order, but for those of amounts and dates
    pieces: frozenset[str]  # the same in pairs of letters if it is Korean, whose spaces are a matter of taste
    amounts: tuple[tuple[Amount, str], ...]  # each with what it measures or counts
    dates: tuple[Date, ...]
    years: frozenset[int]
    names: tuple[str, ...]
    is_negated: bool
    is_hedged: bool
    is_twofold: bool  # it says one thing, but also another, or only asks
    rates: frozenset[str]
    events: frozenset[str]  # what happens one time only
    scopes: tuple[int, ...]
    denials: tuple[int, ...]


@lru_cache(maxsize=16384)
def said(statement: str) -> Said:
    """The parts of a statement, remembered."""
    text = parsed(statement)
    when = dates(text.text)
    given = [a for a in amounts(text.text) if not _is_part_of_a_name(a, text.text)]
    denied = [span for a in given if len(given) > 1 and (span := denied_at(a, text.text))]
    found = [a for a in given if len(given) == 1 or denied_at(a, text.text) is None]
    taken = [(a.start, a.end) for a in found] + [(d.start, d.end) for d in when] + denied
    telling = [w for w in text.telling if all(w.end <= start or end <= w.start for start, end in taken)]
    return Said(
        text=text,
        plain=folded(statement).text.strip(" ."),
        words=tuple(dict.fromkeys(word.key for word in telling)),
        pieces=frozenset(terms(" ".join(w.text for w in telling))) if text.is_korean else frozenset(),
        amounts=tuple(
            (amount, amount.measure or _counted(amount, text.text, text.words)) for amount in found
        ),
        dates=when,
        years=frozenset(date.year for date in when if date.year),
        names=tuple(dict.fromkeys(folded(name).text for name in names(_without(text.text, taken)))),
        is_negated=is_negated(_NOT_A_NEGATION.sub(" ", _without(text.low, denied))),
        is_hedged=_HEDGE.search(text.low) is not None,
        is_twofold=_TWOFOLD.search(text.low) is not None,
        rates=frozenset("".join(m.groups(default="")) or m.group() for m in _RATE.finditer(text.low)),
        events=once(text.low),
        scopes=sides(text.low, SCOPES),
        denials=sides(text.low, DENIALS),
    )


def _is_part_of_a_name(amount: Amount, text: str) -> bool:
    """Whether it is a number word in a title, as in "Square Two"."""
    return amount.start > 0 and text[amount.start].isupper()


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with figures for its amounts and dates, so that "MW" and "May" are not taken for names."""
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}0{text[end:]}"
    return text


def _counted(amount: Amount, text: str, words: Sequence[Word]) -> str:
    """What a bare number counts: the Korean word glued to it, or the next telling word."""
    if glued := _GLUED.match(text, amount.end):
        return glued[1]
    return next((w.key for w in words if w.start >= amount.end and w.is_telling), "")


@dataclass(frozen=True)
class Overlap:
    """How many telling words two statements share, as shares of the shorter one and of both."""

    shared: int
    of_shorter: float
    of_all: float
    is_changed: bool  # each has a word that the other does not have


def overlap(one: Said, two: Said) -> Overlap:
    """The words they share, forms of one word counting as one; of Korean, also the pairs of letters."""
    left, right = ([w for w in a.words if w not in b.words] for a, b in ((one, two), (two, one)))
    alike = _alike(left, right), _alike(right, left)
    shared = len(one.words) - len(left) + min(alike)
    shorter, both = min(len(one.words), len(two.words)), len(one.words) + len(two.words) - shared
    pieces = len(one.pieces & two.pieces) / max(1, min(len(one.pieces), len(two.pieces)))
    return Overlap(
        shared=shared,
        of_shorter=max(shared / max(1, shorter), pieces),
        of_all=max(shared / max(1, both), likeness(one.pieces, two.pieces)),
        is_changed=alike[0] < len(left) and alike[1] < len(right),
    )


def _alike(keys: Sequence[str], others: Sequence[str]) -> int:
    """How many of the keys are forms of one of the others, which begin alike then."""
    near: dict[str, list[str]] = {}
    for other in others:
        near.setdefault(head(other), []).append(other)
    return sum(any(same(key, other) for other in near.get(head(key), ())) for key in keys)


def is_in_one_order(one: Said, two: Said, most_turned: float) -> bool:
    """Whether the words both have come in nearly one order: who does what to whom."""
    shared = [two.words.index(word) for word in one.words if word in two.words]
    turned = sum(a > b for n, a in enumerate(shared) for b in shared[n + 1 :])
    return turned <= most_turned * len(shared) * (len(shared) - 1) / 2


def lacks(wanted: Sequence[str], other: Said) -> bool:
    """Whether a name is not in the other statement, not even as the beginning of a word."""
    return not all(begins(name[:-1] if len(name) > 4 else name, other.text.low) for name in wanted)

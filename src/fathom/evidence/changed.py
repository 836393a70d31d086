"""A word put in the place of another: names first, and any telling word where all the rest is the quote's.

Does not know synonyms beyond a short list; a paraphrase with more than one word of its own is left alone.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from fathom.evidence.facts import names, unnamed
from fathom.evidence.words import Text, Word, covered, parsed, role, same

_LEAST_SHARED = 0.3
_IN_ORDER = 0.5
_MEASURES = re.compile(
    r"^(?:january|february|march|april|may|june|july|august|september|october|november|december|[kmgt]?wh?|%|km|kg|mg|[kmgt]b|usd|krw|eur|percent|pp|mph|°c|celsius|fahrenheit)$",
    re.IGNORECASE,
)
_GRAMMAR = re.compile(
    r"(?:입니다|합니다|했다|한다|하였다|되었다|된다|됐다|이다|있다|없다|였다|었다|았다|ㄴ다|는다|란다|린다|렸다|진다|졌다|른다|랐다|춘다|쓴다|쓰는|하는|되는|하여|하고|하며|이며|면서|지만|는데)$"
)


def wrong_names(said: Text, quotes: Sequence[str]) -> list[str]:
    """Names of the statement that no quote has."""
    found = [name for name in names(said.text) if not _MEASURES.match(name)]
    if not said.is_korean and any(parsed(quote).is_korean for quote in quotes):
        # Korean writes foreign names in Hangul, but for those in capitals.
        found = [name for name in found if name.isupper()]
    return [f"{name} is not in its quotes" for name in unnamed(found, quotes)]


def changed_words(said: Text, quoted: Sequence[Text]) -> list[str]:
    """A telling word that stands where a quote has another one, when everything else is the quote's."""
    for text in quoted:
        swap = _one_change(said, text)
        if swap:
            return [f"it says '{swap[0].text}' where the quote says '{swap[1].text}'"]
    return []


def unrelated(said: Text, quoted: Sequence[Text]) -> list[str]:
    """Whether the quotes are about something else."""
    if len(said.keys) >= 3 and covered(said, quoted) < _LEAST_SHARED:
        return ["its quotes are about something else"]
    return []


def _one_change(said: Text, text: Text) -> tuple[Word, Word] | None:
    mine, theirs = list(said.telling), list(text.telling)
    new = [w for w in mine if not text.has(w.key)]
    shared = len(mine) - len(new)
    if not new or len(new) > 2 or not shared or (shared < 2 and len(said.words) != len(text.words)):
        return None
    if all(said.has(other.key) for other in theirs):
        return None  # nothing was put in the place of anything
    left = [_in(w, theirs) or w.key for w in said.words]
    matcher = SequenceMatcher(None, left, [w.key for w in text.words], autojunk=False)
    if matcher.ratio() < _IN_ORDER:
        return None
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "replace" or b - a != d - c:
            continue
        for one, other in zip(said.words[a:b], text.words[c:d], strict=True):
            if (
                one in new
                and other.is_telling
                and not said.has(other.key)
                and _is_other(one, other, said, text)
            ):
                return one, other
    return None


def _in(word: Word, theirs: Sequence[Word]) -> str:
    return next((other.key for other in theirs if same(word.key, other.key)), "")


def _is_other(one: Word, other: Word, said: Text, text: Text) -> bool:
    """Whether the two are two things: Korean nouns in one role, or English words that are no forms of one."""
    if said.is_korean:
        if one.key.endswith(other.key) or other.key.endswith(one.key):
            return False  # "증권거래세율" is a "세율"
        is_noun = not _GRAMMAR.search(one.low) and not _GRAMMAR.search(other.low)
        is_named = role(one) != "다" and (role(one) or _follower(one, said) == _follower(other, text))
        return is_noun and role(one) == role(other) and bool(is_named)
    is_verb = re.search(r"(?:ed|ing|ly)$", one.low) or re.search(r"(?:ed|ing|ly)$", other.low)
    return not is_verb


def _follower(word: Word, text: Text) -> str:
    """The word after it: a title after a name, a noun after what describes it."""
    after = next((other for other in text.words if other.start > word.start), None)
    return after.key if after and after.is_telling else f"nothing after {word.key}"

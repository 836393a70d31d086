"""Find swapped roles and figures, by word order and Korean particles.

Without parsing: two things that change places around an unchanged word are taken to have swapped roles.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

from fathom.evidence.checks.amounts import find_amounts
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.words import ParsedText, ParsedWord, is_same_word, particle_role

_BE = frozenset(["is", "are", "was", "were", "be", "been", "being", "got", "gets"])
_KOREAN_PASSIVE = re.compile(r"(?:되|됐|된|당하|당했|받|에 의해|에게 (?:패|졌)|시키|시켰|시킨)")
_PASSIVE = re.compile(r"\b(?:is|are|was|were|been|being|be) (?:\w+ ){1,3}by\b")
_SPEECH = re.compile(r"[\"“”]")
_SAME_BOTH_WAYS = (
    "link equal similar differ married meet border compare relate same close together with match"
)
_MUTUAL = frozenset(_SAME_BOTH_WAYS.split())
_PREPOSITIONS = (
    "in on at of for from to by with among during across within under over between than as after before since"
)
_LEADING = frozenset(_PREPOSITIONS.split())
_MOST_FIGURES = 40  # each is compared with every word
_BREAK = re.compile(r"[,;]|\b(?:and|while|but|of whom|of which)\b|[와과고며] ")
_COULD_BREAK = re.compile(r"[,;]|(?=and|while|but|of wh)|[와과고며] ")
_SMALL = frozenset(["from", "to", "until", "between", "before", "after"])


def find_swapped_roles(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return pairs that have changed places around the same word."""
    for text in quoted:
        found = _find_korean_swap(said, text) if text.is_korean else _find_swap(said, text)
        if found:
            return [f"'{found[0]}' and '{found[1]}' have changed places"]
    return []


def _find_swap(said: ParsedText, text: ParsedText) -> tuple[str, str] | None:
    if (" by " in said.low) != (" by " in text.low) and _PASSIVE.search(
        said.low if " by " in said.low else text.low
    ):
        return None  # "A took over B" for "B was taken over by A"
    if _SPEECH.search(text.text):
        return None  # reported speech turns the order around
    places = _places(text)
    shared = [(w, other) for w in said.content_words if (other := places.get(w.key)) is not None]
    for n, (first, first_there) in enumerate(shared):
        if first.text.endswith("'s"):
            continue
        for place, (last, last_there) in enumerate(shared[n + 2 :], n + 2):
            is_turned_round = last_there.start < first_there.start
            if not (is_turned_round or place == n + 2) or is_same_word(first.key, last.key):
                continue
            between = shared[n + 1 : place]
            if is_turned_round:
                is_moved = _is_reversed(between, (first, last), (first_there, last_there), (said, text))
            else:
                is_moved = _is_turned_passive(between[0], first_there, last_there, (said, text))
            if is_moved:
                return first.text, last.text
    return None


def _is_reversed(
    between: Sequence[tuple[ParsedWord, ParsedWord]],
    mine: tuple[ParsedWord, ParsedWord],
    theirs: tuple[ParsedWord, ParsedWord],
    texts: tuple[ParsedText, ParsedText],
) -> bool:
    """Tell whether both are on the other side of a word used in the same voice."""
    kept = [
        w
        for w, there in between
        if theirs[1].start < there.start < theirs[0].start
        and _is_passive(w, texts[0]) == _is_passive(there, texts[1])
    ]
    is_bare = _is_subject(mine[0], texts[0]) and _is_subject(theirs[1], texts[1])
    return bool(kept) and is_bare and not any(word.key in _MUTUAL for word in kept)


def _is_turned_passive(
    between: tuple[ParsedWord, ParsedWord],
    first: ParsedWord,
    last: ParsedWord,
    texts: tuple[ParsedText, ParsedText],
) -> bool:
    """Tell whether "A acquired B" became "A was acquired by B", or the reverse."""
    mine, there = between
    if not first.start < there.start < last.start or _has_by_phrase(mine, texts[0]) == _has_by_phrase(
        there, texts[1]
    ):
        return False
    return _is_passive(mine, texts[0]) != _is_passive(there, texts[1])


def _is_passive(word: ParsedWord, text: ParsedText) -> bool:
    before = [w for w in text.words if w.end <= word.start and w.clause == word.clause][-2:]
    return not word.low.endswith("ing") and any(w.low in _BE for w in before)


def _has_by_phrase(word: ParsedWord, text: ParsedText) -> bool:
    return text.low[word.end :].startswith(" by ")


def _places(text: ParsedText) -> dict[str, ParsedWord | None]:
    """Return the content words by key; None for a word that comes twice."""
    found: dict[str, ParsedWord | None] = {}
    for word in text.content_words:
        found[word.key] = None if word.key in found else word
    return found


def _is_subject(word: ParsedWord, text: ParsedText) -> bool:
    """Tell whether it starts its clause without a preposition."""
    before = [w for w in text.words if w.end <= word.start and w.clause == word.clause][-4:]
    return not any(w.low in _LEADING for w in before)


def _find_korean_swap(said: ParsedText, text: ParsedText) -> tuple[str, str] | None:
    if bool(_KOREAN_PASSIVE.search(said.low)) != bool(_KOREAN_PASSIVE.search(text.low)):
        return None
    mine, theirs = _particles(said), _particles(text)
    for first, last in combinations([key for key in mine if key in theirs], 2):
        one, other = (mine[first], mine[last]), (theirs[first], theirs[last])
        if one[0] != one[1] and one == (other[1], other[0]) and "이" in one and "와" not in one:
            return first, last
    return None


def _particles(text: ParsedText) -> dict[str, str]:
    return {w.key: particle_role(w) for w in text.content_words if w.particle}


def find_swapped_figures(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return two numbers or years that have changed places."""
    for text in quoted if _figures(said) else ():
        known = {name for name, *_ in _figures(text)}
        both = [name for name in dict.fromkeys(name for name, *_ in _figures(said)) if name in known]
        for one, other in combinations(both, 2):
            if _figure_kind(one) != _figure_kind(other):
                continue
            before = [(_word_before(said, name), _word_before(text, name)) for name in (one, other)]
            if all(mine == there != "" for mine, there in before) and before[0] != before[1]:
                continue
            mine, theirs = _find_nearest_words(said), _find_nearest_words(text)
            kept = _count_shared(mine[one], theirs[one]) + _count_shared(mine[other], theirs[other])
            crossed = _count_shared(mine[one], theirs[other]) + _count_shared(mine[other], theirs[one])
            if crossed > kept:
                return [f"{one} and {other} have changed places"]
    return []


def _word_before(text: ParsedText, figure: str) -> str:
    """Return the content word right before a figure."""
    start = next(start for name, start, _ in _figures(text) if name == figure)
    return next((word.key for word in text.content_words if 0 <= start - word.end <= 1), "")


def _figure_kind(figure: str) -> str:
    """Return its measure, or "date"."""
    return re.sub(r"^[\d.e+-]+", "", figure) if not re.search(r"[년월일]|[A-Z]|^\d{4}s?$", figure) else "date"


@lru_cache(maxsize=64)
def _figures(text: ParsedText) -> tuple[tuple[str, int, int], ...]:
    """Return the figures with their positions; none if too few or too many to be swapped."""
    found = [(f"{a.value:g}{a.measure}", a.start, a.end) for a in find_amounts(text.text)]
    found += [(d.text, d.start, d.end) for d in find_dates(text.text)]
    are_few = len(found) <= _MOST_FIGURES and len({name for name, *_ in found}) <= 12
    return tuple(found) if are_few and len({name for name, *_ in found}) >= 2 else ()


@lru_cache(maxsize=64)
def _find_nearest_words(text: ParsedText) -> dict[str, frozenset[str]]:
    """Return the nearest words of each figure."""
    found = _figures(text)
    near: dict[str, set[str]] = {name: set() for name, *_ in found}
    breaks = [found.start() for found in _COULD_BREAK.finditer(text.low)]
    for word in text.words:
        is_small = word.low in _SMALL
        if not (word.is_content or is_small):
            continue
        if any(start <= word.start < end for _, start, end in found):
            continue
        name, *_ = min(found, key=lambda f: _distance(text, breaks, word, f[1:], is_small))
        near[name].add(word.key)
    for name, _, end in found:
        ending = re.match(r"에서|으로|로|부터|까지|에|[가-힣](?=[\s,])", text.low[end:])
        if ending:
            near[name].add(f"-{ending.group().removeprefix('으')}")
    return {name: frozenset(words) for name, words in near.items()}


def _distance(
    text: ParsedText, breaks: Sequence[int], word: ParsedWord, figure: tuple[int, int], is_small: bool
) -> float:
    """Return the distance of a word from a figure; `breaks` are places that separate them."""
    start, end = figure
    left, right = (word.end, start) if word.end <= start else (end, word.start)
    between = text.low[left:right]
    is_broken = bisect_left(breaks, left) < bisect_left(breaks, right)
    apart = len(_BREAK.findall(between)) if is_broken else 0
    after = 2.0 if is_small and word.end > start else 0.0
    return len(between.split()) + 4 * apart + after + len(between) / 1000


def _count_shared(mine: frozenset[str], theirs: frozenset[str]) -> int:
    return sum(key in theirs or any(is_same_word(key, other) for other in theirs) for key in mine)

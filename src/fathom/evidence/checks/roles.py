"""Find swapped roles and figures, by word order and Korean particles.

Without parsing: two things that change places around an unchanged word are taken to have swapped roles.
"""

import re
from collections.abc import Sequence
from itertools import combinations, takewhile

from fathom.evidence.checks import ParsedText, ParsedWord, is_same_word, parse_text, particle_role

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


_ANY_PASSIVE = re.compile(
    r"\b(?:was|were|is|are|been|being|be)\s(?:\w+ly\s)?\w+(?:ed|en|ught|old|ade|uilt|aid)\b"
)
_ROLE_WORDS = frozenset({"to", "from", "by", "than"})
_PHRASE_ENDS = _ROLE_WORDS | frozenset("in on at for with and but which after before since".split())  # noqa: SIM905
_KOREAN_ROLES = {
    "보다": "than", "에": "to", "에게": "to", "한테": "to",
    "에서": "from", "로부터": "from", "으로부터": "from",
}  # fmt: skip
_CLAUSE = re.compile(r"[,;]\s|\s(?:and|while|but|whereas)\s|(?<![다라]고)(?<=[고며])\s|(?<=지만)\s")


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


def find_exchange(words: str, quoted: str) -> tuple[str, str] | None:
    """Return two words that have exchanged places: who sold to whom, which is more than which.

    Compared are the words behind the same preposition or before the same Korean particle, and which words
    share a clause. A changed voice is not compared.
    """
    said, theirs = parse_text(words), parse_text(quoted)
    if said.is_korean != theirs.is_korean:
        return None
    if not said.is_korean and bool(_ANY_PASSIVE.search(said.low)) != bool(_ANY_PASSIVE.search(theirs.low)):
        return _find_mixed_clauses(said, theirs)
    mine, other = _find_places(said), _find_places(theirs)
    for place in mine.keys() & other.keys():
        here, there = _without(mine[place], other[place]), _without(other[place], mine[place])
        if here and there and all(map(theirs.has, here)) and all(map(said.has, there)):
            return here[0], there[0]
    return _find_mixed_clauses(said, theirs)


def _without(keys: Sequence[str], others: Sequence[str]) -> list[str]:
    return [key for key in keys if not any(is_same_word(key, other) for other in others)]


def _find_places(text: ParsedText) -> dict[str, list[str]]:
    """Return the content words behind each preposition, or with each Korean particle, that says a role."""
    found: dict[str, list[str]] = {}
    for place, word in enumerate(text.words):
        if text.is_korean and (role := _KOREAN_ROLES.get(word.particle)):
            before = takewhile(lambda one: not one.particle, reversed(text.words[:place]))
            found.setdefault(role, []).extend(one.key for one in (word, *before) if one.is_content)
        elif not text.is_korean and word.low in _ROLE_WORDS:
            ends = _PHRASE_ENDS - _ROLE_WORDS if word.low == "than" else _PHRASE_ENDS
            found.setdefault(word.low, []).extend(_content_until(ends, text.words[place + 1 : place + 7]))
    return {role: keys for role, keys in found.items() if keys}


def _content_until(ends: frozenset[str], words: Sequence[ParsedWord]) -> list[str]:
    return [word.key for word in takewhile(lambda one: one.low not in ends, words) if word.is_content]


def _find_mixed_clauses(said: ParsedText, theirs: ParsedText) -> tuple[str, str] | None:
    """Return words of two clauses of the source that stand in one clause here, and the other way round."""
    parts = [clause for part in _CLAUSE.split(theirs.text) if (clause := parse_text(part)).keys]
    own = [clause for part in _CLAUSE.split(said.text) if len((clause := parse_text(part)).keys) > 1]
    if len(parts) != 2 or not own or len(own) > 2:
        return None
    keys = [sorted(part.keys) for part in parts]
    only = [_without(keys[0], keys[1]), _without(keys[1], keys[0])]
    mixed = [[[key for key in some if clause.has(key)] for some in only] for clause in own]
    if not all(one and two for one, two in mixed):
        return None
    if len(own) == 1 and not (all(map(_find_korean_subject, parts)) and _has_other_subject(own[0], only)):
        return None
    return mixed[0][0][0], mixed[0][1][0]


def _find_korean_subject(clause: ParsedText) -> str:
    """Return the subject of a Korean clause; nothing of others."""
    words = clause.content_words if clause.is_korean else ()
    return next((word.key for word in words if particle_role(word) == "이"), "")


def _has_other_subject(clause: ParsedText, only: Sequence[Sequence[str]]) -> bool:
    """Tell whether a clause gives what the source says in one clause to the subject of the other."""
    ends = (_find_korean_subject(clause), clause.content_words[-1].key)
    sides = [[any(is_same_word(end, key) for key in keys) for keys in only] for end in ends]
    return sides in ([[True, False], [False, True]], [[False, True], [True, False]])

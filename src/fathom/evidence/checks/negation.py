"""Find negations and opposites in English and Korean, and where a statement and its quote disagree.

A negation covers the words next to it, up to the end of its clause.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from fathom.evidence.checks.lexicon import load_table
from fathom.evidence.checks.words import ParsedText, ParsedWord, is_same_word
from fathom.text.ranking import stem

_NEAR = 5

_ENDING = re.compile(r"다|고|며|은|는|을|어|아|었|았|인|이는|게|지|면|ㄴ|기|렸|랐|졌|여|려|라|린|른")


def _build_opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in re.split(r"[|\n]", load_table("opposites")["pairs"].strip()):
        left, right = pair.split()
        table.setdefault(left, set()).add(right)
        table.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES = _build_opposites()

_KOREAN = sorted((word for word in OPPOSITES if not word.isascii()), key=len, reverse=True)


def find_opposite_form(word: ParsedWord) -> str:
    """Return the form of the word in the table of opposites; "" if it has none."""
    return _find_opposite_form(word.low, word.key if word.is_content else word.low)


@lru_cache(maxsize=16384)
def _find_opposite_form(low: str, key: str) -> str:
    forms = [low, key]
    if low[0].isascii():
        forms += [low.rstrip("s"), re.sub(r"e?d$|ing$", "", low), re.sub(r"d$|s$", "", low)]
        return next((form for form in forms if form in OPPOSITES), "")
    known = (r for r in _KOREAN if low.startswith(r) and _is_form(low, r))
    return next((form for form in forms if form in OPPOSITES), "") or next(known, "")


def _is_form(word: str, start: str) -> bool:
    """Tell whether a one-syllable root has an ending: "늘" begins "늘었다", not "늘봄"."""
    return len(start) > 1 or _ENDING.match(word[1:]) is not None


@lru_cache(maxsize=64)
def find_words_with_opposites(text: ParsedText) -> tuple[tuple[ParsedWord, str], ...]:
    """Return the words of a text that have opposites, each with its table form."""
    return tuple((word, form) for word in text.words if (form := find_opposite_form(word)))


def find_reversals(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return why the statement says the opposite: it has a word where the quotes have its opposite."""
    found = []
    for word, form in find_words_with_opposites(said):
        contrary = OPPOSITES[form]
        theirs = [
            (other, text)
            for text in quoted
            for other, of in find_words_with_opposites(text)
            if of in contrary
        ]
        if not theirs:
            continue
        same_words = [
            (other, text)
            for text in quoted
            for other in text.words
            if find_opposite_form(other) == form or is_same_word(other.key, word.key)
        ]
        # The statement has both and the quote only the opposite: it quotes the opposite.
        if any(of in contrary for _, of in find_words_with_opposites(said)) and not same_words:
            continue
        if _is_nearer(word, said, theirs, same_words):
            found.append(f"it says '{word.text}', the quote says '{theirs[0][0].text}'")
    return found


def _is_nearer(
    word: ParsedWord,
    said: ParsedText,
    contrary: Sequence[tuple[ParsedWord, ParsedText]],
    agreeing: Sequence[tuple[ParsedWord, ParsedText]],
) -> bool:
    """Tell whether the words around it match those around the opposite better than those around itself."""
    if word.low in {"before", "after"}:
        return (
            any(_next_key(word, said) == _next_key(other, text) for other, text in contrary) and not agreeing
        )
    mine = _weigh_neighbours(word, said)
    against = max(_shared_weight(mine, _weigh_neighbours(other, text)) for other, text in contrary)
    if not agreeing:
        return against > 0 or len(said.content_words) <= 2
    return against > 0.1 + max(
        _shared_weight(mine, _weigh_neighbours(other, text)) for other, text in agreeing
    )


def _next_key(word: ParsedWord, text: ParsedText) -> str:
    return next((other.key for other in text.content_words if other.start > word.start), "")


def _weigh_neighbours(word: ParsedWord, text: ParsedText) -> dict[str, float]:
    place = next(n for n, other in enumerate(text.words) if other.start == word.start)
    return {
        other.key: 1.0 / (1 + abs(n - place) + 3 * abs(other.clause - word.clause))
        for n, other in enumerate(text.words)
        if (other.is_content or other.low[0].isdigit())
        and n != place
        and abs(n - place) <= _NEAR
        and not find_opposite_form(other)
    }


def _shared_weight(mine: dict[str, float], theirs: dict[str, float]) -> float:
    return sum(
        min(weight, other_weight)
        for key, weight in mine.items()
        for other, other_weight in theirs.items()
        if is_same_word(key, other)
    )


_CUE = re.compile(
    r"\b(?:not(?! only\b)|non(?=-)|no(?! doubt\b)|never|without|cannot|none|neither|nor|nobody"
    r"|nothing(?! (?:but|other than)\b)|hardly|barely|rarely"
    r"|seldom|fail(?:s|ed|ing)?(?= to\b)|unable|lack(?:s|ed|ing)?|denie[sd]|deny|refuse[sd]?"
    r"|false|untrue|myth|(?<!a )few|unlikely"
    r"|un(?:safe|clear|known|proven|affected|changed|necessary|available|successful|common|able)"
    r"|impossible|ineffective|inactive|insufficient|incorrect|absence|absent|stopped|ceased|free of"
    r"|rather than|instead of)\b|n't\b"
)

_REACH = 5

_NEW_CLAUSE = "but because although though while whereas which who that and so if when since unless however"

_STOPS = frozenset(_NEW_CLAUSE.split())

_KOREAN_AFTER = re.compile(r"지\s?(?:는|도|를|만)?\s?(?:않|못|말|아니)|(?:수|리)(?:가|는|도)?\s없")

_KOREAN_WORD = re.compile(r"^(?:없|아니|아닌|못하|못한|못했|않|불가능|불가|미흡|부재)")

_KOREAN_BEFORE = frozenset({"안", "못"})


def find_negations(text: ParsedText) -> tuple[tuple[str, ...], ...]:
    """Return for each negation the words it covers, nearest first."""
    return _find_korean_negations(text) if text.is_korean else _find_english_negations(text)


def _find_english_negations(text: ParsedText) -> tuple[tuple[str, ...], ...]:
    found = []
    for cue in _CUE.finditer(text.low):
        reached: list[str] = []
        if cue.group().startswith(("un", "in", "im")) and cue.group() not in {"unable", "unlikely"}:
            reached.append(cue.group().removeprefix("un").removeprefix("in").removeprefix("im"))
        for word in text.words:
            if cue.group() == "non" and word.start == cue.start():
                reached.append(stem(word.low.removeprefix("non-")))
                break
            if word.start < cue.end() or word.low == cue.group():
                continue
            is_over = bool(reached) and _ends_a_clause(text.low[cue.end() : word.start])
            # "It is not true that …" is about what follows.
            is_new = word.low in _STOPS and not (word.low == "that" and len(reached) <= 1)
            if is_new or is_over or len(reached) >= _REACH:
                break
            if word.is_content:
                reached.append(word.key)
        found.append(tuple(reached))
    return tuple(found)


def _ends_a_clause(between: str) -> bool:
    return re.search(r"[;:]|\.\s|,\s(?!who|which)", between) is not None


def _find_korean_negations(text: ParsedText) -> tuple[tuple[str, ...], ...]:
    found = []
    for place, word in enumerate(text.words):
        following = text.text[word.start : word.end + 6]
        after = _KOREAN_AFTER.search(following)
        is_after = after is not None and after.start() < len(word.text)
        is_own = _KOREAN_WORD.match(word.low) is not None and not _KOREAN_AFTER.search(
            text.text[max(0, word.start - 3) : word.end]
        )
        if text.text[: word.start].rstrip().endswith("밖에"):  # "수밖에 없다" means that it must be so
            continue
        if is_after or is_own:
            before = [
                w for w in text.words[max(0, place - 2) : place] if w.is_content and w.clause == word.clause
            ]
            mine = [_verb_stem(word)] if is_after else []
            found.append((*mine, *(w.key for w in reversed(before))))
        elif word.low in _KOREAN_BEFORE and 0 < place + 1 < len(text.words) and not _is_bound(text, place):
            found.append((_verb_stem(text.words[place + 1]),))
    return tuple(found)


def _is_bound(text: ParsedText, place: int) -> bool:
    """Tell whether it means "less than": "200마리도 안 되는"."""
    return place > 0 and text.words[place - 1].particle == "도"


def _verb_stem(word: ParsedWord) -> str:
    return re.sub(r"지(?:는|도|를|만)?$", "", word.key) or word.key


def find_disagreement(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return where one negates what the other asserts."""
    mine = find_negations(said)
    theirs = [words for text in quoted for words in find_negations(text)]
    rejected = [words for words in theirs if _is_dropped(words, said, mine)]
    if rejected and not _is_turned_twice(said, quoted):
        return [f"the quote says not ('{rejected[0][0]}')"]
    added = [words for words in mine if not _is_shared(words, theirs)]
    if (
        added
        and not _is_turned_twice(said, quoted)
        and not (theirs and not _is_negated_word_quoted(added, quoted))
    ):
        return ["it says not, and its quotes do not"]
    return []


def find_disagreement_across_languages(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return the same across languages, where only the presence of a negation can be compared."""
    mine = bool(find_negations(said))
    theirs = {bool(find_negations(text)) for text in quoted}
    return (
        [] if mine in theirs else ["the quote says not" if not mine else "it says not, and its quotes do not"]
    )


def _is_dropped(words: tuple[str, ...], said: ParsedText, mine: Sequence[tuple[str, ...]]) -> bool:
    """Tell whether the statement asserts what the quote negates, without a negation of its own."""
    if not words:
        return False
    kept = [word for word in words if said.has(word) or any(is_same_word(word, w.key) for w in said.words)]
    if not kept or any(is_same_word(word, other) for word in kept for others in mine for other in others):
        return False
    is_meant = kept[0] == words[0] or len(kept) >= 2 or len(kept) == len(words)
    return is_meant and not (mine and kept[0] != words[0])


def _is_shared(words: tuple[str, ...], theirs: Sequence[tuple[str, ...]]) -> bool:
    return any(is_same_word(word, other) for word in words for others in theirs for other in others)


def _is_negated_word_quoted(added: Sequence[tuple[str, ...]], quoted: Sequence[ParsedText]) -> bool:
    """Tell whether the quotes have the words that the statement negates."""
    return any(text.has(word) for words in added for word in words[:1] for text in quoted)


def _is_turned_twice(said: ParsedText, quoted: Sequence[ParsedText]) -> bool:
    """Tell whether an opposite offsets the negation: "did not approve" for "rejected"."""
    roots = {form for _, form in find_words_with_opposites(said) if form not in {"with", "without"}}
    others = {form for text in quoted for _, form in find_words_with_opposites(text)}
    return any(OPPOSITES[form] & others and form not in others for form in roots)

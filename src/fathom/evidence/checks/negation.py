"""Find negations and words that exclude each other, and where a statement and its quote disagree.

A negation covers the words next to it, up to the end of its clause. Words that exclude each other (imports
and exports, admitted and applied) are in `lexicon/contrasts.toml`, each in English and Korean, so that an
English quote and a Korean statement can be compared: first the clauses that share a figure, then the whole.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from fathom.evidence.checks import (
    ParsedText,
    ParsedWord,
    is_same_word,
    load_table,
    parse_text,
    phrase_pattern,
)
from fathom.evidence.checks.derivation import Passage, find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.figures import find_figures
from fathom.evidence.checks.markers import count_shared_words, select_relevant_sentences
from fathom.evidence.checks.placement import CLAUSE_END, split_parts
from fathom.text.ranking import stem
from fathom.text.tokens import has_cjk

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
    for cue in phrase_pattern("negation").finditer(text.low):
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
        is_bound = place > 0 and text.words[place - 1].particle == "도"  # "200마리도 안 되는": less than that
        if is_after or is_own:
            before = [
                w for w in text.words[max(0, place - 2) : place] if w.is_content and w.clause == word.clause
            ]
            mine = [_verb_stem(word)] if is_after else []
            found.append((*mine, *(w.key for w in reversed(before))))
        elif word.low in _KOREAN_BEFORE and place + 1 < len(text.words) and not is_bound:
            found.append((_verb_stem(text.words[place + 1]),))
    return tuple(found)


def _verb_stem(word: ParsedWord) -> str:
    return re.sub(r"지(?:는|도|를|만)?$", "", word.key) or word.key


def find_disagreement(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return where one negates what the other asserts."""
    mine = find_negations(said)
    theirs = [words for text in quoted for words in find_negations(text)]
    rejected = [words for words in theirs if _is_dropped(words, said, mine)]
    if rejected and not _is_turned_twice(said, quoted):
        return [f"the quote says not ('{rejected[0][0]}')"]
    known = [other for words in theirs for other in words]
    added = [
        words for words in mine if not any(is_same_word(word, other) for word in words for other in known)
    ]
    # Where the quotes negate something too, a word that they do not even have tells nothing.
    is_plain = not theirs or any(text.has(word) for words in added for word in words[:1] for text in quoted)
    if added and is_plain and not _is_turned_twice(said, quoted):
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


def _is_turned_twice(said: ParsedText, quoted: Sequence[ParsedText]) -> bool:
    """Tell whether an opposite offsets the negation: "did not approve" for "rejected"."""
    mine, theirs = find_exclusive(said.text), find_exclusive("\n".join(text.text for text in quoted))
    return any(not mine[group].keys() & theirs[group].keys() for group in mine.keys() & theirs.keys())


_BEGINS = re.compile(r"\b[a-z]|[가-힣]")
Members = dict[int, dict[int, str]]  # words by the number of their group, and of their member


@cache
def _load_words(table: str) -> dict[str, list[tuple[str, bool, bool, int, int]]]:
    """Return by two letters the words: letters, if it begins or ends there, its group and its member."""
    found: dict[str, list[tuple[str, bool, bool, int, int]]] = {}
    groups = re.split(r"[;\n]", load_table("contrasts")[table].strip())
    for number, group in enumerate(groups):
        for place, words in enumerate(group.split("|")):
            for word in words.split():
                letters = word.strip("^*").replace("_", " ")
                is_end = letters[-1].isascii() and not word.endswith(("*", "_"))
                found.setdefault(letters[:2], []).append((letters, word[0] == "^", is_end, number, place))
    return found


_RATES = {"률", "율"}  # "상승률" may fall


@lru_cache(maxsize=2048)
def find_exclusive(text: str, table: str = "groups") -> Members:
    """Return which members of which groups a text has, each with its first word."""
    low, words = text.lower(), _load_words(table)
    found: Members = {}
    for match in _BEGINS.finditer(low):
        at = match.start()
        for letters, is_begin, is_end, group, member in words.get(low[at : at + 2], ()):
            end = at + len(letters)
            if (
                low.startswith(letters, at)
                and not (is_begin and low[at - 1 : at].isalpha())
                and not (is_end and low[end : end + 1].isalnum())
                and low[end : end + 1] not in _RATES
            ):
                found.setdefault(group, {}).setdefault(member, letters)
    return found


def are_opposed(left: Members, right: Members) -> bool:
    """Tell whether two texts have one member each of some group, and not the same one."""
    shared = left.keys() & right.keys()
    return any(len(left[n]) == len(right[n]) == 1 and left[n].keys() != right[n].keys() for n in shared)


def find_contrasts(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield the words of the statement that exclude those of the quote, as (kind, note)."""
    parts = split_parts(passage.quoted, CLAUSE_END)
    is_one_language = has_cjk(statement) == has_cjk(passage.quoted)
    for clause in split_parts(statement, CLAUSE_END):
        for figure in find_figures_outside_dates(clause):
            same = [part for part in parts if any(is_same_figure(figure, f) for f in find_figures(part))]
            if len(same) == 1 and figure.value > 2:
                yield from _compare(find_exclusive(clause), find_exclusive(same[0]), {})
        if is_one_language and len(parts) > 1:
            words = parse_text(clause)
            shared = [count_shared_words(words, part) for part in parts]
            if shared.count(max(shared)) == 1 and max(shared) > 1:
                best = parts[shared.index(max(shared))]
                yield from _compare(find_exclusive(clause), find_exclusive(best), {})
    near = select_relevant_sentences(statement, passage.quoted)
    yield from _compare(find_exclusive(statement), find_exclusive(near), find_exclusive(passage.quoted))


def _compare(said: Members, quoted: Members, known: Members) -> Iterator[tuple[str, str]]:
    for group in said.keys() & quoted.keys():
        mine, theirs = said[group], quoted[group]
        if not mine.keys() & (theirs.keys() | known.get(group, {}).keys()):
            one, other = next(iter(mine.values())), next(iter(theirs.values()))
            yield "contrast", f"it says '{one}' where the quote has '{other}'"

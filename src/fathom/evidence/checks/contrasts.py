"""Find words of a statement that exclude those of its quote: imports for exports, admitted for applied.

The words are in `lexicon/contrasts.toml`, each in English and Korean, so that an English quote and a Korean
statement can be compared: first the clauses that share a figure, then the whole.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from fathom.evidence.checks.derivation import Passage, find_figures_outside_dates, is_same_figure
from fathom.evidence.checks.figures import find_figures
from fathom.evidence.checks.lexicon import load_table
from fathom.evidence.checks.markers import count_shared_words, select_relevant_sentences
from fathom.evidence.checks.placement import CLAUSE_END, split_parts
from fathom.evidence.checks.words import parse_text
from fathom.text.tokens import has_cjk

_BEGINS = re.compile(r"\b[a-z]|[가-힣]")
_Members = dict[int, dict[int, str]]  # words by the number of their group, and of their member


@cache
def _load_words() -> dict[str, list[tuple[str, bool, bool, int, int]]]:
    """Return by two letters the words: letters, if it begins or ends there, its group and its member."""
    found: dict[str, list[tuple[str, bool, bool, int, int]]] = {}
    groups = re.split(r"[;\n]", load_table("contrasts")["groups"].strip())
    for number, group in enumerate(groups):
        for place, words in enumerate(group.split("|")):
            for word in words.split():
                letters = word.strip("^*").replace("_", " ")
                is_end = letters[-1].isascii() and not word.endswith(("*", "_"))
                found.setdefault(letters[:2], []).append((letters, word[0] == "^", is_end, number, place))
    return found


@lru_cache(maxsize=2048)
def find_exclusive(text: str) -> _Members:
    """Return which members of which groups a text has, each with its first word."""
    low, words = text.lower(), _load_words()
    found: _Members = {}
    for match in _BEGINS.finditer(low):
        at = match.start()
        for letters, is_begin, is_end, group, member in words.get(low[at : at + 2], ()):
            end = at + len(letters)
            if (
                low.startswith(letters, at)
                and not (is_begin and low[at - 1 : at].isalpha())
                and not (is_end and low[end : end + 1].isalnum())
            ):
                found.setdefault(group, {}).setdefault(member, letters)
    return found


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


def _compare(said: _Members, quoted: _Members, known: _Members) -> Iterator[tuple[str, str]]:
    for group in said.keys() & quoted.keys():
        mine, theirs = said[group], quoted[group]
        if not mine.keys() & (theirs.keys() | known.get(group, {}).keys()):
            one, other = next(iter(mine.values())), next(iter(theirs.values()))
            yield "contrast", f"it says '{one}' where the quote has '{other}'"

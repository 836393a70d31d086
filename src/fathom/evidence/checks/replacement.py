"""Find words of a statement that replace others of its quote, clause by clause.

"Haddock and herring quotas were left unchanged" for "Haddock and saithe quotas were left unchanged": each
clause is aligned with the most similar clause of the quote. In a near copy any replaced word is reported,
else only one from elsewhere on the page, since it may be a synonym; figures and dates are always reported.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from fathom.evidence.checks.dates import Date, find_dates
from fathom.evidence.checks.derivation import Passage, find_calculation, is_same_figure
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.evidence.checks.words import ParsedWord, is_same_word, parse_text, particle_role
from fathom.text.sentences import is_verb

_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_WRAPPED = re.compile(r"(?<=[a-z,])\n(?=[a-z\[(`])")
_CLAUSE = re.compile(
    r"[,;:]\s|\s(?:and|while|but|whereas|although|which|of which)\s|(?<![라다]고)(?<=[고며])\s|(?<=지만),?\s"
    r"|(?<=으나),?\s|(?<=데)\s|(?<=반면)\s"
)
_MOST_CLAUSES = 60
_SHARED_FROM = 0.4  # of a clause's tokens must be in the quote's clause to align them
_LEAST_COPIED = 3  # tokens of a near copy
_ONE_FOR_ONE = 2  # one new word for one left out
_NEW_IN_COPY = 0.4  # of its tokens at most are new
_SAME_STEM = 4  # letters: "closing" and "closure" are one word
_NO_NOUN = re.compile(
    r"(?:ed|ly)$|^(?:done|made|taken|given|later|earlier)$|(?:다|고|며|은데|는데|지만|아|어|해|서|면)$"
    r"|^(?:곳|것|수|일|이|그|사람)[은는이가]$|(?:놓|나|사|같|되|하|있|없|르|리|보|지|주|많|높|낮|낳|담|들)[은는]$"
)


@dataclass(frozen=True)
class _Token:
    """A content word, figure or date of a clause."""

    text: str
    word: ParsedWord | None = None
    value: Figure | Date | None = None

    def is_same(self, other: "_Token") -> bool:
        """Tell whether both mean the same."""
        if self.word and other.word:
            return is_same_word(self.word.key, other.word.key)
        one, two = self.value, other.value
        if isinstance(one, Figure) and isinstance(two, Figure):
            return is_same_figure(one, two)
        if isinstance(one, Date) and isinstance(two, Date):
            shared = set(one.parts) & set(two.parts)
            return bool(shared) and all(one.parts[name] == two.parts[name] for name in shared)
        return False


def find_replaced(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield replaced words as pairs of kind and note."""
    said = _tokens(statement)
    quoted = _clauses(_WRAPPED.sub(" ", passage.quoted))
    if len(quoted) > _MOST_CLAUSES:
        return
    everything = _tokens(passage.quoted)
    fresh = [one for one in said if not any(one.is_same(other) for other in everything)]
    is_near = len(said) >= _LEAST_COPIED and len(fresh) <= min(2, _NEW_IN_COPY * len(said))
    for clause in _clauses(statement):
        mine = _tokens(clause)
        theirs = _nearest(mine, quoted)
        new = [one for one in mine if not any(one.is_same(other) for other in theirs)]
        left = [o for o in theirs if not any(o.is_same(one) for one in (mine if o.value else said))]
        is_copy = bool(theirs) and is_near and len(new) <= min(2, _NEW_IN_COPY * len(mine))
        for one, other in _pairs(mine, theirs):
            if one not in new or other not in left:
                continue
            note = f"it says '{one.text}' where the quote says '{other.text}'"
            if one.value and other.value and _is_of_one_kind(one, other):
                if isinstance(one.value, Figure) and find_calculation(one.value, passage):
                    continue
                yield "figure", note
            elif one.word and other.word and _is_another(one.word, other.word, passage, is_copy):
                if is_copy and len(new) + len(left) > _ONE_FOR_ONE and _is_deed(one.word, other.word):
                    continue
                yield "who and what", note
        if is_copy:
            yield from _find_added(new, left, passage)


def _find_added(new: Sequence[_Token], left: Sequence[_Token], passage: Passage) -> Iterator[tuple[str, str]]:
    """Find what a near copy adds from another clause while it drops a name or share."""
    names = [token for token in left if token.word and token.text[0].isupper()]
    shares = [t for t in left if isinstance(t.value, Figure) and t.value.dimension in {"percent", "times"}]
    nouns = [token for token in new if token.word and not _NO_NOUN.search(token.word.low)]
    if names and any(t.word and parse_text(passage.quoted).has(t.word.key) for t in nouns):
        yield "who and what", f"the quote says it of '{names[0].text}', not of '{nouns[0].text}'"
    if any(token.value for token in new) and not shares and not any(token.value for token in left):
        figure = next(token for token in new if token.value)
        is_known = any(figure.is_same(token) for token in _tokens(passage.quoted))
        if isinstance(figure.value, Figure) and figure.value.dimension == "time" and not is_known:
            yield "figure", f"'{figure.text}' is not said there in the quote"


def _nearest(mine: Sequence[_Token], clauses: Sequence[str]) -> list[_Token]:
    """Return the most similar clause; nothing if none is similar enough, or two are equally so."""
    quoted = [tokens for clause in clauses if (tokens := _tokens(clause))]
    scored = [(sum(any(a.is_same(b) for b in theirs) for a in mine), -len(theirs)) for theirs in quoted]
    best = max(scored, default=(0, 0))
    if best[0] < max(1, _SHARED_FROM * len(mine)) or scored.count(best) > 1:
        return []
    return quoted[scored.index(best)]


def _clauses(text: str) -> list[str]:
    return [
        part
        for sentence in _SENTENCE.split(text)
        for part in _CLAUSE.split(sentence)
        if part and part.strip()
    ]


def _tokens(text: str) -> list[_Token]:
    whole = parse_text(text)
    values: list[Figure | Date] = [*find_dates(whole.text)]
    taken = [(value.start, value.end) for value in values]
    values += [
        f for f in find_figures(whole.text) if all(f.end <= start or end <= f.start for start, end in taken)
    ]
    taken = [(value.start, value.end) for value in values]
    words = [w for w in whole.content_words if all(w.end <= start or end <= w.start for start, end in taken)]
    placed = [(word.start, _Token(word.text, word=word)) for word in words]
    placed += [(value.start, _Token(value.text, value=value)) for value in values]
    return [token for _, token in sorted(placed, key=lambda pair: pair[0])]


def _pairs(mine: Sequence[_Token], theirs: Sequence[_Token]) -> Iterator[tuple[_Token, _Token]]:
    """Yield aligned tokens: between the same words, before the same word, or in the same role."""
    left = [
        next((n for n, other in enumerate(theirs) if one.is_same(other)), -1 - k)
        for k, one in enumerate(mine)
    ]
    for kind, a, b, c, d in SequenceMatcher(None, left, range(len(theirs)), autojunk=False).get_opcodes():
        if kind == "replace":
            yield mine[b - 1], theirs[d - 1]
            yield from (
                (one, other) for one in mine[a:b] for other in theirs[c:d] if one.value and other.value
            )
    for place, name in enumerate(left[1:]):
        if name > 0 and theirs[name].word:
            yield mine[place], theirs[name - 1]
    subjects = [[t for t in tokens if t.word and particle_role(t.word) == "이"] for tokens in (mine, theirs)]
    if all(subjects):
        yield subjects[0][-1], subjects[1][-1]


def _is_deed(one: ParsedWord, other: ParsedWord) -> bool:
    """Tell whether one of two English words may be a verb, which has many synonyms."""
    return one.text.isascii() and any(is_verb(w.low) or _NO_NOUN.search(w.low) for w in (one, other))


def _is_of_one_kind(one: _Token, other: _Token) -> bool:
    mine, theirs = one.value, other.value
    if isinstance(mine, Figure) and isinstance(theirs, Figure):
        return mine.dimension == theirs.dimension or not theirs.dimension or not mine.dimension
    return isinstance(mine, Date) and isinstance(theirs, Date) and set(mine.parts) == set(theirs.parts)


def _is_another(one: ParsedWord, other: ParsedWord, passage: Passage, is_copy: bool) -> bool:
    """Tell whether two words mean two things: in a near copy any two, else one from elsewhere on the page."""
    if not one.text.isascii() and (
        particle_role(one) != particle_role(other) or particle_role(one) in {"", "다"}
    ):
        return False
    if one.key.endswith(other.key) or other.key.endswith(one.key) or parse_text(passage.title).has(one.key):
        return False
    if one.text.isascii() and one.low[:_SAME_STEM] == other.low[:_SAME_STEM]:
        return False
    if is_copy:
        return True
    if _NO_NOUN.search(one.low) or _NO_NOUN.search(other.low):
        return False
    return parse_text(passage.everything).has(one.key)

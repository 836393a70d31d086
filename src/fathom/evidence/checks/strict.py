"""The strict rules: everything in a statement that code does not find in its quotes.

They combine all checks with those for conclusions: causes, proofs, superlatives, duties, added clauses.
Amounts are figures compared exactly, in base units; dates are no amounts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from math import log10

from fathom.evidence.checks import (
    ParsedText,
    ParsedWord,
    has_phrase,
    is_same_word,
    parse_sentences,
    parse_text,
    particle_role,
    select_supporting_sentences,
)
from fathom.evidence.checks.dates import find_dates, find_wrong_dates
from fathom.evidence.checks.derivation import Passage, find_figures_outside_dates, is_fraction
from fathom.evidence.checks.figures import Figure
from fathom.evidence.checks.markers import find_changed_markers, find_dropped_scopes, find_other_speakers
from fathom.evidence.checks.negation import (
    find_contrasts,
    find_disagreement,
    find_disagreement_across_languages,
)
from fathom.evidence.checks.placement import find_misplaced
from fathom.evidence.checks.roles import find_swapped_roles
from fathom.text.mentions import find_missing_names, find_name_words

_DENIED_BEFORE = re.compile(r"\b(?:not|rather than|instead of)(?: the| from)?\s+[$€£¥₩]?$", re.IGNORECASE)
_DENIED_AFTER = re.compile(r"\s?[가-힣]{0,6}?(?:이|가)?\s?(?:아니라|아닌|아니고)")
_DEFINITE = re.compile(r"\b(?:the|these|those|both|other)\s$", re.IGNORECASE)
_ONCE = re.compile(r"\bonce\b(?=[.,;]|$)")
_NEAR = 0.03
_CONVERTED = 0.006  # relative rounding error, at most, between miles and kilometres or thirds and percent
_IN_ORDER = 0.5
_HEAVY_CHARS = 6  # of the only word of a clause


@lru_cache(maxsize=2048)
def find_amounts(text: str) -> tuple[Figure, ...]:
    """Return every figure in order, without parts of dates and of names such as "GX-4"; also "once"."""
    found = [
        replace(figure, is_about=has_phrase("approximate", text[max(0, figure.start - 24) : figure.start]))
        for figure in find_figures_outside_dates(text)
        if figure.code in {"", "v"}
    ]
    once = [Figure(match.group(), *match.span(), 1, "times") for match in _ONCE.finditer(text)]
    return tuple(sorted([*found, *once], key=lambda amount: amount.start))


def find_wrong_amounts(statement: str, quotes: Sequence[str]) -> list[str]:
    """Return the amounts of a statement that no quote gives."""
    every = [amount for quote in quotes for amount in find_amounts(quote)]
    known = [amount for quote in quotes for amount in _find_asserted(quote)]
    asserted = frozenset(_find_asserted(statement))
    is_in_a_row = has_phrase("in_a_row", statement)
    spare = {float(value) for quote in quotes for date in find_dates(quote) for value in date.parts.values()}
    return [
        said.text
        for said in find_amounts(statement)
        if not any(is_same_amount(said, other) for other in (known if said in asserted else every))
        and not (not said.dimension and said.base in spare)
        and not (said.base == 1 and said.text.lower() in {"one", "한"})
        and not (said.base == 2 and _DEFINITE.search(statement[max(0, said.start - 10) : said.start]))
        and not (is_in_a_row and any(_is_same_run(said, other) for other in every))
    ]


def _is_same_run(said: Figure, other: Figure) -> bool:
    """Tell whether "8 years in a row" and "the eighth" say the same."""
    return {said.dimension, other.dimension} == {"time", "ordinal"} and said.value == other.value


def find_denied_span(amount: Figure, text: str) -> tuple[int, int] | None:
    """Return the span that denies an amount, as in "9 crowns, not 7", including "not"."""
    head = text[max(0, amount.start - 40) : amount.start]
    is_led = head.rstrip().rstrip("$€£¥₩").rstrip().lower().endswith(("not", "than", "of", " the", " from"))
    if is_led and (before := _DENIED_BEFORE.search(head)):
        return amount.start - len(head) + before.start(), amount.end
    after = _DENIED_AFTER.match(text, amount.end)
    return (amount.start, after.end()) if after else None


def _find_asserted(text: str) -> tuple[Figure, ...]:
    """Return the amounts of a text without those it denies."""
    found = find_amounts(text)
    return tuple(amount for amount in found if find_denied_span(amount, text) is None) or found


def is_same_amount(said: Figure, other: Figure) -> bool:
    """Tell whether two amounts are equal: exactly, or within "about" or a unit conversion."""
    if not _is_same_measure(said.dimension, other.dimension):
        return False
    size, apart = max(abs(said.base), abs(other.base)), abs(said.base - other.base)
    if said.is_about:
        return apart <= _NEAR * size
    step = max(said.base_step, other.base_step) / 2 if _is_converted(said, other) else 0.0
    return apart <= max(min(_CONVERTED * size, step), 1e-9 * size)


def _is_same_measure(left: str, right: str) -> bool:
    """Tell whether two dimensions are comparable; no dimension fits any."""
    if left == right or not left or not right:
        return True
    return {left, right} in ({"degree", "celsius"}, {"degree", "fahrenheit"})


def _is_converted(said: Figure, other: Figure) -> bool:
    """Tell whether the units differ by no power of ten, so that a figure is rounded in one of them."""
    if is_fraction(said) or is_fraction(other):
        return is_fraction(said) != is_fraction(other)
    power = log10(said.factor / other.factor)
    return abs(power - round(power)) > 1e-9


def find_wrong_names(said: ParsedText, quotes: Sequence[str]) -> list[str]:
    """Return names of the statement that no quote has."""
    found = [name for name in find_name_words(said.text) if not has_phrase("month_or_unit", name)]
    if not said.is_korean and any(parse_text(quote).is_korean for quote in quotes):
        # Korean writes foreign names in Hangul, except acronyms.
        found = [name for name in found if name.isupper()]
    return [f"{name} is not in its quotes" for name in find_missing_names(found, quotes)]


def find_changed_words(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return a content word that replaces another one, if everything else is the quote's."""
    for text in quoted:
        swap = _find_changed_word(said, text)
        if swap:
            return [f"it says '{swap[0].text}' where the quote says '{swap[1].text}'"]
    return []


def _find_changed_word(said: ParsedText, text: ParsedText) -> tuple[ParsedWord, ParsedWord] | None:
    mine, theirs = list(said.content_words), list(text.content_words)
    new = [w for w in mine if not text.has(w.key)]
    shared = len(mine) - len(new)
    if not new or len(new) > 2 or not shared or (shared < 2 and len(said.words) != len(text.words)):
        return None
    if all(said.has(other.key) for other in theirs):
        return None  # nothing was replaced
    left = [next((o.key for o in theirs if is_same_word(w.key, o.key)), w.key) for w in said.words]
    matcher = SequenceMatcher(None, left, [w.key for w in text.words], autojunk=False)
    if matcher.ratio() < _IN_ORDER:
        return None
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "replace" or b - a != d - c:
            continue
        for one, other in zip(said.words[a:b], text.words[c:d], strict=True):
            if (
                one in new
                and other.is_content
                and not said.has(other.key)
                and _is_other_thing(one, other, said, text)
            ):
                return one, other
    return None


def _is_other_thing(one: ParsedWord, other: ParsedWord, said: ParsedText, text: ParsedText) -> bool:
    """Tell whether the two mean different things: Korean nouns in one role, or unrelated English words."""
    if said.is_korean:
        if one.key.endswith(other.key) or other.key.endswith(one.key):
            return False  # "증권거래세율" is a kind of "세율"
        is_noun = not has_phrase("korean_verb", one.low) and not has_phrase("korean_verb", other.low)
        is_named = particle_role(one) != "다" and (
            particle_role(one) or _find_next_word(one, said) == _find_next_word(other, text)
        )
        return is_noun and particle_role(one) == particle_role(other) and bool(is_named)
    is_verb = re.search(r"(?:ed|ing|ly)$", one.low) or re.search(r"(?:ed|ing|ly)$", other.low)
    return not is_verb


def _find_next_word(word: ParsedWord, text: ParsedText) -> str:
    """Return the next word: a title after a name, a noun after its adjective."""
    after = next((other for other in text.words if other.start > word.start), None)
    return after.key if after and after.is_content else f"nothing after {word.key}"


_COMPARES = re.compile(
    r"\b(?:with|who \w+) (?:more|less|fewer|higher|lower)\b.{0,300}\b(?:have|has|had|are|were|live|report)\b"
)
_COMPARING = re.compile(r"\b(?:have|has|had|are|were|is|was|live|report|with)\b")
_CUT = re.compile(
    r",\s|;\s|\s(?:and|but|which|while|whereas|so|because|therefore)\s|(?<=[가-힣]고)\s|(?<=며)\s"
    r"|(?<=[가-힣][어아여])\s(?=\S+ \S)"
)


def find_effects(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Tell whether the statement has an effect where its quotes only compare."""
    theirs = " ".join(text.low for text in quoted)
    is_turned = _COMPARES.search(theirs) and not _COMPARING.search(said.low)
    return ["its quotes compare, and tell no effect"] if is_turned else []


def find_additions(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return clauses without any word of the quotes, beside others that have some."""
    pieces, start = [], 0
    for cut in _CUT.finditer(said.low):
        pieces.append((start, cut.start()))
        start = cut.end()
    pieces.append((start, len(said.low)))
    if len(pieces) < 2:
        return []
    found = []
    for first, last in pieces[1:]:
        words = [w for w in said.content_words if first <= w.start < last]
        is_heavy = len(words) > 1 or (words and len(words[0].text) >= _HEAVY_CHARS)
        if is_heavy and not any(text.has(word.key) for word in words for text in quoted):
            found.append(f"nothing in its quotes says '{said.text[first:last].strip(' .')}'")
    return found


def find_flaws(statement: str, quotes: Sequence[str]) -> list[str]:
    """Return short reasons why the quotes do not support the statement; none if code finds nothing.

    Without quotes, only numbers, dates and names that would need one are reported.
    """
    return list(
        dict.fromkeys(why for found in find_flaws_by_kind(statement, quotes).values() for why in found)
    )


def find_flaws_by_kind(statement: str, quotes: Sequence[str]) -> dict[str, list[str]]:
    """Return the same reasons by kind; only kinds with any."""
    return {kind: list(reasons) for kind, reasons in _find_flaws(statement, tuple(quotes)).items()}


@lru_cache(maxsize=1024)  # the same pair is compared at several steps of a run
def _find_flaws(statement: str, quotes: tuple[str, ...]) -> dict[str, list[str]]:
    said = parse_text(statement)
    whole = [text for quote in quotes for text in parse_sentences(quote)]
    if said.low.strip(" .") in {text.low.strip(" .") for text in [*whole, *map(parse_text, quotes)]}:
        return {}
    # A question asserts nothing, but may be all there is, as in a heading above an answer.
    whole = [text for text in whole if not text.text.endswith("?")] or whole
    texts = [parse_text(quote).text for quote in quotes]
    near = select_supporting_sentences(said, whole)
    found = {
        "a number": [f"{fact} is not in its quotes" for fact in find_wrong_amounts(said.text, texts)],
        "a date": [f"{fact} is not in its quotes" for fact in find_wrong_dates(said.text, texts)],
        "a name": find_wrong_names(said, texts),
        **_compare(said, whole, near),
    }
    return {kind: reasons for kind, reasons in found.items() if reasons}


def _compare(
    said: ParsedText, whole: Sequence[ParsedText], near: Sequence[ParsedText]
) -> dict[str, list[str]]:
    if not near:
        return {}
    if any(text.is_korean != said.is_korean for text in near):
        return _compare_across_languages(said, whole if len(whole) <= 2 else near)
    return _compare_within_language(said, whole, near)


def _compare_within_language(
    said: ParsedText, whole: Sequence[ParsedText], near: Sequence[ParsedText]
) -> dict[str, list[str]]:
    """Compare within one language; `near` are the sentences that support the statement."""
    passage = Passage(tuple(text.text for text in near))
    drawn = _find_markers(said, Passage(tuple(text.text for text in whole)), is_dropped=False)
    hedges = [*_find_markers(said, passage, is_dropped=True), *find_other_speakers(said.text, passage)]
    return {
        "who and what": [*find_swapped_roles(said, near), *_notes(find_misplaced(said.text, passage))],
        "a negation": find_disagreement(said, near),
        "a direction": _notes(find_contrasts(said.text, passage)),
        "a hedge": _notes(hedges),
        "its scope": find_dropped_scopes(said, near),
        "a conclusion": [*_notes(drawn), *find_effects(said, whole)],
        "other words": [*find_additions(said, whole), *find_changed_words(said, near)],
    }


def _compare_across_languages(said: ParsedText, texts: Sequence[ParsedText]) -> dict[str, list[str]]:
    """Compare what can be compared across languages."""
    passage = Passage(tuple(text.text for text in texts))
    return {
        "a negation": find_disagreement_across_languages(said, texts),
        "a hedge": _notes(_find_markers(said, passage, is_dropped=True)) if len(texts) == 1 else [],
    }


def _find_markers(said: ParsedText, passage: Passage, is_dropped: bool) -> list[tuple[str, str]]:
    found = find_changed_markers(said.text, passage, skip={"negation"})
    return [(kind, note) for kind, note in found if note.startswith("the quote") is is_dropped]


def _notes(found: Iterable[tuple[str, str]]) -> list[str]:
    return [note for _, note in found]

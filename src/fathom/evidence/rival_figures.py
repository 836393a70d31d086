"""Find figures that may conflict: the same thing and measure, another value, and no rule is sure of it.

A tower is 330 m tall on one page and "stood 312 m high when it opened" on another. Rules cannot call that a
contradiction, and a reader still has to hear of both.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from fathom.evidence.checks.amounts import Amount
from fathom.evidence.statement_pairs import (
    are_other_members,
    find_periods,
    has_amount,
    have_other_subjects,
    have_shared_name,
    is_vague,
    parts_of,
)
from fathom.evidence.statements import (
    DIMENSIONS,
    ParsedStatement,
    are_opposed,
    find_dimension,
    measure_overlap,
    parse_statement,
)
from fathom.text.mentions import find_name_words

_SUBJECT_FROM = 0.5  # of the shorter one's content words, for figures with a unit
_COUNTED_FROM = 0.75  # the same for shares and plain counts, which may be of anything
_LEAST_APART = 0.15  # relative, if one of them is only about so much
_OFTEN_GIVEN = frozenset({"percent", "points", "times", "ordinal", "persons", "age"})
_OWN_SUBJECT = re.compile(r"(?:The )?([A-Z][\w-]+)(?:'s\b|’s\b|,? (?:is|was|has|had|have|are|were)\b)")
_ANY_DIMENSION = re.compile("|".join(DIMENSIONS.values()))


def find_rival_figures(left: str, right: str, titles: tuple[str, str] = ("", "")) -> tuple[str, str] | None:
    """Return the two figures that may conflict, as they are written; None if there are none.

    A statement that names nothing is about what the title of its page names.
    """
    both = parse_statement(left), parse_statement(right)
    for one, two in product(map(parse_statement, parts_of(left)), map(parse_statement, parts_of(right))):
        if not _are_comparable(one, two, titles):
            continue
        found = [
            (a.text, b.text)
            for a, b in _differing_amounts(one, two, titles)
            if not (has_amount(a, both[1]) or has_amount(b, both[0]))
        ]
        if len(found) == 1:
            return found[0]
    return None


def _are_comparable(one: ParsedStatement, two: ParsedStatement, titles: tuple[str, str]) -> bool:
    """Tell whether they may speak of one thing, time and case."""
    years = one.figure_years, two.figure_years
    return not (
        (all(years) and years[0] != years[1])
        or are_opposed(one.scopes, two.scopes)
        or are_other_members(one, two)
        or one.rates != two.rates
        or find_periods(one.text.text) != find_periods(two.text.text)
        or have_other_subjects(one, two, titles)
        or not _have_one_subject(one, two, titles)
    )


def _have_one_subject(one: ParsedStatement, two: ParsedStatement, titles: tuple[str, str]) -> bool:
    """Tell whether each one's first name is in the other; without names, whether the titles share one."""
    names = [_names_of(a, title) for a, title in zip((one, two), titles, strict=True)]
    texts = [f"{a.text.low} {title.lower()}" for a, title in zip((one, two), titles, strict=True)]
    return all(
        not own or any(name.lower() in text for name in own)
        for own, text in zip(names, texts[::-1], strict=True)
    )


def _names_of(statement: ParsedStatement, title: str) -> list[str]:
    alone = _OWN_SUBJECT.match(statement.text.text)
    first = [alone[1]] if alone and not statement.text.words[0].low.startswith(("it", "this")) else []
    return first or list(statement.names[:1]) or sorted(_names_in(title))


def _differing_amounts(
    one: ParsedStatement, two: ParsedStatement, titles: tuple[str, str]
) -> Iterator[tuple[Amount, Amount]]:
    bare = [replace(a, words=tuple(w for w in a.words if not _ANY_DIMENSION.match(w))) for a in (one, two)]
    shared = measure_overlap(*bare)
    of_shorter = shared.of_shorter if all(a.words for a in bare) else 1.0
    is_named = have_shared_name(one, two) or bool(_names_in(titles[0]) & _names_in(titles[1]))
    for (a, slot), (b, other) in product(one.amounts, two.amounts):
        least = _SUBJECT_FROM if a.measure and a.measure not in _OFTEN_GIVEN else _COUNTED_FROM
        is_about_one = of_shorter >= least and (shared.shared > 1 or is_named)
        is_one_slot = bool(slot) and slot == other and is_about_one
        if is_one_slot and _is_apart(a, one, b, two) and _is_one_dimension(a, one, b, two):
            yield a, b


def _names_in(title: str) -> set[str]:
    return {name.lower() for name in find_name_words(f"– {title}") if len(name) > 2}


def _is_apart(a: Amount, one: ParsedStatement, b: Amount, two: ParsedStatement) -> bool:
    """Tell whether the values differ, by more than "about" or a bound allows."""
    apart = abs(a.value - b.value)
    if is_vague(a, one) or is_vague(b, two):
        return apart > _LEAST_APART * max(abs(a.value), abs(b.value))
    return apart > 0


def _is_one_dimension(a: Amount, one: ParsedStatement, b: Amount, two: ParsedStatement) -> bool:
    """Tell whether two lengths are both heights, both widths, …; other measures have no such kinds."""
    if a.measure != "length":
        return True
    kinds = [find_dimension(x, text) for x, text in ((a, one), (b, two))]
    return kinds[0] == kinds[1] != ""

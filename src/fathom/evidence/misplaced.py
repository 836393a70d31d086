"""Figures, years and subjects of a statement that stand with other words than in the quote.

Cross-language where only figures are compared; by words within one language. Says what to look at, as pairs of
kind and note; does not decide anything.
"""

import re
from collections.abc import Iterator, Sequence

from fathom.evidence.dates import dates
from fathom.evidence.derivation import (
    Passage,
    calculation_of,
    is_figure_found,
    is_plain_count,
    is_same,
    numbers_of,
)
from fathom.evidence.figures import Figure, figures
from fathom.evidence.markers import pattern
from fathom.evidence.words import Word, parsed, role
from fathom.text.tokens import has_paired_script

_FROM_TO = re.compile(
    r"\bfrom\s(?P<a>.{1,40}?)\sto\s(?P<b>.{1,40})|\bto\s(?P<b2>.{1,40}?),?\s(?:up |down )?from\s(?P<a2>.{1,40})"
    r"|(?P<b3>.{1,40}?),?\s(?:up|down)\sfrom\s(?P<a3>.{1,40})|(?P<a4>.{1,30})에서\s(?P<b4>.{1,40}?)(?:으로|로)\s"
)
_RANGE = re.compile(r"\d+\s?[~–-]\s?\d+\S*")
_CLAUSE = re.compile(r"[,;.]\s|\s(?:and|while|but|whereas)\s|(?<=[고며])\s|(?<=지만)\s|(?<=데)\s|(?<=반면)\s")
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_TABLE_ROW = re.compile(r"^\s*\|.*\|\s*$")


def misplaced(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Return what stands elsewhere in the statement than in the quote, as (kind, note)."""
    said = _free_figures(statement)
    yield from _odd_figures(said, statement, passage)
    yield from _reversed_change(statement, passage)
    yield from _other_year(statement, passage)
    if has_paired_script(statement) == has_paired_script(passage.quoted):
        yield from _swapped_rows(statement, passage)
        yield from _other_subject(statement, passage)


def _odd_figures(said: Sequence[Figure], statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    quoted = [(figure, passage.quoted) for figure in figures(passage.quoted)]
    for figure in said:
        if not is_figure_found(figure, passage):
            formula = calculation_of(figure, passage)
            if formula:
                yield "calculation", f"'{figure.text}' is not in the source, but may be {formula}"
            elif is_plain_count(figure, statement):
                yield "count", f"nothing in the source counts '{figure.text}'"
        same = [(other, text) for other, text in quoted if is_same(figure, other)]
        if not same:
            continue
        if figure.dimension and all(_is_other_unit(figure, other) for other, _ in same):
            yield "unit", f"'{figure.text}' has another unit in the quote: '{same[0][0].text}'"
        if _is_level(figure, statement) and all(_is_change(other, text) for other, text in same):
            yield "figure", f"'{figure.text}' is a change in the quote, not a value"
        if figure.bound and all(figure.value == o.value and o.bound != figure.bound for o, _ in same):
            yield "figure", f"the quote does not bound '{figure.text}' like that"
        if any(_is_unscaled(figure, statement, thing) for thing in passage.scales.values()):
            yield "unit", f"the table counts '{figure.text}' in thousands or more"


def _is_other_unit(figure: Figure, other: Figure) -> bool:
    return bool(other.dimension) and {figure.dimension, other.dimension} == {"percent", "points"}


def _is_unscaled(figure: Figure, text: str, thing: str) -> bool:
    return bool(thing) and figure.step == 1.0 and text[figure.end :].lstrip().startswith(thing)


def _is_change(figure: Figure, text: str) -> bool:
    is_after = pattern("change_after").match(text[figure.end : figure.end + 30])
    return bool(is_after or pattern("change_before").search(text[: figure.start].lower()[-40:]))


def _is_level(figure: Figure, text: str) -> bool:
    after, before = text[figure.end :], text[: figure.start]
    if _is_change(figure, text) or pattern("change_named").search(before):
        return False
    return bool(pattern("level_after").match(after) or pattern("level_before").search(before.lower()))


def _reversed_change(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find "from A to B" that is "from B to A" in the quote."""
    theirs = _changes(passage.quoted)
    for old, new in _changes(statement):
        for was, became in theirs:
            if is_same(old, became) and is_same(new, was) and not is_same(old, was):
                yield "direction", f"it goes from '{old.text}' to '{new.text}', in the quote the other way"


def _changes(text: str) -> list[tuple[Figure, Figure]]:
    found = []
    for match in _FROM_TO.finditer(text):
        groups = match.groupdict()
        old = next(groups[name] for name in ("a", "a2", "a3", "a4") if groups[name])
        new = next(groups[name] for name in ("b", "b2", "b3", "b4") if groups[name])
        one, two = numbers_of(old), numbers_of(new)
        if one and two:
            is_led = groups["b3"] is not None or groups["a4"] is not None
            found.append((one[-1 if groups["a4"] else 0], two[-1 if is_led and groups["b3"] else 0]))
    return found


def _other_year(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a year that is not in the quote, where the quote has years of its own and says nothing relative."""
    quoted = {date.year for date in dates(passage.quoted) if date.year}
    if not quoted or passage.calendar.is_relative(passage.quoted):
        return
    for date in dates(statement):
        if date.year and date.year not in quoted and str(date.year) not in passage.title:
            yield "year", f"the quote speaks of {min(quoted)}, not of {date.year}"


def _free_figures(text: str) -> list[Figure]:
    """The figures that are no dates and no parts of a range such as "30~34"."""
    taken = [match.span() for match in _RANGE.finditer(text)]
    return [f for f in numbers_of(text) if not any(f.start < end and start < f.end for start, end in taken)]


def _parts(text: str, cut: re.Pattern[str]) -> list[str]:
    return [part for part in cut.split(text) if part and part.strip()]


def _swapped_rows(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find figures that stand with the words of another row or clause of the quote."""
    rows = _parts(passage.quoted, re.compile(r"\n+"))
    if len(rows) < 2:
        rows = [row for sentence in _parts(passage.quoted, _SENTENCE) for row in _parts(sentence, _CLAUSE)]
    owners = [_labels(row) for row in rows]
    values = [_free_figures(row) for row in rows]
    strangers: dict[tuple[int, int], Figure] = {}  # (the row its words are in, the row its figure is in)
    for clause in _parts(statement, _CLAUSE):
        scores = [len(_labels(clause) & _unique(owners, place)) for place in range(len(rows))]
        if not any(scores) or scores.count(max(scores)) > 1:
            continue
        own = scores.index(max(scores))
        for figure in _free_figures(clause):
            places = [n for n, row in enumerate(values) if any(is_same(figure, f) for f in row)]
            if len(places) == 1 and places[0] != own and (scores[places[0]] == 0 or len(rows) == 2):
                strangers[own, places[0]] = figure
    for (own, other), figure in strangers.items():
        if (other, own) in strangers:
            if own < other:
                yield "figure", f"'{figure.text}' and '{strangers[other, own].text}' have changed places"
        elif _is_passed_over(figure, values[own], statement):
            yield "figure", f"'{figure.text}' stands with other words in the quote"


def _is_passed_over(figure: Figure, own: Sequence[Figure], statement: str) -> bool:
    """Tell whether the words' own row has such a figure, which the statement does not mention."""
    mentioned = figures(statement)
    rivals = [other for other in own if other.dimension == figure.dimension]
    return bool(rivals) and not any(is_same(f, other) for other in rivals for f in mentioned)


def _labels(text: str) -> set[str]:
    """The words of a row, and ranges such as "30~34"."""
    words = {word.key for word in parsed(text).telling}
    return words | set(re.findall(r"\d+\s?[~–-]\s?\d+", text))


def _unique(owners: Sequence[set[str]], place: int) -> set[str]:
    others = set().union(*(own for n, own in enumerate(owners) if n != place))
    return owners[place] - others


def _other_subject(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a clause whose subject is that of another sentence of the quote than its other words are from."""
    sentences = [parsed(part) for part in _parts(passage.quoted, _SENTENCE)]
    topics = [_topic(sentence.words) for sentence in sentences]
    if len([topic for topic in topics if topic]) < 2:
        return
    for clause in map(parsed, _parts(statement, _CLAUSE)):
        subject = _topic(clause.words)
        rest = [word for word in clause.telling if subject and word.key != subject.key]
        if subject is None or len(rest) < 2:
            continue
        scores = [sum(sentence.has(word.key) for word in rest) for sentence in sentences]
        best = scores.index(max(scores))
        topic = topics[best]
        if topic is None or 2 * scores[best] < len(rest) or scores.count(scores[best]) > 1:
            continue
        is_elsewhere = any(t and t.key == subject.key for n, t in enumerate(topics) if n != best)
        if is_elsewhere and not sentences[best].has(subject.key) and topic.key not in {w.key for w in clause.words}:
            yield "who and what", f"in the quote it is '{topic.text}', not '{subject.text}'"


def _topic(words: Sequence[Word]) -> Word | None:
    """The first word that is a subject: by its particle in Korean, by its place in English."""
    for word in words[:8]:
        if word.is_telling and (role(word) == "이" or word.text.isascii()):
            return word
    return None

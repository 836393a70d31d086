"""Figures, years and subjects of a statement that stand with other words than in the quote.

Across languages only figures are compared, within one language also words. Says what to look at, as pairs
of kind and note; does not decide anything.
"""

import re
from collections.abc import Iterator, Sequence

from fathom.evidence.checks.dates import find_dates, has_relative_time
from fathom.evidence.checks.derivation import (
    Passage,
    find_calculation,
    find_figures_outside_dates,
    is_figure_found,
    is_same_figure,
    is_small_number,
)
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.evidence.checks.lexicon import load_opposites, load_phrase_pattern
from fathom.evidence.checks.words import ParsedWord, is_same_word, parse_text, particle_role
from fathom.text.tokens import has_cjk

_FROM_TO = re.compile(
    r"\bfrom\s(?P<a>.{1,40}?)\sto\s(?P<b>.{1,40})"
    r"|\bto\s(?P<b2>.{1,40}?),?\s(?:up |down )?from\s(?P<a2>.{1,40})"
    r"|(?P<b3>.{1,40}?),?\s(?:up|down)\sfrom\s(?P<a3>.{1,40})|(?P<a4>.{1,30})에서\s(?P<b4>.{1,40}?)(?:으로|로)\s"
)
_FIRST_YEAR = re.compile(
    r"\W{0,4}(?:In |By |As of )?(?:\w+ )?(?:1\d{3}|20\d\d)(?:년(?!\s?(?:이후|부터|이래|생|대비|과|보다))|,)"
)
_PARTICLE = re.compile(r"은|는|이|가|을|를|의|에|에서|으로|로|보다|까지|부터|와|과|도|씩|당|인|이며|이고")
_SUBJECT_AFTER_BRACKET = re.compile(r"\([^()\n]{1,40}\)[은는이가]")
_MOST_ROWS = 40
_SHARE_OF = re.compile(r"(?P<whole>[가-힣]{2,10}?)(?:들)?의 (?P<share>\d{1,3}(?:\.\d{1,3})?)\s?%")
_RANGE = re.compile(r"(?<!\d)\d{1,6}\s?[~–-]\s?\d+\S*")
_CLAUSE = re.compile(
    r"[,;.]\s|\s(?:and|while|but|whereas)\s|(?<=[고며])\s|(?<=지만),?\s|(?<=으나),?\s|(?<=데)\s|(?<=반면)\s|(?<=%로)\s|(?<=[명원건]으로)\s|(?<=개로)\s"
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_BODY = re.compile(
    r"[가-힣](?:은행|청|처|부|원|위원회|연구소|연구진|협회|단체|대학|공사|재단|거래소|관계자|담당자|교수|전문가|학자|장관|대표"
    r"|업계|센터|학회|노조|시|회사)$|^(?:업계|정부|당국)$"
)
_ANY_BODY = re.compile(r"^(?:정부|당국|연구진|저자|회사|기관|관계자|담당자|위원회|연구원)$")


def find_misplaced(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Return what stands elsewhere in the statement than in the quote, as (kind, note)."""
    said = _free_figures(statement)
    yield from _find_odd_figures(said, statement, passage)
    yield from _find_reversed_change(statement, passage)
    yield from _find_other_year(statement, passage)
    if has_cjk(statement) == has_cjk(passage.quoted):
        yield from _find_swapped_rows(statement, passage)
        yield from _find_other_owner(statement, passage)
        yield from _find_other_subject(statement, passage)
        yield from _find_other_speaker(statement, passage)
        yield from _find_other_whole(statement, passage)


def _find_odd_figures(said: Sequence[Figure], statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    quoted = [(figure, passage.quoted) for figure in find_figures(passage.quoted)]
    limits = load_opposites()["limit"]
    for figure in said:
        if not is_figure_found(figure, passage):
            formula = find_calculation(figure, passage)
            if formula:
                yield "calculation", f"'{figure.text}' is not in the source, but may be {formula}"
            elif is_small_number(figure):
                yield "count", f"nothing in the source counts '{figure.text}'"
        same = [(other, text) for other, text in quoted if is_same_figure(figure, other)]
        if not same:
            continue
        if figure.dimension and all(_is_other_unit(figure, other) for other, _ in same):
            yield "unit", f"'{figure.text}' has another unit in the quote: '{same[0][0].text}'"
        if _is_level(figure, statement) and all(_is_change(other, text) for other, text in same):
            yield "figure", f"'{figure.text}' is a change in the quote, not a value"
        if (
            figure.bound
            and all(figure.value == o.value and o.bound != figure.bound for o, _ in same)
            and not (limits[figure.bound > 0].search(passage.quoted.lower()))
        ):
            yield "figure", f"the quote does not bound '{figure.text}' like that"
        if "|" in passage.quoted and any(
            _is_unscaled(figure, statement, thing) for thing in passage.scales.values()
        ):
            yield "unit", f"the table counts '{figure.text}' in thousands or more"


def _is_other_unit(figure: Figure, other: Figure) -> bool:
    return bool(other.dimension) and {figure.dimension, other.dimension} == {"percent", "points"}


def _is_unscaled(figure: Figure, text: str, thing: str) -> bool:
    is_bare = figure.text.replace(",", "").isdigit() and figure.value >= 10
    return bool(thing) and is_bare and text[figure.end :].lstrip().startswith(thing)


def _is_change(figure: Figure, text: str) -> bool:
    is_after = load_phrase_pattern("change_after").match(text[figure.end : figure.end + 30])
    return bool(
        is_after
        or load_phrase_pattern("change_before").search(text[max(0, figure.start - 40) : figure.start].lower())
    )


def _is_level(figure: Figure, text: str) -> bool:
    after, before = text[figure.end : figure.end + 60], text[max(0, figure.start - 60) : figure.start]
    if _is_change(figure, text) or load_phrase_pattern("change_named").search(before):
        return False
    return bool(
        load_phrase_pattern("level_after").match(after)
        or load_phrase_pattern("level_before").search(before.lower())
    )


def _find_reversed_change(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find "from A to B" that is "from B to A" in the quote."""
    theirs = _list_changes(passage.quoted)
    for old, new in _list_changes(statement):
        for was, became in theirs:
            if is_same_figure(old, became) and is_same_figure(new, was) and not is_same_figure(old, was):
                yield "direction", f"it goes from '{old.text}' to '{new.text}', in the quote the other way"


def _list_changes(text: str) -> list[tuple[Figure, Figure]]:
    found = []
    for match in _FROM_TO.finditer(text):
        groups = match.groupdict()
        old = next(groups[name] for name in ("a", "a2", "a3", "a4") if groups[name])
        new = next(groups[name] for name in ("b", "b2", "b3", "b4") if groups[name])
        one, two = find_figures_outside_dates(old), find_figures_outside_dates(new)
        if one and two:
            is_led = groups["b3"] is not None or groups["a4"] is not None
            found.append((one[-1 if groups["a4"] else 0], two[-1 if is_led and groups["b3"] else 0]))
    return found


def _find_other_year(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a year that is not in the quote, where the quote has years of its own."""
    quoted = {date.year for date in find_dates(passage.quoted) if date.year}
    if not quoted or has_relative_time(passage.quoted):
        return
    firsts = [_FIRST_YEAR.match(part) for part in _split_parts(passage.quoted, _SENTENCE)]
    told = {date.year for date in find_dates(statement) if date.year}
    own = {year - apart for year in passage.calendar.own for apart in (0, 1)}
    is_told_first = firsts and all(firsts) and not told & quoted
    if told and is_told_first:
        yield "year", f"the quote begins with {min(quoted)}, not with {min(told)}"
    elif told and not told & (quoted | own) and not any(str(year) in passage.title for year in told):
        yield "year", f"the quote speaks of {min(quoted)}, not of {min(told)}"


def _free_figures(text: str) -> list[Figure]:
    """The figures that are no dates and no parts of a range such as "30~34"."""
    taken = [match.span() for match in _RANGE.finditer(text)]
    return [
        f
        for f in find_figures_outside_dates(text)
        if not any(f.start < end and start < f.end for start, end in taken)
    ]


def _split_parts(text: str, cut: re.Pattern[str]) -> list[str]:
    return [part for part in cut.split(text) if part and part.strip()]


def _find_swapped_rows(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find figures that stand with the words of another row or clause of the quote."""
    rows = _split_parts(passage.quoted, re.compile(r"\n+"))
    if len(rows) < 2:
        rows = [
            row
            for sentence in _split_parts(passage.quoted, _SENTENCE)
            for row in _split_parts(sentence, _CLAUSE)
        ]
    if len(rows) > _MOST_ROWS:
        return
    owners = [_labels(row) for row in rows]
    unique = [_unique_labels(owners, place) for place in range(len(rows))]
    values = [_free_figures(row) for row in rows]
    strangers: dict[tuple[int, int], Figure] = {}  # (the row its words are in, the row its figure is in)
    for clause in _split_parts(statement, _CLAUSE):
        labels = _labels(clause)
        scores = [len(labels & own) for own in unique]
        if not any(scores) or scores.count(max(scores)) > 1:
            continue
        own = scores.index(max(scores))
        for figure in (figure for figure in _free_figures(clause) if figure.value != 1):
            places = [n for n, row in enumerate(values) if any(is_same_figure(figure, f) for f in row)]
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
    mentioned = find_figures(statement)
    rivals = [other for other in own if other.dimension == figure.dimension]
    return bool(rivals) and not any(is_same_figure(f, other) for other in rivals for f in mentioned)


def _find_other_owner(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a figure whose subject has another such figure in the quote, and this one a subject of its own."""
    mine, theirs = _pair_figures_with_subjects(statement), _pair_figures_with_subjects(passage.quoted)
    for figure, owner in mine:
        keepers = {word.key for other, word in theirs if is_same_figure(figure, other)}
        rivals = [
            o for o, word in theirs if is_same_word(owner.key, word.key) and o.dimension == figure.dimension
        ]
        kept = [f for f, word in mine if is_same_word(owner.key, word.key)]
        if not keepers or not rivals or any(is_same_word(owner.key, key) for key in keepers):
            continue
        if not any(is_same_figure(f, rival) for f in kept for rival in rivals):
            yield "figure", f"in the quote '{figure.text}' is not what is said of '{owner.text}'"


def _pair_figures_with_subjects(text: str) -> list[tuple[Figure, ParsedWord]]:
    """Each figure with the subject before it: by particle in Korean, the first of a clause in English."""
    found = []
    for sentence in _split_parts(text, _SENTENCE):
        is_korean = has_cjk(sentence)
        for part in [sentence] if is_korean else _split_parts(sentence, _CLAUSE):
            words = [w for w in parse_text(part).words if w.is_telling and not _PARTICLE.fullmatch(w.low)]
            for figure in (figure for figure in _free_figures(part) if figure.value != 1):
                before = [word for word in words if word.end <= figure.start]
                subjects = [
                    word
                    for word in before
                    if particle_role(word) == "이"
                    or figure.start - word.end <= 1
                    or _SUBJECT_AFTER_BRACKET.match(part, word.end)
                ]
                found += [(figure, word) for word in (subjects[-1:] if is_korean else before[:1])]
    return found


def _labels(text: str) -> set[str]:
    """The words of a row, and ranges such as "30~34"."""
    words = {word.key for word in parse_text(text).telling}
    return words | set(re.findall(r"(?<!\d)\d{1,6}\s?[~–-]\s?\d+", text))


def _unique_labels(owners: Sequence[set[str]], place: int) -> set[str]:
    others = set().union(*(own for n, own in enumerate(owners) if n != place))
    return owners[place] - others


def _find_other_subject(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a clause whose subject is that of another sentence of the quote than its other words are from."""
    sentences = [parse_text(part) for part in _split_parts(passage.quoted, _SENTENCE)]
    topics = [_topic(sentence.words) for sentence in sentences]
    if len([topic for topic in topics if topic]) < 2:
        return
    for clause in map(parse_text, _split_parts(statement, _CLAUSE)):
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
        if (
            is_elsewhere
            and not sentences[best].has(subject.key)
            and topic.key not in {w.key for w in clause.words}
        ):
            yield "who and what", f"in the quote it is '{topic.text}', not '{subject.text}'"


def _find_other_speaker(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find somebody who speaks or acts in the statement, where somebody else does in the quote."""
    quoted = [word for word in parse_text(passage.quoted).words if particle_role(word) == "이"]
    for word in parse_text(statement).words[:6]:
        if particle_role(word) != "이" or not _BODY.search(word.key) or word.key in passage.quoted:
            continue
        bodies = [other for other in quoted if _BODY.search(other.key) and not _ANY_BODY.match(other.key)]
        if bodies and not any(other.key in statement or other.key[-2:] == word.key[-2:] for other in bodies):
            yield "speaker", f"in the quote it is '{bodies[0].text}', not '{word.text}'"


def _find_other_whole(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a share that is of other people or things in the quote: 85% of the patients, 85% of the dead."""
    theirs = {match["share"]: match["whole"] for match in _SHARE_OF.finditer(passage.quoted)}
    for match in _SHARE_OF.finditer(statement):
        whole = theirs.get(match["share"], match["whole"])
        if whole not in statement and match["whole"] not in passage.quoted:
            yield "scope", f"in the quote {match['share']}% are of '{whole}', not of '{match['whole']}'"


def _topic(words: Sequence[ParsedWord]) -> ParsedWord | None:
    """The first word that is a subject: by its particle in Korean, by its place in English."""
    for word in words[:8]:
        if word.is_telling and (particle_role(word) == "이" or word.text.isascii()):
            return word
    return None

"""Find figures, years and subjects of a statement that go with other words than in the quote.

Across languages only figures are compared, within one language also words. Results are pairs of kind and note
for the verifier.
"""

import re
from collections.abc import Iterator, Sequence

from fathom.evidence.checks.dates import Date, find_dates, has_relative_time, meant_years
from fathom.evidence.checks.derivation import (
    Passage,
    find_calculation,
    find_figures_outside_dates,
    is_figure_found,
    is_fraction,
    is_same_figure,
    is_small_number,
)
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.evidence.checks.lexicon import load_opposites, load_phrase_pattern
from fathom.evidence.checks.words import ParsedWord, is_same_word, parse_text, particle_role
from fathom.text.tokens import has_cjk

_FIRST_YEAR = re.compile(
    r"\W{0,4}(?:In |By |As of )?(?:\w+ )?(?:1\d{3}|20\d\d)(?:년(?!\s?(?:이후|부터|이래|생|대비|과|보다))|,)"
)
_PARTICLE = re.compile(r"은|는|이|가|을|를|의|에|에서|으로|로|보다|까지|부터|와|과|도|씩|당|인|이며|이고")
_SUBJECT_AFTER_BRACKET = re.compile(r"\([^()\n]{1,40}\)[은는이가]")
_LEAD = re.compile(r"\b(by|to|from)\s(?:about |nearly |over |up to )?$")
_MINUS = re.compile(r"(?:\bminus|영하|마이너스)\s$|(?:^|[\s`(])[-–−]$")
_DATE_SIDES = {
    "since": {"since", "after", "부터", "이후", "이래"},
    "until": {"until", "till", "by", "before", "까지", "이전"},
    "in": {"in", "on", "at", "에"},
}
_PART_OF = re.compile(r"[,;]\s([^,;.]{2,30}?)\s?\bof (?:them|it|which|whom|these)\b([^,;.]{3,60})")
_THAN = re.compile(
    r"(?:지난해|작년|전년|1년 전|한 해 전|올해)[^,.]{0,14}?(?:보다|대비|에 비해)"
    r"|\bthan (?:\w+ ){0,3}?(?:year|quarter|month)(?: earlier| before| ago)?"
    r"|\b(?:a|the) (?:year|quarter|month) (?:earlier|before|ago)\b"
)
_QUARTERS = {
    1: re.compile(
        r"(?<!\d)1\s?/?4?분기|\bq1\b|\bfirst (?:quarter|three months)|(?<!\d)1\s?[~∼–-]\s?3월|석 달|3개월"
    ),
    2: re.compile(r"(?<!\d)2\s?/?4?분기|\bq2\b|\bsecond quarter|(?<!\d)4\s?[~∼–-]\s?6월"),
    3: re.compile(r"(?<!\d)3\s?/?4?분기|\bq3\b|\bthird quarter|(?<!\d)7\s?[~∼–-]\s?9월"),
    4: re.compile(r"(?<!\d)4\s?/?4?분기|\bq4\b|\bfourth quarter|(?<!\d)10\s?[~∼–-]\s?12월"),
    5: re.compile(r"상반기|하반기|\b(?:first|second) half\b|\bh[12]\b"),
}
_PERIOD_END = re.compile(r"(?<=[.!?。])\s+|\n+|(?<=지만)\s|,\s|;\s")
_MOST_ROWS = 40
_SHARE_OF = re.compile(
    r"(?P<whole>[가-힣]{2,10}?)(?:들)?(?:의| [\d,]{1,9}명 ?(?:가운데|중)| 가운데| 중)[ ,]"
    r"(?P<share>\d{1,3}(?:\.\d{1,3})?)\s?%"
)
_RATE = re.compile(
    r"(\d{0,9}\s?[가-힣]{1,6}?)당(?=\s)|\bper (\w+)|(?<!\w)(하루|한 달|일주일|매주|매달|매년)(?=\s)"
    r"|\b(daily|weekly|monthly|yearly|annual)\b"
)
_RANGE = re.compile(r"(?<!\d)\d{1,6}\s?[~–-]\s?\d+\S*")
_CLAUSE = re.compile(
    r"[,;.]\s|\s(?:and|while|but|whereas)\s|(?<=[고며])\s|(?<=지만),?\s|(?<=으나),?\s|(?<=데)\s|(?<=반면)\s|(?<=%로)\s|(?<=[명원건]으로)\s|(?<=개로)\s"
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")


def find_misplaced(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield what is placed differently in the statement than in the quote, as (kind, note)."""
    said = _free_figures(statement)
    yield from _find_odd_figures(said, statement, passage)
    yield from _find_other_year(statement, passage)
    yield from _other_side_of_date(statement, passage)
    yield from _share_left_out(statement, passage)
    yield from _whole_year(statement, passage)
    if has_cjk(statement) == has_cjk(passage.quoted):
        yield from _find_swapped_rows(statement, passage)
        yield from _find_other_owner(statement, passage)
        yield from _find_owner_named_elsewhere(statement, passage)
        yield from _find_other_subject(statement, passage)
        yield from _find_other_whole(statement, passage)
        yield from _other_rate(statement, passage)


def _find_odd_figures(said: Sequence[Figure], statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    quoted = [(figure, passage.quoted) for figure in find_figures(passage.quoted)]
    limits = load_opposites()["limit"]
    for figure in said:
        if not is_figure_found(figure, passage):
            formula = find_calculation(figure, passage)
            if formula and not _is_plain_difference(figure, formula):
                yield "calculation", f"'{figure.text}' is not in the source, but may be {formula}"
            elif not formula and (is_small_number(figure) or is_fraction(figure)):
                yield "count", f"nothing in the source counts '{figure.text}'"
        if not any(f.dimension == figure.dimension and f.factor == figure.factor for f, _ in quoted):
            slipped = [o for o, _ in quoted if o.value == figure.value and o.dimension == figure.dimension]
            if slipped and figure.dimension == "time" and not any(is_same_figure(figure, o) for o in slipped):
                yield "unit", f"'{figure.text}' has another unit in the quote: '{slipped[0].text}'"
        same = [(other, text) for other, text in quoted if is_same_figure(figure, other)]
        if not same:
            continue
        lead = _lead(figure, statement)
        leads = {_lead(other, text) for other, text in same}
        if lead not in leads and (all({lead, *leads}) or "-" in {lead, *leads}):
            yield "figure", f"'{figure.text}' has '{min(leads)}' before it in the quote, not '{lead}'"
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


def _lead(figure: Figure, text: str) -> str:
    """Return the preposition before a figure: by, to, from, minus."""
    before = text[max(0, figure.start - 40) : figure.start].lower()
    found = _LEAD.search(before)
    return "-" if _MINUS.search(before) else found[1] if found else ""


def _is_plain_difference(figure: Figure, formula: str) -> bool:
    """Tell whether such a difference is hardly chance: it has three digits or a unit."""
    digits = len(re.sub(r"\D|^[0.]+|0+$", "", figure.text))
    return " - " in formula and (digits >= 2 or bool(figure.dimension))


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


def _find_other_year(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a year that is not in the quote, if the quote names or implies other years."""
    yield from _find_other_year_of_month(statement, passage)
    quoted = {date.year for date in find_dates(passage.quoted) if date.year}
    stated = {date.year for date in find_dates(statement) if date.year}
    if has_relative_time(passage.quoted):
        meant = quoted | meant_years(_THAN.sub(" ", passage.quoted), passage.date)
        if stated and meant and not stated & meant and len(meant) == 1:
            yield "year", f"the quote means {min(meant)}, not {min(stated)}"
        return
    if not quoted:
        return
    firsts = [_FIRST_YEAR.match(part) for part in _split_parts(passage.quoted, _SENTENCE)]
    own = {year - apart for year in passage.calendar.own for apart in (0, 1)}
    is_stated_first = firsts and all(firsts) and not stated & quoted
    if stated and is_stated_first:
        yield "year", f"the quote begins with {min(quoted)}, not with {min(stated)}"
    elif stated and not stated & (quoted | own) and not any(str(year) in passage.title for year in stated):
        yield "year", f"the quote speaks of {min(quoted)}, not of {min(stated)}"


def _find_other_year_of_month(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find "March 2024" where the quote says "March" on a page of April 2025."""
    if not re.match(r"\d{4}-\d{2}", passage.date) or has_relative_time(_THAN.sub(" ", passage.quoted)):
        return
    year, month = int(passage.date[:4]), int(passage.date[5:7])
    bare = {d.parts["month"] for d in find_dates(passage.quoted) if "month" in d.parts and not d.year}
    stated = [date for date in find_dates(statement) if date.year and date.parts.get("month") in bare]
    meant = {year - apart for apart in (0, 1) for d in stated if not apart or d.parts["month"] > month}
    is_other = bool(stated) and meant.isdisjoint(date.year for date in stated)
    if is_other and not _names_earlier_figure(statement, passage):
        yield "year", f"the quote means {max(meant)}, not {stated[0].year}"


def _names_earlier_figure(statement: str, passage: Passage) -> bool:
    """Tell whether the statement gives the figure that the quote gives for a year earlier."""
    earlier = [c for c in _split_parts(passage.quoted, re.compile(r",\s|;\s|\.\s")) if _THAN.search(c)]
    mine = _free_figures(statement)
    return any(
        is_same_figure(f, other) for clause in earlier for f in mine for other in _free_figures(clause)
    )


def _other_side_of_date(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find "on 1 October" where the quote says "until 1 October"."""
    theirs = [(date, _side(passage.quoted, date)) for date in find_dates(passage.quoted)]
    for date in find_dates(statement):
        mine = _side(statement, date)
        sides = {side for other, side in theirs if other.parts == date.parts}
        if mine and sides and mine not in sides and "" not in sides:
            yield "date", f"the quote says '{min(sides)}' {date.text}, the statement '{mine}'"


def _side(text: str, date: Date) -> str:
    """Return whether a date is a start, an end or the time itself, by the preposition beside it."""
    before = re.search(r"\b(\w+)\s$", text[: date.start].lower())
    after = re.match(r"\s?(부터|이후|이래|까지|이전|에)", text[date.end :])
    word = after[1] if after else before[1] if before else ""
    return next((side for side, words in _DATE_SIDES.items() if word in words), "")


def _share_left_out(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find what the quote says only of a part: "5,300 people, about 600 of them in Switzerland"."""
    said = parse_text(statement)
    for match in _PART_OF.finditer(passage.quoted):
        part, rest = find_figures(match[1]), parse_text(match[2])
        is_stated = any(is_same_figure(f, other) for f in find_figures(statement) for other in part)
        if (
            part
            and not is_stated
            and rest.content_words
            and all(w.key in said.keys for w in rest.content_words[:2])
        ):
            yield "scope", f"the quote says it of '{match[1].strip()}' only"


def _whole_year(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a figure of a quarter or half in the quote, where the statement names none."""
    if any(words.search(statement.lower()) for words in _QUARTERS.values()):
        return
    mine = _free_figures(statement)
    for clause in _split_parts(passage.quoted, _PERIOD_END):
        named = next((m.group() for words in _QUARTERS.values() if (m := words.search(clause.lower()))), "")
        same = [
            f
            for f in _free_figures(_THAN.sub(" ", clause))
            if any(is_same_figure(f, other) for other in mine)
        ]
        if named and same:
            yield "period", f"in the quote '{same[0].text}' is of '{named}'"


def _free_figures(text: str) -> list[Figure]:
    """Return the figures that are no dates and no part of a range such as "30~34"."""
    taken = [match.span() for match in _RANGE.finditer(text)]
    return [
        f
        for f in find_figures_outside_dates(text)
        if not any(f.start < end and start < f.end for start, end in taken)
    ]


def _split_parts(text: str, cut: re.Pattern[str]) -> list[str]:
    return [part for part in cut.split(text) if part and part.strip()]


def _find_swapped_rows(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find figures that go with the words of another row or clause of the quote."""
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
    strangers: dict[tuple[int, int], Figure] = {}  # (row of its words, row of its figure)
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
    """Tell whether the words' own row has such a figure that the statement does not mention."""
    mentioned = find_figures(statement)
    rivals = [other for other in own if other.dimension == figure.dimension]
    return bool(rivals) and not any(is_same_figure(f, other) for other in rivals for f in mentioned)


def _find_other_owner(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a figure with another subject than in the quote, where its subject has another figure."""
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


def _find_owner_named_elsewhere(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a figure given to a word that the quote has, but not as the subject of that figure."""
    theirs = _pair_figures_with_subjects(passage.quoted)
    quoted = {word.key for word in parse_text(passage.quoted).content_words}
    said = {word.key for word in parse_text(statement).content_words}
    for figure, owner in _pair_figures_with_subjects(statement):
        keepers = {w.key for other, w in theirs if is_same_figure(figure, other) and len(w.key) > 1}
        is_subject = particle_role(owner) == "이" and len(owner.key) > 1
        if keepers and is_subject and owner.key in quoted and not keepers & said:
            yield "figure", f"in the quote '{figure.text}' is said of '{min(keepers)}', not of '{owner.key}'"


def _pair_figures_with_subjects(text: str) -> list[tuple[Figure, ParsedWord]]:
    """Pair each figure with the subject before it: by particle in Korean, first of a clause in English."""
    found = []
    for sentence in _split_parts(text, _SENTENCE):
        is_korean = has_cjk(sentence)
        for part in [sentence] if is_korean else _split_parts(sentence, _CLAUSE):
            words = [w for w in parse_text(part).words if w.is_content and not _PARTICLE.fullmatch(w.low)]
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
    """Return the words of a row, and ranges such as "30~34"."""
    words = {word.key for word in parse_text(text).content_words}
    return words | set(re.findall(r"(?<!\d)\d{1,6}\s?[~–-]\s?\d+", text))


def _unique_labels(owners: Sequence[set[str]], place: int) -> set[str]:
    others = set().union(*(own for n, own in enumerate(owners) if n != place))
    return owners[place] - others


def _find_other_subject(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a clause whose subject and other words come from different sentences of the quote."""
    sentences = [parse_text(part) for part in _split_parts(passage.quoted, _SENTENCE)]
    topics = [_topic(sentence.words) for sentence in sentences]
    if len([topic for topic in topics if topic]) < 2:
        return
    for clause in map(parse_text, _split_parts(statement, _CLAUSE)):
        subject = _topic(clause.words)
        rest = [word for word in clause.content_words if subject and word.key != subject.key]
        if subject is None or len(rest) < 2:
            continue
        scores = [sum(sentence.has(word.key) for word in rest) for sentence in sentences]
        best = scores.index(max(scores))
        topic = topics[best]
        if topic is None or 2 * scores[best] < len(rest) or scores.count(scores[best]) > 1:
            continue
        is_elsewhere = any(text.has(subject.key) for n, text in enumerate(sentences) if n != best)
        if (
            is_elsewhere
            and not sentences[best].has(subject.key)
            and topic.key not in {w.key for w in clause.words}
        ):
            yield "who and what", f"in the quote it is '{topic.text}', not '{subject.text}'"


def _find_other_whole(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a share of another whole than in the quote: 85% of the patients, 85% of the dead."""
    theirs = {match["share"]: match["whole"] for match in _SHARE_OF.finditer(passage.quoted)}
    for match in _SHARE_OF.finditer(statement):
        whole = theirs.get(match["share"], match["whole"])
        if whole not in statement and match["whole"] not in passage.quoted:
            yield "scope", f"in the quote {match['share']}% are of '{whole}', not of '{match['whole']}'"


def _other_rate(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find "per hectare" or "a month" where the quote says "per 10 ares" or "a day"."""
    mine, theirs = (
        {"".join(match.groups(default="")).replace(" ", "") for match in _RATE.finditer(text.lower())}
        for text in (statement, passage.quoted)
    )
    if mine and theirs and not mine & theirs:
        yield "unit", f"it says 'per {min(mine)}', the quote 'per {min(theirs)}'"


def _topic(words: Sequence[ParsedWord]) -> ParsedWord | None:
    """Return the first subject: by its particle in Korean, by its place in English."""
    for word in words[:8]:
        if word.is_content and (particle_role(word) == "이" or word.text.isascii()):
            return word
    return None

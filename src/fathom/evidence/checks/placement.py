"""Find figures, years and subjects of a statement that go with other words than in the quote.

Across languages only figures are compared, within one language also words. Results are pairs of kind and note
for the verifier.
"""

import re
from collections.abc import Iterator, Sequence

from fathom.evidence.checks.dates import find_dates, has_relative_time, meant_years
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
from fathom.evidence.checks.words import ParsedText, ParsedWord, is_same_word, parse_text, particle_role
from fathom.text.tokens import has_cjk

_FIRST_YEAR = re.compile(
    r"\W{0,4}(?:In |By |As of )?(?:\w+ )?(?:1\d{3}|20\d\d)(?:년(?!\s?(?:이후|부터|이래|생|대비|과|보다))|,)"
)
_PARTICLE = re.compile(r"은|는|이|가|을|를|의|에|에서|으로|로|보다|까지|부터|와|과|도|씩|당|인|이며|이고")
_SUBJECT_AFTER_BRACKET = re.compile(r"\([^()\n]{1,40}\)[은는이가]")
_LEAD = re.compile(r"\b(by|to|from)\s(?:about |nearly |over |up to )?$")
_MINUS = re.compile(r"(?:\bminus|영하|마이너스)\s$|(?:^|[\s`(])[-–−]$")
_THAN = re.compile(
    r"(?:지난해|작년|전년|1년 전|한 해 전|올해)[^,.]{0,14}?(?:보다|대비|에 비해)"
    r"|\bthan (?:\w+ ){0,3}?(?:year|quarter|month)(?: earlier| before| ago)?"
    r"|\b(?:a|the) (?:year|quarter|month) (?:earlier|before|ago)\b"
)
_MOST_ROWS = 40
_RANGE = re.compile(r"(?<!\d)\d{1,6}\s?[~–-]\s?\d+\S*")
_CLAUSE = re.compile(
    r"[,;.]\s|\s(?:and|while|but|whereas)\s|(?<=[고며])\s|(?<=지만),?\s|(?<=으나),?\s|(?<=데)\s|(?<=반면)\s|(?<=%로)\s|(?<=[명원건]으로)\s|(?<=개로)\s"
)
_YEAR_BEFORE = re.compile(r"전년|한 해 전|1년 전|\b(?:a|the) year (?:earlier|before|ago)\b|\bprevious year\b")
_OF = re.compile(r" of (?:the |its |all |these |those )?")
_DATED = re.compile(
    r"[,;.]\s|\s(?:and|while|but|whereas|against|from|compared with)\s"
    r"|(?<=[고며])\s|(?<=지만),?\s|(?<=에서)\s"
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")


def find_misplaced(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield what is placed differently in the statement than in the quote, as (kind, note)."""
    yield from _find_odd_figures(_free_figures(statement), statement, passage)
    yield from _find_other_year(statement, passage)
    yield from _find_other_day(statement, passage)
    yield from _find_figure_of_other_year(statement, passage)
    yield from _find_dropped_limits(statement, passage)
    if has_cjk(statement) == has_cjk(passage.quoted):
        yield from _find_swapped_rows(statement, passage)
        yield from _find_other_owner(statement, passage)
        yield from _find_other_whole(statement, passage)
        yield from _find_dropped_rank(statement, passage)
        yield from _find_false_ranking(statement, passage)


def _find_odd_figures(said: Sequence[Figure], statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    quoted = [(figure, passage.quoted) for figure in find_figures(passage.quoted)]
    for figure in said:
        if not is_figure_found(figure, passage):
            formula = find_calculation(figure, passage)
            if formula and not _is_plain_calculation(figure, formula, statement):
                yield "calculation", f"'{figure.text}' is not in the source, but may be {formula}"
            elif not formula and (is_small_number(figure) or is_fraction(figure)):
                yield "count", f"nothing in the source counts '{figure.text}'"
        same = [(other, text) for other, text in quoted if is_same_figure(figure, other)]
        if not same:
            slipped = [o for o, _ in quoted if o.value == figure.value and o.dimension == figure.dimension]
            if slipped and figure.factor != slipped[0].factor:
                yield "unit", f"'{figure.text}' has another unit in the quote: '{slipped[0].text}'"
            continue
        lead = _lead(figure, statement)
        leads = {_lead(other, text) for other, text in same}
        if lead not in leads and (all({lead, *leads}) or "-" in {lead, *leads}):
            yield "figure", f"'{figure.text}' has '{min(leads)}' before it in the quote, not '{lead}'"
        if figure.dimension and all(_is_other_unit(figure, other) for other, _ in same):
            yield "unit", f"'{figure.text}' has another unit in the quote: '{same[0][0].text}'"
        if _is_level(figure, statement) and all(_is_change(other, text) for other, text in same):
            yield "figure", f"'{figure.text}' is a change in the quote, not a value"
        if "|" in passage.quoted and any(
            _is_unscaled(figure, statement, thing) for thing in passage.scales.values()
        ):
            yield "unit", f"the table counts '{figure.text}' in thousands or more"


def _lead(figure: Figure, text: str) -> str:
    """Return the preposition before a figure: by, to, from, minus."""
    before = text[max(0, figure.start - 40) : figure.start].lower()
    found = _LEAD.search(before)
    return "-" if _MINUS.search(before) else found[1] if found else ""


def _is_plain_calculation(figure: Figure, formula: str, statement: str) -> bool:
    """Tell whether such a calculation is hardly chance, or the statement says that it is one."""
    if " + " in formula:
        return load_phrase_pattern("sum").search(statement.lower()) is not None
    if formula.startswith("100%"):
        return False
    if " x " in formula or " ÷ " in formula:
        return load_phrase_pattern("rate").search(statement.lower()) is not None
    digits = len(re.sub(r"\D|^[0.]+|0+$", "", figure.text))
    return " of " in formula or digits >= 2 or bool(figure.dimension) or is_fraction(figure)


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
    quoted = {date.year for date in find_dates(passage.quoted) if date.year}
    dates = [date for date in find_dates(statement) if date.text not in passage.everything or not date.day]
    stated = {date.year for date in dates if date.year}
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


def _find_other_day(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find 4 March where the quote gives other days, and the page has no 4 March."""
    known, quoted = (
        {(d.month, d.day) for d in find_dates(text) if d.month and d.day}
        for text in (passage.everything, passage.quoted)
    )
    for date in find_dates(statement):
        if date.month and date.day and quoted and (date.month, date.day) not in known:
            yield "date", f"'{date.text}' is not a day that the quote gives"


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
    rows = _split_parts(passage.quoted, re.compile(r"\n\s*\n" if "\n\n" in passage.quoted else r"\n+"))
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
    clauses: dict[tuple[int, int], str] = {}
    for clause in _split_parts(statement, _CLAUSE):
        labels = _labels(clause)
        scores = [len(labels & own) for own in unique]
        if not any(scores) or scores.count(max(scores)) > 1:
            continue
        own = scores.index(max(scores))
        for figure in (figure for figure in _free_figures(clause) if figure.value != 1):
            places = [n for n, row in enumerate(values) if any(is_same_figure(figure, f) for f in row)]
            if len(places) == 1 and places[0] != own and (scores[places[0]] == 0 or len(rows) == 2):
                strangers[own, places[0]], clauses[own, places[0]] = figure, clause
    for (own, other), figure in strangers.items():
        if (other, own) in strangers:
            if own < other:
                yield "figure", f"'{figure.text}' and '{strangers[other, own].text}' have changed places"
        elif _is_passed_over(figure, values[own], clauses[own, other]):
            yield "figure", f"'{figure.text}' stands with other words in the quote"


def _is_passed_over(figure: Figure, own: Sequence[Figure], clause: str) -> bool:
    """Tell whether the words' own row has such a figure that their clause does not mention."""
    mentioned = find_figures(clause)
    rivals = [other for other in own if other.dimension == figure.dimension or not other.dimension]
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


def _find_figure_of_other_year(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a figure of 2022 in the statement that the quote gives for 2023, next to one for 2022."""
    quoted = _years(passage.quoted)
    clauses = [
        (_years(c) or ({max(quoted) - 1} if quoted and _YEAR_BEFORE.search(c) else set()), _free_figures(c))
        for c in _split_parts(passage.quoted, _DATED)
    ]
    quoted |= set().union(*(years for years, _ in clauses))
    for clause in _split_parts(statement, _DATED):
        mine = _years(clause)
        for figure in _free_figures(clause) if len(mine) == 1 and mine <= quoted else ():
            theirs = [years for years, known in clauses if any(is_same_figure(figure, f) for f in known)]
            if theirs and all(len(years) == 1 and not years & mine for years in theirs):
                yield "year", f"in the quote '{figure.text}' is of {min(theirs[0])}, not of {min(mine)}"


def _years(text: str) -> set[int]:
    return {date.year for date in find_dates(text) if date.year}


def _find_other_whole(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a share of another whole than in the quote: 85% of the patients, 85% of the dead."""
    mine, theirs = _find_wholes(statement), _find_wholes(passage.quoted)
    for figure, whole in mine:
        others = [word for other, word in theirs if is_same_figure(figure, other)]
        if others and not any(is_same_word(whole.key, word.key) for word in others):
            yield "scope", f"in the quote '{figure.text}' is of '{others[0].text}', not of '{whole.text}'"


def _find_wholes(text: str) -> list[tuple[Figure, ParsedWord]]:
    """Pair shares with what they are a part of: "X의 85%", "85% of the X"."""
    found, words = [], parse_text(text).words
    for figure in (f for f in find_figures(parse_text(text).text) if f.dimension == "percent"):
        before = [word for word in words if 0 <= figure.start - word.end <= 1 and word.particle == "의"]
        part = _OF.match(parse_text(text).text, figure.end)
        after = [word for word in words if part and word.start == part.end() and word.is_content]
        found += [(figure, word) for word in (*before, *after)]
    return found


def _find_dropped_limits(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find a limit of whom the quote is about: "recipients with an income of over $74,788"."""
    mine = find_figures(statement)
    for match in load_phrase_pattern("limit_of_group").finditer(passage.quoted.lower()):
        limits = find_figures(match.group())
        if limits and not any(is_same_figure(f, limit) for limit in limits for f in mine):
            yield "scope", f"the quote is about those '{match.group().strip()}' only"


def _find_false_ranking(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find "Cole raised the most" where another one's figure in the quote is higher, or "A more than B"."""
    pairs = [(f, w) for f, w in _pair_figures_with_subjects(passage.quoted) if not _is_change_of_place(f)]
    one, other = load_opposites()["rank"]
    low = statement.lower()
    words = parse_text(statement).words
    named = [(f, w) for w in words for f, owner in pairs if is_same_word(w.key, owner.key)]
    if len(pairs) < 2 or not named or bool(one.search(low)) == bool(other.search(low)):
        return
    figure, owner = named[0]
    rivals = [(f.base, w) for f, w in pairs if f.dimension == figure.dimension and w.key != owner.key]
    best = (max if one.search(low) else min)([*rivals, (figure.base, owner)], key=lambda pair: pair[0])
    if best[0] != figure.base:
        yield "figure", f"by the quote's figures it is '{best[1].text}', not '{owner.text}'"


def _is_change_of_place(figure: Figure) -> bool:
    return figure.dimension in {"ordinal", "time"} or bool(figure.code)


def _find_dropped_rank(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Find "largest" where the quote's own clause says "fifth largest"."""
    said, mine = parse_text(statement), find_figures(statement)
    clauses = [(_shared_words(said, c), c) for c in _split_parts(passage.quoted, _CLAUSE)]
    best = max((shared for shared, _ in clauses), default=0)
    for shared, clause in clauses:
        words = parse_text(clause).words
        for rank in find_figures(clause) if shared == best and best > 1 else ():
            head = next((word for word in words if word.start >= rank.end), None)
            is_rank = rank.dimension == "ordinal" and rank.value > 1 and head is not None
            if is_rank and head and head.low in said.low and not any(is_same_figure(f, rank) for f in mine):
                yield "scope", f"the quote says '{rank.text} {head.text}'"


def _shared_words(said: ParsedText, clause: str) -> int:
    return sum(said.has(key) for key in parse_text(clause).keys)

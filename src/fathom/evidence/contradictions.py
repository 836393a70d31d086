"""Build contradictions from rulings, and find figures that may conflict though no rule is sure of it.

A contradiction has the dispute, both sides with values and sources, and the favoured side. A tower is 330 m
tall on one page and "stood 312 m high when it opened" on another: rules cannot call that a contradiction, and
a reader still has to hear of both.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from fathom.evidence.checks import has_phrase
from fathom.evidence.checks.dates import parse_day
from fathom.evidence.checks.figures import Figure
from fathom.evidence.checks.negation import are_opposed
from fathom.evidence.checks.strict import find_amounts, is_same_amount
from fathom.evidence.sources import find_owner, is_official
from fathom.evidence.statement_pairs import (
    are_other_members,
    find_difference,
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
    find_dimension,
    measure_overlap,
    parse_statement,
)
from fathom.state import (
    Claim,
    Contradiction,
    ContradictionSide,
    Difference,
    Finding,
    Page,
    Ruling,
    Settlement,
    short_hash,
)
from fathom.text.mentions import find_name_words
from fathom.text.normalization import one_line

PagesByHash = Mapping[str, Page]


def find_favoured_side(
    kind: Difference, sides: Sequence[ContradictionSide], claims: Mapping[str, Claim], pages: PagesByHash
) -> tuple[Settlement | None, int | None]:
    """Return the first rule that favours exactly one side, and that side; nothing if none does."""
    read = [_list_pages(side, pages) for side in sides]
    is_one_source = len({find_owner(page) for own in read for page in own}) == 1
    later = [is_one_source and _is_after(own, n, sides) for n, own in enumerate(read)]
    official = [[page for page in own if kind == "number" and is_official(page)] for own in read]
    rules: dict[Settlement, list[bool]] = {
        "retraction or correction": [_is_correction(n, sides, claims, pages) for n in range(len(sides))],
        "same source, later version": later,
        "newer official figure": [_is_after(own, n, sides) for n, own in enumerate(official)],
    }
    return next(((name, won.index(True)) for name, won in rules.items() if sum(won) == 1), (None, None))


def _is_correction(
    place: int, sides: Sequence[ContradictionSide], claims: Mapping[str, Claim], pages: PagesByHash
) -> bool:
    others = [side for n, side in enumerate(sides) if n != place]
    if _is_retracted(sides[place], pages):
        return False
    if all(_is_retracted(other, pages) for other in others):
        return True
    owners = {find_owner(page) for side in others for page in _list_pages(side, pages)}
    quotes = [quote for c in sides[place].claims for quote in claims[c].quotes if quote.page in pages]
    return any(
        has_phrase("corrects", f"{pages[quote.page].title}\n{quote.text}")
        and (
            find_owner(pages[quote.page]) in owners
            or is_official(pages[quote.page])
            or _is_later_file(pages[quote.page], place, sides, pages)
            or any(side.value in quote.text for side in others)
        )
        for quote in quotes
    )


def _is_later_file(page: Page, place: int, sides: Sequence[ContradictionSide], pages: PagesByHash) -> bool:
    """Tell whether all are files, and no date says that this one is older."""
    read = [other for side in sides for other in _list_pages(side, pages)]
    is_dated = any(other.published for other in read)
    are_files = all(other.address.startswith("file:") for other in read)
    return are_files and (not is_dated or _is_after([page], place, sides))


def _is_retracted(side: ContradictionSide, pages: PagesByHash) -> bool:
    read = _list_pages(side, pages)
    return bool(read) and all(has_phrase("retracted", page.title) for page in read)


def _is_after(own: Sequence[Page], place: int, sides: Sequence[ContradictionSide]) -> bool:
    """Tell whether one of the pages was published after every page of the other sides."""
    others = [parse_day(when) for n, side in enumerate(sides) if n != place for when in side.published]
    known = [day for day in others if day]
    mine = [day for page in own if (day := parse_day(page.published))]
    return bool(mine) and len(known) == len(others) > 0 and max(mine) > max(known)


def _list_pages(side: ContradictionSide, pages: PagesByHash) -> list[Page]:
    return [pages[sha] for sha in side.pages if sha in pages]


_LONGEST = 160  # characters of a value or a dispute
_SLIGHT = 0.001  # relative: 222,412 and 222,422
_ROUNDED = 0.01  # relative, of one in the last digit: 14.8% and 14.9%
_VALUED: tuple[Difference, ...] = ("number", "date")


def find_contradictions(
    rulings: Sequence[Ruling],
    rivals: Sequence[Ruling],
    findings: Sequence[Finding],
    claims: Mapping[str, Claim],
    pages: Sequence[Page],
) -> list[Contradiction]:
    """Return one entry for all findings that contradict each other in the same way, strongest first.

    Rivals, figures that may be of another time or case, come last, unless the pair contradicts anyway.
    """
    place = {claim_id: n for n, finding in enumerate(findings) for claim_id in finding.claims}
    known = {page.sha: page for page in pages}
    found: list[Contradiction] = []
    taken: set[tuple[int, int]] = set()
    for some, is_certain in ((rulings, True), (rivals, False)):
        edges: dict[tuple[int, int], Ruling] = {}
        for ruling in sorted(some, key=lambda r: r.key):
            ends = sorted({place[c] for c in ruling.claims if c in place})
            if ruling.relation == "contradicts" and len(ends) == 2 and (ends[0], ends[1]) not in taken:
                edges.setdefault((ends[0], ends[1]), ruling)
        taken |= set(edges)
        for group in _group_findings(edges):
            sides = [findings[n] for n in group]
            found.append(_make_contradiction(sides, edges[group[0], group[1]], claims, known, is_certain))
    return [_mark_slight(entry) for entry in _merge_matters(found, claims, known)]


def _merge_matters(
    entries: Sequence[Contradiction], claims: Mapping[str, Claim], pages: PagesByHash
) -> list[Contradiction]:
    """Merge entries that share a side with its value: one matter is told once, with all its values."""
    merged: list[Contradiction] = []
    for entry in entries:
        place = next((n for n, other in enumerate(merged) if _is_one_matter(entry, other)), None)
        if place is None:
            merged.append(entry)
            continue
        other = merged[place]
        sides = list(other.sides)
        for side in entry.sides:
            if (at := _find_side(side, other)) is None:
                sides.append(side)
            else:
                sides[at] = _join_sides(sides[at], side)
        is_settled_anew = other.is_certain and len(sides) > len(other.sides)
        settled = find_favoured_side(other.kind, sides, claims, pages) if is_settled_anew else None
        rule, winner = settled or (other.settled_by, other.favoured)
        merged[place] = other.model_copy(update={"sides": sides, "settled_by": rule, "favoured": winner})
    return merged


def _is_one_matter(entry: Contradiction, other: Contradiction) -> bool:
    """Tell whether both are about one figure: certain ones share a side, others all values and a claim."""
    if entry.kind != other.kind or entry.kind not in _VALUED:
        return False
    found = [(side, at) for side in entry.sides if (at := _find_side(side, other)) is not None]
    is_shared = any(not set(side.claims).isdisjoint(other.sides[at].claims) for side, at in found)
    own = {c for side in entry.sides for c in side.claims}
    is_told = len(found) == len(entry.sides) and not own.isdisjoint(c for s in other.sides for c in s.claims)
    return is_told or (is_shared and entry.is_certain == other.is_certain)


def _mark_slight(entry: Contradiction) -> Contradiction:
    """Mark figures that differ by a thousandth, or by one of the last digit within a hundredth."""
    figures = [find_amounts(side.value) for side in entry.sides]
    if entry.kind != "number" or any(len(found) != 1 for found in figures):
        return entry
    values, steps = [found[0].base for found in figures], [found[0].base_step for found in figures]
    apart, size = max(values) - min(values), max(map(abs, values))
    if figures[0][0].dimension == "percent":  # 99.95% and 99.9% differ twofold in what is left
        size = min(size, abs(100 - size))
    is_rounded = apart <= max(steps) * (1 + 1e-9) and apart <= _ROUNDED * size
    is_slight = is_rounded or apart <= _SLIGHT * size
    return entry.model_copy(update={"is_slight": is_slight, "is_certain": entry.is_certain and not is_slight})


def _find_side(side: ContradictionSide, entry: Contradiction) -> int | None:
    """Return the place of the side that gives the same value."""
    mine = find_amounts(side.value)
    for place, other in enumerate(entry.sides):
        theirs = find_amounts(other.value)
        is_equal = len(mine) == len(theirs) == 1 and is_same_amount(mine[0], theirs[0])
        if is_equal or side.value == other.value:
            return place
    return None


def _join_sides(one: ContradictionSide, two: ContradictionSide) -> ContradictionSide:
    dates = dict(zip([*one.pages, *two.pages], [*one.published, *two.published], strict=True))
    names = list(dict.fromkeys([*one.claims, *two.claims]))
    return one.model_copy(update={"claims": names, "pages": list(dates), "published": list(dates.values())})


def _group_findings(edges: Mapping[tuple[int, int], Ruling]) -> list[list[int]]:
    """Group findings that all contradict each other in one kind: three figures are one dispute."""
    kinds = {pair: ruling.kind for pair, ruling in edges.items()}
    groups: list[tuple[Difference, list[int]]] = []
    for (left, right), kind in sorted(kinds.items()):
        own = [group for of, group in groups if of == kind and left in group]
        if any(right in group for group in own):
            continue
        joined = next(
            (g for g in own if all(kinds.get((min(n, right), max(n, right))) == kind for n in g)), None
        )
        if joined:
            joined.append(right)
        else:
            groups.append((kind, [left, right]))
    return [group for _, group in groups]


def _make_contradiction(
    group: Sequence[Finding],
    ruling: Ruling,
    claims: Mapping[str, Claim],
    pages: PagesByHash,
    is_certain: bool,
) -> Contradiction:
    speakers = [_find_main_claim(finding, ruling, claims) for finding in group]
    values = _list_values(speakers, ruling)
    sides = [_make_side(finding, value, claims, pages) for finding, value in zip(group, values, strict=True)]
    rule, winner = find_favoured_side(ruling.kind, sides, claims, pages) if is_certain else (None, None)
    return Contradiction(
        id=short_hash(ruling.kind, *sorted(finding.id for finding in group)),
        kind=ruling.kind,
        question=group[0].question,
        about=_describe_subject(speakers, find_amounts(ruling.why)),
        sides=sides,
        settled_by=rule,
        favoured=winner,
        is_certain=is_certain,
    )


def _find_main_claim(finding: Finding, ruling: Ruling, claims: Mapping[str, Claim]) -> Claim:
    """Return the claim of a finding that was ruled on, else its strongest."""
    return claims[next((c for c in ruling.claims if c in finding.claims), finding.claims[0])]


def _make_side(
    finding: Finding, value: str, claims: Mapping[str, Claim], pages: PagesByHash
) -> ContradictionSide:
    shas = list(dict.fromkeys(quote.page for c in finding.claims for quote in claims[c].quotes))
    dates = [pages[sha].published if sha in pages else None for sha in shas]
    return ContradictionSide(claims=finding.claims, value=value, pages=shas, published=dates)


def _list_values(speakers: Sequence[Claim], ruling: Ruling) -> list[str]:
    """Return what each side says in its quote's words: the number or date that differs, else the quote."""
    named = find_amounts(ruling.why)
    values = []
    for claim in speakers:
        other = next(c for c in speakers if c is not claim)
        found = _find_value(claim, other, named) if ruling.kind in _VALUED else None
        telling = max(claim.quotes, key=lambda quote: sum(amount.text in quote.text for amount in named))
        values.append(_find_in_quote(found, claim) if found else _shorten(telling.text))
    return values


def _find_value(claim: Claim, other: Claim, named: Sequence[Figure] = ()) -> str | None:
    """Return the figure or date of the first in which they differ, if possible one that the ruling names."""
    own, theirs = find_amounts(claim.statement), find_amounts(other.statement)
    for amount in named:  # exactly: 14.8 percent and 14.9 percent are what the ruling is about
        mine = next((one for one in own if _is_equal(one, amount)), None)
        if mine and not any(_is_equal(one, amount) for one in theirs):
            return mine.text
    if found := find_difference(claim.statement, other.statement):
        return found
    return next(iter(find_rival_figures(claim.statement, other.statement) or ()), None)


def _is_equal(one: Figure, other: Figure) -> bool:
    return one.base == other.base and one.dimension == other.dimension


def _find_in_quote(value: str, claim: Claim) -> str:
    """Return the value as the quote writes it; the whole quote if it is not found there."""
    for quote in claim.quotes:
        if value in quote.text:
            return value
        for amount in find_amounts(quote.text):
            if any(is_same_amount(wanted, amount) for wanted in find_amounts(value)):
                return amount.text
    return _shorten(claim.quotes[0].text)


def _shorten(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else line[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _describe_subject(speakers: Sequence[Claim], named: Sequence[Figure]) -> str:
    """Return the first statement with a gap in place of the disputed value."""
    statement = speakers[0].statement
    found = _find_value(speakers[0], speakers[1], named)
    return _shorten(statement.replace(found, "…", 1).replace("….", "…") if found else statement)


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
    names = [_find_names(a, title) for a, title in zip((one, two), titles, strict=True)]
    texts = [f"{a.text.low} {title.lower()}" for a, title in zip((one, two), titles, strict=True)]
    return all(
        not own or any(name.lower() in text for name in own)
        for own, text in zip(names, texts[::-1], strict=True)
    )


def _find_names(statement: ParsedStatement, title: str) -> list[str]:
    alone = _OWN_SUBJECT.match(statement.text.text)
    first = [alone[1]] if alone and not statement.text.words[0].low.startswith(("it", "this")) else []
    return first or list(statement.names[:1]) or sorted(_names_in(title))


def _differing_amounts(
    one: ParsedStatement, two: ParsedStatement, titles: tuple[str, str]
) -> Iterator[tuple[Figure, Figure]]:
    bare = [replace(a, words=tuple(w for w in a.words if not _ANY_DIMENSION.match(w))) for a in (one, two)]
    shared = measure_overlap(*bare)
    of_shorter = shared.of_shorter if all(a.words for a in bare) else 1.0
    is_named = have_shared_name(one, two) or bool(_names_in(titles[0]) & _names_in(titles[1]))
    for (a, slot), (b, other) in product(one.amounts, two.amounts):
        least = _SUBJECT_FROM if a.dimension and a.dimension not in _OFTEN_GIVEN else _COUNTED_FROM
        is_about_one = of_shorter >= least and (shared.shared > 1 or is_named)
        is_one_slot = bool(slot) and slot == other and is_about_one
        if is_one_slot and _is_apart(a, one, b, two) and _is_one_dimension(a, one, b, two):
            yield a, b


def _names_in(title: str) -> set[str]:
    return {name.lower() for name in find_name_words(f"– {title}") if len(name) > 2}


def _is_apart(a: Figure, one: ParsedStatement, b: Figure, two: ParsedStatement) -> bool:
    """Tell whether the values differ, by more than "about" or a bound allows."""
    least = _LEAST_APART if is_vague(a, one) or is_vague(b, two) else 0.0
    return abs(a.base - b.base) > least * max(abs(a.base), abs(b.base))


def _is_one_dimension(a: Figure, one: ParsedStatement, b: Figure, two: ParsedStatement) -> bool:
    """Tell whether two lengths are both heights, both widths, …; other measures have no such kinds."""
    if a.dimension != "length":
        return True
    kinds = [find_dimension(x, text) for x, text in ((a, one), (b, two))]
    return kinds[0] == kinds[1] != ""

"""Compare two statements by rules: same, contradicting, neither, or undecided.

The rules are cautious: what they cannot decide is left to a model.
"""

import re
from dataclasses import replace
from functools import lru_cache
from itertools import product

from fathom.evidence.checks import ParsedWord, has_phrase, particle_role, phrase_pattern
from fathom.evidence.checks.dates import Date
from fathom.evidence.checks.figures import Figure
from fathom.evidence.checks.negation import are_opposed
from fathom.evidence.checks.strict import find_flaws, is_same_amount
from fathom.evidence.statements import (
    ParsedStatement,
    WordOverlap,
    find_dimension,
    is_in_same_order,
    lacks_name,
    measure_overlap,
    parse_statement,
)
from fathom.state import Difference, Relation
from fathom.text.sentences import split_sentences

_SAME_FROM = 0.6  # of all content words, for two statements to say the same
_SAME_FROM_CHANGED = 0.75  # the same when each has a word of its own
_SUBJECT_FROM = 0.6  # of the shorter one's content words, to be about the same thing
_LIKE_FROM = 0.5  # of all, for one event, or for opposites to contradict
_DENIED_FROM = 0.7  # of all, for a negation to contradict
_TURNED = 0.25  # of all word pairs in reversed order, in statements that say the same
_PERIOD = re.compile(
    r"[1-4] ?분기|[상하]반기|\b\d{1,2}~\d{1,2}월|\bQ[1-4]\b|\bH[12]\b"
    r"|\b(?:first|second|third|fourth) (?:quarter|half)\b",
    re.IGNORECASE,
)
_PART = re.compile(r",?\s(?:and|but|while)\s|;\s|(?<![라다]고)(?<=[고며]),?\s|(?<=지만),?\s")
_SUBJECT = re.compile(
    r"(?:(?!\b(?:is|was|were|are|has|had|have|opened|began|started|stands|rose|fell)\b)\S+\s){1,8}?(?=(?:is|was|were|are|has"
    r"|had|have|opened|began|started|stands|rose|fell)\b)|(?:\S+\s){0,4}?\S+[은는이가](?=\s)"
)
_SPAN = re.compile(r"\b(?:as of|since|until|till|by|before|after|from|to|between)\s+$")

# A number that tells one of several from the others: "Reactor 2", "section 4", "3호기". What something *is*
# ("the latest release is version 3") is a value, and may be disputed.
_MEMBER = re.compile(
    r"(?<!\bis )(?<!\bwas )(?<!\bare )(?<!\bto )(?<!\bat )"
    r"\b(unit|reactor|block|turbine|boiler|tank|platform|gate|pier|building|section|article|chapter|clause"
    r"|annex|appendix|version|release|phase|stage|step|tier|type|zone"
    r"|district|route|line|model|no\.|#)\s?(?:no\.\s?|#)?(\d+(?:\.\d+)*)(?!\s?%)\b"
    r"|제\s?(\d+)\s?([가-힣])|(?<!\d)(\d+)\s?(호기|호선|호|단계)",
    re.IGNORECASE,
)
PairRuling = tuple[Relation, Difference, str]


@lru_cache(maxsize=16384)
def compare_statements(left: str, right: str) -> PairRuling | None:
    """Return the ruling of the rules with kind and reason; None if undecided."""
    one, two = parse_statement(left), parse_statement(right)
    if one.plain == two.plain:
        return "same", "other", "word for word"
    if one.names and two.names and not have_shared_name(one, two):
        return "neither", "other", "they name different things"
    if are_opposed(one.scopes, two.scopes):
        return "neither", "other", "they speak of different cases"
    if are_other_members(one, two):
        return "neither", "other", "they speak of different ones of a kind"
    if one.is_hedged != two.is_hedged:
        return None
    shared = measure_overlap(one, two)
    return (
        _compare_numbers(one, two, shared)
        or _compare_dates(one, two, shared)
        or _of_parts(left, right)
        or _compare_denials(one, two, shared)
        or _check_sameness(one, two, shared)
    )


def _of_parts(left: str, right: str) -> PairRuling | None:
    """Compare parts of compound sentences: "has 220 MW" contradicts "opened in 1966 and has 240 MW"."""
    mine, theirs = parts_of(left), parts_of(right)
    if len(mine) == len(theirs) == 1:
        return None
    for one, two in product(map(parse_statement, mine), map(parse_statement, theirs)):
        if not (_has_only_more(one, parse_statement(right)) and _has_only_more(two, parse_statement(left))):
            continue
        shared = measure_overlap(one, two)
        word = _compare_numbers(one, two, shared) or _compare_dates(one, two, shared)
        if word and word[0] == "contradicts":
            return word
    return None


def are_other_members(one: ParsedStatement, two: ParsedStatement) -> bool:
    """Tell whether they speak of other members of one numbered kind: reactor 1 and reactor 2."""
    mine, theirs = _find_members(one), _find_members(two)
    return any(mine[kind].isdisjoint(theirs[kind]) for kind in mine.keys() & theirs.keys())


def _find_members(statement: ParsedStatement) -> dict[str, set[str]]:
    measured = {amount.start for amount, _ in statement.amounts if amount.dimension}
    found: dict[str, set[str]] = {}
    for match in _MEMBER.finditer(statement.text.text):
        kind, number = match[1] or match[4] or match[6], match[2] or match[3] or match[5]
        if not (match[1] and match.start(2) in measured):  # "gate 30 m wide" has no number
            found.setdefault(kind.lower(), set()).add(number)
    return found


def _has_only_more(part: ParsedStatement, other: ParsedStatement) -> bool:
    """Tell whether none of a part's figures is in the other sentence: "412 m long and 30 m wide"."""
    return not any(has_amount(amount, other) for amount, _ in part.amounts)


@lru_cache(maxsize=1024)
def parts_of(statement: str) -> tuple[str, ...]:
    """Split sentences and compound sentences into parts with a figure or date each, all with its subject.

    Returns the statement itself if it has no such parts.
    """
    parts = [part for span in split_sentences(statement) for part in _split_sentence(span.text)]
    told = [part for part in parts if _has_figure(part)]
    if len(parts) < 2 or not told:
        return (statement,)
    subject = _SUBJECT.match(parts[0])
    lead = subject.group() if subject else ""
    return tuple(
        part if part is parts[0] or parse_statement(part).names else f"{lead} {part}" for part in told
    )


def _split_sentence(sentence: str) -> list[str]:
    """Split at conjunctions if every part has a figure or date: "Rance and Sihwa have 240 MW" stays whole."""
    parts = [part.strip() for part in _PART.split(sentence) if part and part.strip()]
    return parts if all(map(_has_figure, parts)) else [sentence]


def _has_figure(text: str) -> bool:
    parsed = parse_statement(text)
    return bool(parsed.amounts or parsed.dates)


def find_denial(sentence: str, quote: str) -> str:
    """Return why a quote contradicts a sentence and cannot be cited for it; "" if it does not."""
    if word := compare_statements(sentence, quote):
        return word[2] if word[0] == "contradicts" else ""
    one, two = parse_statement(sentence), parse_statement(quote)
    shared = measure_overlap(one, two)
    word = (
        _compare_numbers(one, two, shared)
        or _compare_dates(one, two, shared)
        or _compare_single_number(one, two, shared)
    )
    return word[2] if word and word[0] == "contradicts" else ""


def find_difference(left: str, right: str) -> str | None:
    """Return the number, or else the date, in which the statements or parts of them differ."""
    whole = [(parse_statement(left), parse_statement(right))]
    for one, two in [
        *whole,
        *product(map(parse_statement, parts_of(left)), map(parse_statement, parts_of(right))),
    ]:
        if pair := _find_differing_amounts(one, two):
            return pair[0].text
        if when := _find_differing_dates(one, two):
            return when[0].text
    return None


def has_shared_terms(left: str, right: str) -> bool:
    """Tell whether two statements share a name, a measure, or two content words."""
    one, two = parse_statement(left), parse_statement(right)
    if len(set(one.words) & set(two.words)) > 1 or have_shared_name(one, two):
        return True
    if len(one.pieces & two.pieces) > 3:
        return True
    return bool({slot for _, slot in one.amounts if slot} & {slot for _, slot in two.amounts if slot})


def is_different_fact(left: str, right: str) -> bool:
    """Tell whether they give different numbers or dates, or one negates the other."""
    one, two = parse_statement(left), parse_statement(right)
    if one.is_negated != two.is_negated and measure_overlap(one, two).of_all >= _LIKE_FROM:
        return True
    return (
        all(_has_extra_fact(a, b) for a, b in ((one, two), (two, one)))
        or _find_differing_dates(one, two) is not None
    )


def is_same_number(left: str, right: str) -> bool:
    """Tell whether both give the same figures, in any unit."""
    one, two = parse_statement(left), parse_statement(right)
    pairs = ((one, two), (two, one))
    return all(a.amounts and all(has_amount(x, b) for x, _ in a.amounts) for a, b in pairs)


def have_other_subjects(
    one: ParsedStatement, two: ParsedStatement, titles: tuple[str, str] = ("", "")
) -> bool:
    """Tell whether each subject of two Korean statements has a word that the other and its title lack."""
    return all(
        any(not b.text.has(word.key) and word.key not in title for word in _subject_words(a))
        for a, b, title in ((one, two, titles[1]), (two, one, titles[0]))
    )


def _subject_words(statement: ParsedStatement) -> list[ParsedWord]:
    """Return the content words up to the first subject or topic particle of a Korean statement."""
    words = statement.text.content_words if statement.text.is_korean else ()
    end = next((n for n, word in enumerate(words) if particle_role(word) == "이"), -1)
    return [word for word in words[: end + 1] if word.key in statement.words]


def find_periods(text: str) -> set[str]:
    """Return the quarters, halves and months that a statement mentions."""
    return {found.lower().replace(" ", "") for found in _PERIOD.findall(text)}


def _compare_numbers(one: ParsedStatement, two: ParsedStatement, shared: WordOverlap) -> PairRuling | None:
    pair = _find_differing_amounts(one, two)
    if pair is None:
        return None
    years = one.figure_years, two.figure_years
    if all(years) and years[0].isdisjoint(years[1]):
        return "neither", "number", "they speak of different times"
    kinds = find_dimension(pair[0], one), find_dimension(pair[1], two)
    if have_other_subjects(one, two) or (
        pair[0].dimension == "length" and all(kinds) and kinds[0] != kinds[1]
    ):
        return "neither", "number", "they speak of different things"
    if find_periods(one.text.text) != find_periods(two.text.text):
        return "neither", "number", "they speak of a year and a part of it, or of different parts"
    if one.is_negated != two.is_negated or one.rates != two.rates or years[0] != years[1]:
        return None
    if is_vague(pair[0], one) or is_vague(pair[1], two) or not _have_same_names(one, two):
        return None
    # The thing that is counted says nothing of the subject.
    counted = {slot for amount, slot in one.amounts if amount is pair[0]}
    is_counted = counted <= set(one.words) & set(two.words) and not one.text.is_korean
    least = _SUBJECT_FROM * (min(len(one.words), len(two.words)) - 1)
    is_alike = shared.shared - 1 >= least if is_counted else shared.of_shorter >= _SUBJECT_FROM
    is_one_subject = is_alike and shared.shared > 1
    return ("contradicts", "number", f"{pair[0].text} is not {pair[1].text}") if is_one_subject else None


def _compare_single_number(
    one: ParsedStatement, two: ParsedStatement, shared: WordOverlap
) -> PairRuling | None:
    """Compare a single amount with several of the same measure, none of which equals it."""
    for slot in dict.fromkeys(slot for _, slot in two.amounts if slot):
        own = [pair for pair in one.amounts if pair[1] == slot]
        other = [pair for pair in two.amounts if pair[1] == slot]
        if len(own) > 1 and len(other) == 1 and not has_amount(other[0][0], one):
            return _compare_numbers(
                replace(one, amounts=(own[0],)), replace(two, amounts=(other[0],)), shared
            )
    return None


def _compare_dates(one: ParsedStatement, two: ParsedStatement, shared: WordOverlap) -> PairRuling | None:
    pair = _find_differing_dates(one, two)
    if pair is None:
        return None
    if not one.events & two.events or shared.of_all < _LIKE_FROM:
        return "neither", "date", "they speak of different times"
    is_spanned = any(_SPAN.search(a.text.low[: d.start]) for a, d in ((one, pair[0]), (two, pair[1])))
    if is_spanned or one.is_negated != two.is_negated or not _have_same_names(one, two):
        return None
    return "contradicts", "date", f"{pair[0].text} is not {pair[1].text}"


def _compare_denials(one: ParsedStatement, two: ParsedStatement, shared: WordOverlap) -> PairRuling | None:
    if shared.of_all < _LIKE_FROM or one.has_two_parts or two.has_two_parts or not _have_same_facts(one, two):
        return None
    if are_opposed(one.denials, two.denials):
        is_denied = one.is_negated == two.is_negated
        return ("contradicts", "other", "the one denies the other") if is_denied else None
    if one.is_negated != two.is_negated and shared.of_all >= _DENIED_FROM:
        return "contradicts", "negation", "one says not, the other does not"
    return None


def _check_sameness(one: ParsedStatement, two: ParsedStatement, shared: WordOverlap) -> PairRuling | None:
    if shared.of_all < (_SAME_FROM_CHANGED if shared.is_changed else _SAME_FROM):
        return None
    if one.is_negated != two.is_negated or one.rates != two.rates or one.has_two_parts != two.has_two_parts:
        return None
    if are_opposed(one.denials, two.denials) or not is_in_same_order(one, two, _TURNED):
        return None
    left, right = one.text.text, two.text.text
    if not _have_same_facts(one, two) or find_flaws(left, [right]) or find_flaws(right, [left]):
        return None
    return "same", "other", "the same words, numbers and names"


def is_vague(amount: Figure, statement: ParsedStatement) -> bool:
    """Tell whether it is rounded or a bound, so that another number need not contradict it."""
    before, after = statement.text.low[: amount.start], statement.text.low[amount.end :]
    is_vague_after = phrase_pattern("vague_after").match(after) is not None
    return amount.is_about or is_vague_after or has_phrase("vague_before", before)


def _have_same_facts(one: ParsedStatement, two: ParsedStatement) -> bool:
    """Tell whether neither has a number, date or name that the other lacks."""
    return _have_same_names(one, two) and all(
        all(has_amount(amount, b) for amount, _ in a.amounts)
        and all(any(_is_same_date(d, e) for e in b.dates) for d in a.dates)
        for a, b in ((one, two), (two, one))
    )


def _has_extra_fact(one: ParsedStatement, two: ParsedStatement) -> bool:
    """Tell whether it gives a number or date that the other does not."""
    return any(not has_amount(amount, two) for amount, _ in one.amounts) or any(
        not any(_is_same_date(date, other) for other in two.dates) for date in one.dates
    )


def _have_same_names(one: ParsedStatement, two: ParsedStatement) -> bool:
    return not lacks_name(one.names, two) and not lacks_name(two.names, one)


def have_shared_name(one: ParsedStatement, two: ParsedStatement) -> bool:
    """Tell whether a name of one is in the other."""
    return any(not lacks_name((name,), b) for a, b in ((one, two), (two, one)) for name in a.names)


def has_amount(amount: Figure, other: ParsedStatement) -> bool:
    """Tell whether a statement gives an amount, in any unit."""
    return any(is_same_amount(amount, a) or is_same_amount(a, amount) for a, _ in other.amounts)


def _find_differing_amounts(one: ParsedStatement, two: ParsedStatement) -> tuple[Figure, Figure] | None:
    """Return the two differing amounts, if there is one such measure and each gives it once."""
    found = []
    for slot in dict.fromkeys(slot for _, slot in one.amounts if slot):
        left = [a for a, own in one.amounts if own == slot]
        right = [a for a, own in two.amounts if own == slot]
        if len(left) == len(right) == 1 and not has_amount(left[0], two):
            found.append((left[0], right[0]))
    return found[0] if len(found) == 1 else None


def _find_differing_dates(one: ParsedStatement, two: ParsedStatement) -> tuple[Date, Date] | None:
    """Return the only date of each, if they cannot be the same day."""
    if len(one.dates) != 1 or len(two.dates) != 1 or _is_same_date(one.dates[0], two.dates[0]):
        return None
    is_comparable = bool(set(one.dates[0].parts) & set(two.dates[0].parts))
    return (one.dates[0], two.dates[0]) if is_comparable else None


def _is_same_date(left: Date, right: Date) -> bool:
    shared = set(left.parts) & set(right.parts)
    return bool(shared) and all(left.parts[name] == right.parts[name] for name in shared)

"""Compare two statements by rules: same, contradicting, neither, or undecided.

The rules are cautious: what they cannot decide is left to a model.
"""

import re
from dataclasses import replace
from functools import lru_cache
from itertools import product

from fathom.evidence.checks.amounts import Amount, is_same_amount
from fathom.evidence.checks.dates import Date
from fathom.evidence.checks.strict import find_flaws
from fathom.evidence.checks.words import ParsedWord as TextWord
from fathom.evidence.checks.words import particle_role
from fathom.evidence.statements import (
    ParsedStatement,
    WordOverlap,
    are_opposed,
    is_in_same_order,
    lacks_name,
    measure_overlap,
    parse_statement,
)
from fathom.state import Difference, Relation

_SAME_FROM = 0.6  # of all content words, for two statements to say the same
_SAME_FROM_CHANGED = 0.75  # the same when each has a word of its own
_SUBJECT_FROM = 0.6  # of the shorter one's content words, to be about the same thing
_LIKE_FROM = 0.5  # of all, for one event, or for opposites to contradict
_DENIED_FROM = 0.7  # of all, for a negation to contradict
_NEARLY = 0.02  # two figures this near but not equal are worth asking about
_PRECISE = 3  # digits of such figures
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
_COMPARED_WITH = re.compile(r"\s?(?:보다|대비|에 비해|[과와] (?:비교|견주)|이후|이래|부터)|\s?(?:같은|동)")
_SPAN = re.compile(r"\b(?:as of|since|until|till|by|before|after|from|to|between)\s+$")
_VAGUE_BEFORE = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|over|under|above|below|than|least|most|circa"
    r"|up to|close to|between|from|to)\W*$|(?:약|대략|거의|최대|최소|무려)\s*$"
)
_VAGUE_AFTER = re.compile(
    r"\s*(?:or (?:more|less|so)|to \d|[-–~]\s?\d|이상|이하|미만|초과|가까|넘|안팎|남짓|정도|쯤)"
)

PairRuling = tuple[Relation, Difference, str]


@lru_cache(maxsize=65536)
def compare_statements(left: str, right: str) -> PairRuling | None:
    """Return the ruling of the rules with kind and reason; None if undecided."""
    one, two = parse_statement(left), parse_statement(right)
    if one.plain == two.plain:
        return "same", "other", "word for word"
    if one.names and two.names and not _have_shared_name(one, two):
        return "neither", "other", "they name different things"
    if are_opposed(one.scopes, two.scopes):
        return "neither", "other", "they speak of different cases"
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


def _has_only_more(part: ParsedStatement, other: ParsedStatement) -> bool:
    """Tell whether none of a part's figures is in the other sentence: "412 m long and 30 m wide"."""
    return not any(_has_amount(amount, other) for amount, _ in part.amounts)


@lru_cache(maxsize=16384)
def parts_of(statement: str) -> tuple[str, ...]:
    """Split a compound sentence into parts with a figure or date each, all with its subject.

    Returns the sentence itself if it has no such parts.
    """
    parts = [part.strip() for part in _PART.split(statement) if part and part.strip()]
    given = [parse_statement(part) for part in parts]
    if len(parts) < 2 or not all(part.amounts or part.dates for part in given):
        return (statement,)
    subject = _SUBJECT.match(parts[0])
    lead = subject.group() if subject else ""
    return (parts[0], *(part if parse_statement(part).names else f"{lead} {part}" for part in parts[1:]))


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
    """Return the number, or else the date, in which the statements differ."""
    one, two = parse_statement(left), parse_statement(right)
    if pair := _find_differing_amounts(one, two):
        return pair[0].text
    if when := _find_differing_dates(one, two):
        return when[0].text
    return None


def has_shared_terms(left: str, right: str) -> bool:
    """Tell whether two statements share a name, a measure, or two content words."""
    one, two = parse_statement(left), parse_statement(right)
    if len(set(one.words) & set(two.words)) > 1 or _have_shared_name(one, two):
        return True
    if len(one.pieces & two.pieces) > 3:
        return True
    return bool({slot for _, slot in one.amounts if slot} & {slot for _, slot in two.amounts if slot})


def is_near_miss(left: str, right: str) -> bool:
    """Tell whether they give nearly equal figures for one thing and time: 222,422 and 222,412."""
    for one, two in product(map(parse_statement, parts_of(left)), map(parse_statement, parts_of(right))):
        if (
            not measure_overlap(one, two).shared
            or not _are_of_one_time(one, two)
            or _are_two_things(one, two)
        ):
            continue
        if any(abs(a.value - b.value) <= _NEARLY * abs(a.value) for a, b in _rivals(one, two)):
            return True
    return False


def near_values(statement: str) -> list[tuple[str, float]]:
    """Return the precise figures of a statement, each with its measure."""
    return [
        (slot, amount.value)
        for amount, slot in parse_statement(statement).amounts
        if slot and _is_precise(amount)
    ]


def _rivals(one: ParsedStatement, two: ParsedStatement) -> list[tuple[Amount, Amount]]:
    """Return pairs of figures of one measure that differ; bounds and rounded ones are left out."""
    return [
        (a, b)
        for a, slot in one.amounts
        for b, other in two.amounts
        if slot and slot == other and not (_has_amount(a, two) or _has_amount(b, one))
        if not (_is_vague(a, one) or _is_vague(b, two))
        if _are_one(_year_of(a, one), _year_of(b, two)) and _is_one_measure(a, one, b, two)
    ]


def _are_one(left: int, right: int) -> bool:
    return not left or not right or left == right


def _year_of(amount: Amount, statement: ParsedStatement) -> int:
    """Return the year of a figure: the last one before it that is no comparison, else the first."""
    text = statement.text.low
    own = [d for d in statement.dates if d.year and not _COMPARED_WITH.match(text, d.end)]
    before = [date.year for date in own if date.start < amount.start]
    return before[-1] if before else own[0].year if own else 0


def _is_one_measure(a: Amount, one: ParsedStatement, b: Amount, two: ParsedStatement) -> bool:
    """Tell whether both statements name the subject of their Korean figures."""
    if abs(a.value - b.value) <= _NEARLY * abs(a.value) and min(map(_digits, (a, b))) > _PRECISE:
        return True
    subjects = (_subject_of(a, one), _subject_of(b, two))
    return all(not mine or other.text.has(mine.key) for mine, other in zip(subjects, (two, one), strict=True))


def _subject_of(amount: Amount, statement: ParsedStatement) -> TextWord | None:
    before = [w for w in statement.text.content_words if w.end <= amount.start and particle_role(w) == "이"]
    return before[-1] if before and statement.text.is_korean else None


def _is_precise(amount: Amount) -> bool:
    """Tell whether it has three significant digits, so that equal ones are rarely chance."""
    return _digits(amount) >= _PRECISE


def _digits(amount: Amount) -> int:
    return len(re.sub(r"\D", "", amount.text).strip("0"))


def _are_of_one_time(one: ParsedStatement, two: ParsedStatement) -> bool:
    are_years = not one.years or not two.years or bool(one.years & two.years)
    return (
        are_years and _find_periods(one.text.text) == _find_periods(two.text.text) and one.rates == two.rates
    )


def _are_two_things(one: ParsedStatement, two: ParsedStatement) -> bool:
    """Tell whether each one's first name is missing from the other: two plants in one country are not one."""
    return bool(one.names and two.names) and lacks_name(one.names[:1], two) and lacks_name(two.names[:1], one)


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
    return all(a.amounts and all(_has_amount(x, b) for x, _ in a.amounts) for a, b in pairs)


def _find_periods(text: str) -> set[str]:
    """Return the quarters, halves and months that a statement mentions."""
    return {found.lower().replace(" ", "") for found in _PERIOD.findall(text)}


def _compare_numbers(one: ParsedStatement, two: ParsedStatement, shared: WordOverlap) -> PairRuling | None:
    pair = _find_differing_amounts(one, two)
    if pair is None:
        return None
    if one.years and two.years and one.years.isdisjoint(two.years):
        return "neither", "number", "they speak of different times"
    if _find_periods(one.text.text) != _find_periods(two.text.text):
        return "neither", "number", "they speak of a year and a part of it, or of different parts"
    counted = {slot for amount, slot in one.amounts if amount is pair[0]}
    is_counted = counted <= set(one.words) & set(two.words) and not one.text.is_korean
    shorter = min(len(one.words), len(two.words))
    is_same_frame = (
        (
            shared.shared - 1 >= _SUBJECT_FROM * (shorter - 1)
            if is_counted
            else shared.of_shorter >= _SUBJECT_FROM
        )
        and shared.shared > 1
        and one.is_negated == two.is_negated
        and one.rates == two.rates
        and one.years == two.years
        and not _is_vague(pair[0], one)
        and not _is_vague(pair[1], two)
        and _have_same_names(one, two)
    )
    return ("contradicts", "number", f"{pair[0].text} is not {pair[1].text}") if is_same_frame else None


def _compare_single_number(
    one: ParsedStatement, two: ParsedStatement, shared: WordOverlap
) -> PairRuling | None:
    """Compare a single amount with several of the same measure, none of which equals it."""
    for slot in dict.fromkeys(slot for _, slot in two.amounts if slot):
        own = [pair for pair in one.amounts if pair[1] == slot]
        other = [pair for pair in two.amounts if pair[1] == slot]
        if len(own) > 1 and len(other) == 1 and not _has_amount(other[0][0], one):
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


def _is_vague(amount: Amount, statement: ParsedStatement) -> bool:
    """Tell whether it is rounded or a bound, so that another number need not contradict it."""
    text = statement.text.low
    return amount.is_approximate or bool(
        _VAGUE_BEFORE.search(text[: amount.start]) or _VAGUE_AFTER.match(text[amount.end :])
    )


def _have_same_facts(one: ParsedStatement, two: ParsedStatement) -> bool:
    """Tell whether neither has a number, date or name that the other lacks."""
    return _have_same_names(one, two) and all(
        all(_has_amount(amount, b) for amount, _ in a.amounts)
        and all(any(_is_same_date(d, e) for e in b.dates) for d in a.dates)
        for a, b in ((one, two), (two, one))
    )


def _has_extra_fact(one: ParsedStatement, two: ParsedStatement) -> bool:
    """Tell whether it gives a number or date that the other does not."""
    return any(not _has_amount(amount, two) for amount, _ in one.amounts) or any(
        not any(_is_same_date(date, other) for other in two.dates) for date in one.dates
    )


def _have_same_names(one: ParsedStatement, two: ParsedStatement) -> bool:
    return not lacks_name(one.names, two) and not lacks_name(two.names, one)


def _have_shared_name(one: ParsedStatement, two: ParsedStatement) -> bool:
    return any(not lacks_name((name,), b) for a, b in ((one, two), (two, one)) for name in a.names)


def _has_amount(amount: Amount, other: ParsedStatement) -> bool:
    return any(is_same_amount(amount, a) or is_same_amount(a, amount) for a, _ in other.amounts)


def _find_differing_amounts(one: ParsedStatement, two: ParsedStatement) -> tuple[Amount, Amount] | None:
    """Return the two differing amounts, if there is one such measure and each gives it once."""
    found = []
    for slot in dict.fromkeys(slot for _, slot in one.amounts if slot):
        left = [a for a, own in one.amounts if own == slot]
        right = [a for a, own in two.amounts if own == slot]
        if len(left) == len(right) == 1 and not _has_amount(left[0], two):
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

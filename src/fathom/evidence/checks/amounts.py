"""Find amounts in English and Korean text, with their measures: digits, words, scales and fractions.

Dates are no amounts.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log10

from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.figures import ENGLISH_NUMBERS, MULTIPLES, SCALES
from fathom.evidence.checks.lexicon import UNITS, is_same_measure
from fathom.text.tokens import TakenSpans, find_matches

_ORDINALS = {
    "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
_NATIVE = {
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10,
    "열한": 11, "열두": 12, "스무": 20, "서른": 30,
    "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
_COUNTERS = (
    "번째|명|사람|개월|개|대|곳|군데|번|건|마리|채|가지|배|살|달|시간|차례|종|권|척|그루|팀|주일|주|해"
)
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5,
    "tenth": 10,
}  # fmt: skip
_UNIT = "|".join(sorted((re.escape(u) for u in UNITS if u.isascii()), key=len, reverse=True))
_HANGUL_UNIT = "|".join(sorted((re.escape(u) for u in UNITS if not u.isascii()), key=len, reverse=True))
_WORDS = "|".join(sorted(ENGLISH_NUMBERS, key=len, reverse=True))
_AFTER = (
    r"(?:[\s-]?(?P<square>square|cubic)\s)?"
    rf"(?:\s?-?(?P<hangul>{_HANGUL_UNIT})(?!(?<=분)기)"
    rf"|\s?-?(?P<unit>degrees? celsius|degrees? fahrenheit|{_UNIT}|per cent|percentage points?)"
    r"(?![A-Za-z\d/²³]))?"
)
_FIGURE = re.compile(
    rf"(?P<sign>US\$|[$€£¥₩])?\s?(?:(?<![\w.])(?<![A-Za-z]-)|(?<=\bv))(?P<figure>\d[\d,]*(?:\.\d+)?)"
    rf"(?P<ordinal>st|nd|rd|th)?(?P<scale>(?:\s?(?:hundred|thousand|million|billion|trillion|bn|mn)\b)|(?:[십백천]?(?:만(?!큼)|[억조])|[백천](?![가-힣]*터))"
    rf"(?:\s?\d[\d,.]*[십백천]?[만억조]?(?=\s?(?:{_HANGUL_UNIT}|\s|$)))*)?{_AFTER}",
    re.IGNORECASE,
)
_FIGURE_BEGINS = re.compile(r"\d|[$€£¥₩](?=\s?\d)|\s(?=\d)|[Uu](?=[Ss]\$\s?\d)")
_PIECE = re.compile(r"(\d[\d,.]*)([십백천]?[만억조]?)")
_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}")
_LETTERS = re.compile(r"[a-z]+")
_WORDED = re.compile(
    rf"\b(?P<first>{_WORDS})(?:[-\s](?P<second>one|two|three|four|five|six|seven|eight|nine))?"
    rf"(?P<scale>\s(?:hundred|thousand|million|billion))?\b{_AFTER}",
    re.IGNORECASE,
)
_FRACTION = re.compile(
    rf"\b(?P<top>an?|one|two|three|four|\d)[\s-](?P<part>{'|'.join(_PARTS)})\b(?! of (?:the )?(?:year|20))"
    r"|\b(?P<half>half)\b|(?P<bottom>(?<!\d)\d+|[두세네])분의\s?(?P<over>\d+|[한두세])|(?P<korean_half>절반|(?<![가-힣])반(?=이|을|은|의|\s))",
    re.IGNORECASE,
)
_MULTIPLE = re.compile(rf"\b(?P<word>{'|'.join(MULTIPLES)})\b", re.IGNORECASE)
_ONCE = re.compile(r"\bonce\b(?=[.,;]|$)|(?<![가-힣])한 번(?=만|\s|$)")
_ORDINAL = re.compile(
    rf"\b(?<!a )(?<!per )(?<!one )(?<!two )(?<!every )(?P<word>{'|'.join(_ORDINALS)})(?! of)\b", re.IGNORECASE
)
_NATIVE_WORDS = "|".join(sorted(_NATIVE, key=len, reverse=True))
_NATIVE_COUNT = re.compile(
    rf"(?<![가-힣])(?!세대)(?P<native>{_NATIVE_WORDS})\s?(?P<unit>{_COUNTERS})(?!(?<=개)(?:인|발|혁))(?![가-힣]*는데)"
)
_APPROXIMATE = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|over|more than|under|less than|up to"
    r"|close to)\s*\S{0,3}$"
    r"|(?:약|대략|거의|무려|최대|최소)\s*$"
)
_DENIED_BEFORE = re.compile(r"\b(?:not|rather than|instead of)(?: the| from)?\s+[$€£¥₩]?$", re.IGNORECASE)
_DENIED_AFTER = re.compile(r"\s?[가-힣]{0,6}?(?:이|가)?\s?(?:아니라|아닌|아니고)")
_DEFINITE = re.compile(r"\b(?:the|these|those|both|other)\s$", re.IGNORECASE)
_IN_A_ROW = re.compile(
    r"연속|내리|째|\b(?:consecutive|successive|straight|running|in a row)\b", re.IGNORECASE
)
_NEAR = 0.03
_CONVERTED = 0.006  # relative rounding error, at most, between miles and kilometres or thirds and percent


@dataclass(frozen=True)
class Amount:
    """An amount in base units of its measure; the measure is empty for a plain number.

    `unit` is one of its own units in base units, 0 for a fraction; `step` is the value of its last digit.
    """

    text: str
    start: int
    end: int
    value: float
    measure: str
    is_approximate: bool = False
    unit: float = 1.0
    step: float = 0.0


@lru_cache(maxsize=2048)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """Return every amount in order, without parts of dates and of longer amounts."""
    taken = TakenSpans(text, find_dates(text))
    found: list[Amount] = []
    for amount in _find_all(text):
        if not taken.has(amount.start, amount.end):
            found.append(amount)
            taken.add(amount.start, amount.end)
    return tuple(sorted(found, key=lambda a: a.start))


def find_wrong_amounts(statement: str, quotes: Sequence[str]) -> list[str]:
    """Return the amounts of a statement that no quote gives."""
    every = [amount for quote in quotes for amount in find_amounts(quote)]
    known = [amount for quote in quotes for amount in _find_asserted(quote)]
    asserted = frozenset(_find_asserted(statement))
    is_in_a_row = _IN_A_ROW.search(statement) is not None
    spare = {float(value) for quote in quotes for date in find_dates(quote) for value in date.parts.values()}
    return [
        said.text
        for said in find_amounts(statement)
        if not any(is_same_amount(said, other) for other in (known if said in asserted else every))
        and not (not said.measure and said.value in spare)
        and not (said.value == 1 and said.text.lower() in {"one", "한"})
        and not (said.value == 2 and _DEFINITE.search(statement[max(0, said.start - 10) : said.start]))
        and not (is_in_a_row and any(_is_same_run(said, other) for other in every))
    ]


def _is_same_run(said: Amount, other: Amount) -> bool:
    """Tell whether "8 years in a row" and "the eighth" say the same."""
    return {said.measure, other.measure} == {
        "time",
        "ordinal",
    } and said.value / said.unit == other.value / other.unit


def find_denied_span(amount: Amount, text: str) -> tuple[int, int] | None:
    """Return the span that denies an amount, as in "9 crowns, not 7", including "not"."""
    head = text[max(0, amount.start - 40) : amount.start]
    is_led = head.rstrip().rstrip("$€£¥₩").rstrip().lower().endswith(("not", "than", "of", " the", " from"))
    if is_led and (before := _DENIED_BEFORE.search(head)):
        return amount.start - len(head) + before.start(), amount.end
    after = _DENIED_AFTER.match(text, amount.end)
    return (amount.start, after.end()) if after else None


def _find_asserted(text: str) -> tuple[Amount, ...]:
    """Return the amounts of a text without those it denies."""
    found = find_amounts(text)
    return tuple(amount for amount in found if find_denied_span(amount, text) is None) or found


def is_same_amount(said: Amount, other: Amount) -> bool:
    """Tell whether two amounts are equal: exactly, or within "about" or a unit conversion."""
    if not is_same_measure(said.measure, other.measure):
        return False
    size, apart = max(abs(said.value), abs(other.value)), abs(said.value - other.value)
    if said.is_approximate:
        return apart <= _NEAR * size
    rounded = min(_CONVERTED * size, max(said.step, other.step) / 2) if _is_converted(said, other) else 0.0
    return apart <= max(rounded, 1e-9 * size)


def _is_converted(said: Amount, other: Amount) -> bool:
    """Tell whether the units differ by no power of ten, so that a figure is rounded in one of them."""
    if not said.unit or not other.unit:
        return said.unit != other.unit
    power = log10(said.unit / other.unit)
    return abs(power - round(power)) > 1e-9


def _find_all(text: str) -> list[Amount]:
    """Return every kind of amount whose words the text has."""
    words = frozenset(_LETTERS.findall(text.lower()))
    is_plain = text.isascii()
    found: list[Amount] = []
    if not is_plain or not words.isdisjoint(_PARTS):
        found += [_fraction(m) for m in _FRACTION.finditer(text)]
    found += [_figure(m, text) for m in find_matches(_FIGURE, _FIGURE_BEGINS, text)]
    if not is_plain:
        found += [_native(m) for m in _NATIVE_COUNT.finditer(text)]
    if not words.isdisjoint(ENGLISH_NUMBERS):
        found += [_parse_worded(m, text) for m in _WORDED.finditer(text)]
    if not words.isdisjoint(MULTIPLES):
        found += [
            Amount(m.group(), *m.span(), MULTIPLES[m["word"].lower()], "times")
            for m in _MULTIPLE.finditer(text)
        ]
    if not is_plain or "once" in words:
        found += [Amount(m.group(), *m.span(), 1, "times") for m in _ONCE.finditer(text)]
    if not words.isdisjoint(_ORDINALS):
        found += [
            Amount(m.group(), *m.span(), _ORDINALS[m["word"].lower()], "ordinal")
            for m in _ORDINAL.finditer(text)
        ]
    return found


def _figure(match: re.Match[str], text: str) -> Amount:
    scale = match["scale"]
    by = _scale_factor(scale) if scale else 1.0
    value = _parse_digits(match["figure"]) * by + (_sum_further_pieces(scale) if scale else 0.0)
    measure, factor = _measure(match)
    if match["ordinal"]:
        measure, factor = "ordinal", 1.0
    if match["sign"]:
        measure, factor = UNITS[match["sign"].lower()]
    step = 10.0 ** -len(match["figure"].partition(".")[2]) * by * factor
    return Amount(
        match.group().strip(),
        match.start("figure"),
        match.end(),
        value * factor,
        measure,
        is_approximate=_is_about(text, match.start()),
        unit=factor,
        step=step,
    )


def _parse_worded(match: re.Match[str], text: str) -> Amount:
    value = ENGLISH_NUMBERS[match["first"].lower()] + ENGLISH_NUMBERS.get((match["second"] or "").lower(), 0)
    measure, factor = _measure(match)
    scale = SCALES[match["scale"].strip().lower()] if match["scale"] else 1.0
    is_about = _is_about(text, match.start())
    whole = value * scale * factor
    return Amount(match.group().strip(), *match.span(), whole, measure, is_about, factor, scale * factor)


def _fraction(match: re.Match[str]) -> Amount:
    if match["half"] or match["korean_half"]:
        share = 0.5
    elif match["part"]:
        word = match["top"].lower()
        top = {"a": 1, "an": 1}.get(word) or ENGLISH_NUMBERS.get(word) or int(word)
        share = top / _PARTS[match["part"].lower()]
    else:
        share = _count(match["over"]) / max(1, _count(match["bottom"]))
    return Amount(match.group(), *match.span(), 100 * share, "percent", unit=0.0)


def _native(match: re.Match[str]) -> Amount:
    measure, factor = UNITS.get(match["unit"], ("", 1.0))
    return Amount(match.group(), *match.span(), _NATIVE[match["native"]] * factor, measure)


def _count(word: str) -> float:
    return float(_NATIVE.get(word) or int(word))


def _measure(match: re.Match[str]) -> tuple[str, float]:
    name = (match["unit"] or match["hangul"] or "").lower()
    if not name:
        return "", 1.0
    if name.startswith("percentage"):
        return "points", 1.0
    if name.startswith("degree") and " " in name:
        return name.split()[1], 1.0
    measure, factor = UNITS.get("percent" if name == "per cent" else name, ("", 1.0))
    if match["square"] and measure == "length":
        return ("area", factor**2) if match["square"].lower() == "square" else ("volume", factor**3 * 1e3)
    return measure, factor


def _scale_factor(scale: str) -> float:
    """Return the product of the first scale words: "천억" is a thousand times a hundred million."""
    word = scale.strip().lower()
    if word in SCALES:
        return SCALES[word]
    factor = 1.0
    for letter in word:
        if letter not in SCALES:
            break
        factor *= SCALES[letter]
    return factor


def _sum_further_pieces(scale: str) -> float:
    """Return what further figures add: in "2조 3천억" the "3천억"."""
    pieces = _PIECE.findall(scale)
    return float(sum(_parse_digits(figure) * _scale_factor(word) for figure, word in pieces))


def _parse_digits(figure: str) -> float:
    bare = figure.strip(".,")
    if "," in bare and _DECIMAL_COMMA.fullmatch(bare):
        bare = bare.replace(",", ".")
    return float(bare.replace(",", ""))


def _is_about(text: str, start: int) -> bool:
    return _APPROXIMATE.search(text[max(0, start - 24) : start].lower()) is not None

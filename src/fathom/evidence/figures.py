"""Find the figures and dates of a text, English and Korean, by value.

Reads generously: "25만 4,500", "254,500", "0.25 million" and "twenty-five" all give numbers, so that a figure
written one way can be recognized in a text that writes it another way. Does not know what is measured beyond
the unit that follows a figure; `derivation` decides what one figure says about another.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from fathom.evidence.units import UNITS

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty""".split()  # noqa: SIM905
_TENS = "thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_ENGLISH = {word: float(n) for n, word in enumerate(_ONES)}
_ENGLISH |= {word: 10.0 * n for n, word in enumerate(_TENS, 3)} | {"dozen": 12.0, "a dozen": 12.0}
_ORDINALS = """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth""".split()  # noqa: SIM905
_ENGLISH_ORDINALS = {word: float(n) for n, word in enumerate(_ORDINALS, 1)}
_AGE_DECADES = {"twenties": 20.0, "thirties": 30.0, "forties": 40.0, "fifties": 50.0, "sixties": 60.0}
_MULTIPLES = {"twice": 2.0, "double": 2.0, "doubled": 2.0, "doubling": 2.0, "twofold": 2.0, "triple": 3.0}
_MULTIPLES |= {"tripled": 3.0, "threefold": 3.0, "quadrupled": 4.0, "fourfold": 4.0, "tenfold": 10.0}
_SHARES = {"half": 50.0, "third": 100 / 3, "thirds": 100 / 3, "quarter": 25.0, "quarters": 25.0}
_SHARES |= {"fifth": 20.0, "fifths": 20.0, "tenth": 10.0, "tenths": 10.0}
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "k": 1e3, "mn": 1e6, "bn": 1e9, "tn": 1e12, "m": 1e6, "b": 1e9,
    "십": 1e1, "백": 1e2, "천": 1e3, "만": 1e4, "억": 1e8, "조": 1e12,
}  # fmt: skip
_KOREAN = {
    "하나": 1, "한": 1, "둘": 2, "두": 2, "셋": 3, "세": 3, "석": 3, "서": 3, "넷": 4, "네": 4, "넉": 4,
    "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10,
    "스물": 20, "스무": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
_KOREAN_TEN = "열|스물|서른|마흔|쉰|예순|일흔|여든|아흔"
_KOREAN_ONE = "|".join(sorted(_KOREAN, key=len, reverse=True))
_COUNTER = (
    r"번째|명|사람|개월|개|대|곳|군데|번|건|마리|채|가지|배|살|달|시간|차례|종|권|척|그루|팀|주일|주|해|째|나라|도시|쪽|편"
    r"|분기|요인|항목|흐름|이유|문제|단계|차|나이|자리"
)
_UNIT_NAMES = sorted(UNITS, key=len, reverse=True)
_LATIN_UNIT = "|".join(re.escape(u) for u in _UNIT_NAMES if u.isascii())
_OTHER_UNIT = "|".join(re.escape(u) for u in _UNIT_NAMES if not u.isascii())
_UNIT = (
    rf"(?:\s?-?(?P<unit>percentage points?|per cent|%p|%포인트|(?:{_OTHER_UNIT})(?![기대생])"
    rf"|(?:{_LATIN_UNIT})(?![A-Za-z\d])))?"
)
_DIGITS = re.compile(
    r"(?P<sign>[$€£¥₩])?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<scale>\s?(?:hundred|thousand|million|billion|trillion)\b|(?:k|mn|bn|tn)\b|(?<=\d)[mb]\b(?=\s|[.,)]|$)"
    r"|[십백천]?[만억조](?!큼)|[십백천](?=\s?(?:[명개건원톤대곳]|만|억|조|여))|[십백천](?!\w))?"
    rf"(?P<ordinal>st|nd|rd|th)?{_UNIT}",
    re.IGNORECASE,
)
_KOREAN_MORE = re.compile(
    r"\s?(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<scale>[십백천]?[만억조천백](?!큼))?(?![\d.년월일])"
)
_WORDS = re.compile(
    rf"\b(?P<first>{'|'.join(sorted(_ENGLISH, key=len, reverse=True))})"
    r"(?:[-\s](?P<second>one|two|three|four|five|six|seven|eight|nine))?"
    rf"(?P<scale>\s(?:hundred|thousand|million|billion|trillion))?\b{_UNIT}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    rf"\b(?:(?P<ordinal>{'|'.join(_ENGLISH_ORDINALS)})|(?P<decade>{'|'.join(_AGE_DECADES)})"
    rf"|(?P<multiple>{'|'.join(_MULTIPLES)}))\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    rf"\b(?:(?P<top>an?|one|two|three|four|\d)[\s-])?(?P<part>{'|'.join(_SHARES)})\b"
    r"|(?P<bottom>\d+|[두세네]|다섯)\s?분의\s?(?P<over>\d+|[한두세일이삼]|네)|(?P<half>절반|(?<![가-힣])반(?=[이을은의]|\s))",
    re.IGNORECASE,
)
_NATIVE = re.compile(
    rf"(?<![가-힣])(?!세대)(?:(?P<pair>한두|두세|서너|네댓)|(?P<ten>{_KOREAN_TEN})?(?P<one>{_KOREAN_ONE})?)"
    rf"\s?(?P<unit>{_COUNTER})(?!대(?:의|가|는)?\s)"
)
_PAIRS = {"한두": (1, 2), "두세": (2, 3), "서너": (3, 4), "네댓": (4, 5)}
_APPROXIMATE = re.compile(
    r"\b(?:about|around|roughly|approximately|nearly|almost|some|over|more than|under|less than|up to"
    r"|close to|just over|just under|at least|exceed\w*)\s*\S{0,3}$|(?:약|대략|거의|무려|최대|최소|총)\s*$",
    re.IGNORECASE,
)
_APPROXIMATE_AFTER = re.compile(r"\s?(?:여|남짓|가량|정도|안팎|쯤|가까이|이상|을 넘|를 넘|대(?![가-힣]))")


@dataclass(frozen=True)
class Figure:
    """A number in a text: its value as written, its unit, and what its last digit counts (`step`)."""

    text: str
    start: int
    end: int
    value: float
    dimension: str = ""
    factor: float = 1.0
    step: float = 0.0
    is_approximate: bool = False
    is_word: bool = False

    @property
    def base(self) -> float:
        """The value in base units of its dimension."""
        return self.value * self.factor


@lru_cache(maxsize=8192)
def figures(text: str) -> tuple[Figure, ...]:
    """Return every figure in order; a figure inside a longer one is not told again."""
    found: list[Figure] = []
    for figure in (*_shares(text), *_digit_figures(text), *_word_figures(text), *_korean_figures(text)):
        if all(figure.end <= other.start or other.end <= figure.start for other in found):
            found.append(figure)
    return tuple(sorted(found, key=lambda figure: figure.start))


def _digit_figures(text: str) -> list[Figure]:
    found, past = [], 0
    for match in _DIGITS.finditer(text):
        if match.start() < past:
            continue
        scale = (match["scale"] or "").strip().lower()
        by = _scale_of(scale)
        value = float(match["digits"].replace(",", "")) * by
        step, end, unit = 10.0 ** -len(match["digits"].partition(".")[2]) * by, match.end(), match["unit"]
        if scale and not scale.isascii() and not unit:
            value, step, end, unit = _add_korean_pieces(text, value, step, end)
        dimension, factor = _dimension(unit, match["sign"], bool(match["ordinal"]))
        past = end
        if factor != 1.0 and not match["sign"]:
            factor = float(factor)
        found.append(
            Figure(text[match.start() : end].strip(), match.start(), end, value, dimension, factor, step,
                   _is_about(text, match.start(), end))
        )  # fmt: skip
    return found


def _add_korean_pieces(
    text: str, value: float, step: float, end: int
) -> tuple[float, float, int, str | None]:
    """Add what follows a Korean scale word: in "25만 4,500명" the 4,500, and find the unit behind it."""
    while more := _KOREAN_MORE.match(text, end):
        by = _scale_of(more["scale"] or "")
        piece = float(more["digits"].strip(",").replace(",", "")) * by
        if piece >= step:
            break  # "30만 5000만" is two figures
        value, end = value + piece, more.end()
        step = by
        if by == 1.0:
            break
    after = re.compile(_UNIT).match(text, end)
    return (value, step, after.end(), after["unit"]) if after else (value, step, end, None)


def _word_figures(text: str) -> list[Figure]:
    found = []
    for match in _WORDS.finditer(text):
        value = _ENGLISH[match["first"].lower()]
        if match["second"] and value >= 20:
            value += _ENGLISH[match["second"].lower()]
        by = _scale_of((match["scale"] or "").strip().lower())
        dimension, factor = _dimension(match["unit"], None, False)
        is_about = _is_about(text, match.start(), match.end())
        found.append(Figure(match.group(), *match.span(), value * by, dimension, factor, by, is_about, True))
    for match in _NAMED.finditer(text):
        word = match.group().lower()
        value = _ENGLISH_ORDINALS.get(word) or _AGE_DECADES.get(word) or _MULTIPLES[word]
        dimension = "ordinal" if match["ordinal"] else "times" if match["multiple"] else "age"
        found.append(Figure(match.group(), *match.span(), value, dimension, is_word=True))
    return found


def _korean_figures(text: str) -> list[Figure]:
    found = []
    for match in _NATIVE.finditer(text):
        dimension, factor = UNITS.get(match["unit"], ("", 1.0))
        if match["pair"]:
            values = [float(n) for n in _PAIRS[match["pair"]]]
        elif match["ten"] or match["one"]:
            values = [float(_KOREAN.get(match["ten"] or "", 0) + _KOREAN.get(match["one"] or "", 0))]
        else:
            continue
        span = match.span()
        middle = (span[0] + span[1]) // 2
        spans = [span] if len(values) == 1 else [(span[0], middle), (middle, span[1])]
        found += [
            Figure(match.group(), *place, value, dimension, factor, 1.0, is_word=True)
            for place, value in zip(spans, values, strict=True)
        ]
    return found


def _shares(text: str) -> list[Figure]:
    found = []
    for match in _SHARE.finditer(text):
        if match["part"]:
            word = (match["top"] or "").lower()
            if not word and match["part"].lower() not in {"half", "quarter"}:
                continue
            top = {"": 1.0, "a": 1.0, "an": 1.0}.get(word) or _ENGLISH.get(word) or float(word)
            share = top * _SHARES[match["part"].lower()]
        elif match["half"]:
            share = 50.0
        else:
            share = 100 * _small(match["over"]) / max(1.0, _small(match["bottom"]))
        found.append(Figure(match.group(), *match.span(), share, "percent", step=1.0, is_word=True))
    return found


def _small(word: str) -> float:
    sino = {"일": 1.0, "이": 2.0, "삼": 3.0}
    return float(word) if word.isdigit() else float(_KOREAN.get(word) or sino[word])


def _scale_of(word: str) -> float:
    if not word:
        return 1.0
    if word in _SCALES:
        return _SCALES[word]
    size = 1.0
    for letter in word:
        size *= _SCALES.get(letter, 1.0)
    return size


def _dimension(unit: str | None, sign: str | None, is_ordinal: bool) -> tuple[str, float]:
    if is_ordinal:
        return "ordinal", 1.0
    if sign:
        return UNITS[sign]
    name = (unit or "").lower()
    if not name:
        return "", 1.0
    if name.startswith("percentage") or name in {"%p", "%포인트"}:
        return "points", 1.0
    return UNITS.get("percent" if name == "per cent" else name, ("", 1.0))


def _is_about(text: str, start: int, end: int) -> bool:
    is_led = _APPROXIMATE.search(text[max(0, start - 24) : start]) is not None
    return is_led or _APPROXIMATE_AFTER.match(text, end) is not None

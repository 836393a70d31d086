"""Find the figures of English and Korean text, by value.

"25만 4,500", "254,500", "0.25 million" and "twenty-five" are all parsed, so that a figure is recognized
however it is written. A figure also has the range its wording allows: "about 18,000", "over 200", "2%대".
`derivation` compares figures.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from fathom.evidence.checks import UNITS, load_table, phrase_pattern
from fathom.text.tokens import TakenSpans

_NUMBERS, _KOREAN_NUMBERS = load_table("numbers")["english"], load_table("numbers")["korean"]
_ONES, _TENS = _NUMBERS["from_zero"].split(), _NUMBERS["tens_from_thirty"].split()
ENGLISH_NUMBERS = {word: float(n) for n, word in enumerate(_ONES)}
ENGLISH_NUMBERS |= {word: 10.0 * n for n, word in enumerate(_TENS, 3)} | {"dozen": 12.0, "a dozen": 12.0}
_SMALL_NUMBERS = {"일": 1.0, "이": 2.0, "삼": 3.0, "백": 100.0, **ENGLISH_NUMBERS}
_LONGEST = sorted(ENGLISH_NUMBERS, key=len, reverse=True)
_ORDINALS = _NUMBERS["ordinals_from_first"].split()
_ENGLISH_ORDINALS = {word: float(n) for n, word in enumerate(_ORDINALS, 1)} | {
    f"{ten[:-1]}{end}": 10.0 * n + more
    for n, ten in enumerate(["twenty", *_TENS], 2)
    for end, more in [("ieth", 0), *((f"y-{word}", place) for place, word in enumerate(_ORDINALS[:9], 1))]
}
_AGE_DECADES = {f"{ten[:-1]}ies": 10.0 * n for n, ten in enumerate(["twenty", *_TENS], 2)}
MULTIPLES: dict[str, float] = _NUMBERS["multiples"]
_PARTS: dict[str, float] = _NUMBERS["parts"]
SCALES: dict[str, float] = _NUMBERS["scales"]
_KOREAN: dict[str, float] = _KOREAN_NUMBERS["numbers"]
_KOREAN_DAYS: dict[str, float] = _KOREAN_NUMBERS["days"]
_KOREAN_TEN = "열|스물|서른|마흔|쉰|예순|일흔|여든|아흔"
_KOREAN_ONE = "|".join(sorted(_KOREAN, key=len, reverse=True))
_NATIVE_NUMBER = rf"(?:(?:{_KOREAN_TEN})(?:{_KOREAN_ONE})|{_KOREAN_ONE})"
_COUNTER = (
    r"번째|명|사람|개월|개|대|곳|군데|번|건|마리|채|가지|배|살|달|시간|차례|종|권|척|그루|팀|주일|주|해|째|나라|도시|쪽|편"
    r"|분기|요인|항목|흐름|이유|문제|단계|차|나이|자리"
)
_UNIT_NAMES = sorted(UNITS, key=len, reverse=True)
_LATIN_UNIT = "|".join(re.escape(u).replace(r"\-", "[- ]") for u in _UNIT_NAMES if u.isascii())
_OTHER_UNIT = "|".join(re.escape(u) for u in _UNIT_NAMES if not u.isascii())
_UNIT = (
    rf"(?:\s?-?(?P<unit>(?:{_OTHER_UNIT})(?!(?<=평)[균가점소]|(?<=[년일])생)"
    rf"|(?:{_LATIN_UNIT})(?![A-Za-z\d])))?"
)
_DIGITS = re.compile(
    r"(?P<sign>[$€£¥₩])?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<scale>[\s-]?(?:hundred|thousand|million|billion|trillion)\b|(?:k|mn|bn|tn)\b|(?<=\d)[mb]\b(?=\s|[.,)+]|$|[–-][£$€¥])"
    r"|[십백천]?(?:[만억]|조(?<!제\d조)(?<!제\d\d조)(?<!제\d\d\d조))(?!큼)|[십백천](?=\s?(?:[명개건원톤대곳가]|만|억|조|여|\d))|[십백천](?!\w))?"
    rf"(?P<ordinal>st|nd|rd|th)?{_UNIT}",
    re.IGNORECASE,
)
_KOREAN_MORE = re.compile(
    r"\s?(?P<digits>\d[\d,]*(?:\.\d+)?)(?:(?P<scale>[십백천]?[만억조천백십])(?!큼)|(?![\d.년월일]))"
)
_AFTER = re.compile(_UNIT, re.IGNORECASE)
_CODE = re.compile(r"([A-Za-z]{1,12}|코로나)-?$")
_BELOW_HUNDRED = rf"(?:(?:twenty|{'|'.join(_TENS)})[-\s](?:{'|'.join(_ONES[1:10])})|{'|'.join(_LONGEST)})"
_BELOW_THOUSAND = rf"{_BELOW_HUNDRED}(?:\shundred(?:\s(?:and\s)?{_BELOW_HUNDRED})?)?"
_WORDS = re.compile(
    rf"\b(?P<number>{_BELOW_THOUSAND}(?:\s(?:thousand|million|billion|trillion)(?:\s(?:and\s)?{_BELOW_THOUSAND})?)?"
    rf"|an?(?=\s(?:hour|day|week|month|year|decade|century|mile|litre|point)\sand\sa\shalf))\b{_UNIT}",
    re.IGNORECASE,
)
_AND_A_HALF = re.compile(r"(?:\s|-)(?:and[\s-]a[\s-]half)\b|\s?반(?![가-힣])", re.IGNORECASE)
_NAMED = re.compile(
    rf"\b(?:(?P<ordinal>{'|'.join(_ENGLISH_ORDINALS)})|(?P<decade>{'|'.join(_AGE_DECADES)})"
    rf"|(?P<multiple>{'|'.join(MULTIPLES)}))\b",
    re.IGNORECASE,
)
_SMALL_WORDS = "|".join(_ONES[1:11])
_SMALL_WORD = rf"{_SMALL_WORDS}|\d{{1,3}}"
_SHARE = re.compile(
    rf"\b(?:(?P<top>an?|one|two|three|four|seven|nine|\d)[\s-])?"
    r"(?<!first[ -])(?<!second[ -])(?<!third[ -])(?<!fourth[ -])(?<!last[ -])(?<!final[ -])"
    rf"(?P<part>{'|'.join(_PARTS)})\b"
    r"(?!\s(?:consecutive|straight|successive|time|term|year|quarter|month|week|meeting|party|season|round|place|largest)\b)"
    rf"(?:,? of)?(?: an?)?(?: (?P<of>[mbtr]*illion|percentage[ -]point|percent|point|{_LATIN_UNIT})"
    r"\b)?"
    rf"|\b(?P<some>{_SMALL_WORD})(?: [a-z]+){{0,2}} (?:in|out of)(?: every)? "
    rf"(?P<all>{_SMALL_WORDS}|twelve|twenty|[2-9]|10|12|20|100)"
    r"\b(?![.,]?\d|[\s-](?:years|months|days|weeks|hours|year|minutes))"
    r"|(?<![\d.])(?P<bottom>\d+(?:\.\d+)?|[두세네]|다섯)\s?분의\s?(?P<over>\d+|[한두세일이삼]|네)"
    rf"|(?<![\d.,])(?P<every>{_NATIVE_NUMBER}|백|[2-9]|10|100)\s?(?:명|사람|곳|가구|개)?\s?(?:에|중|가운데)\s(?P<those>{_NATIVE_NUMBER}|\d+)(?:명|사람|곳|가구|개)?"
    r"(?=[이은는꼴로의을\s(,])"
    r"|(?P<half>절반|(?<![가-힣])반(?=[이을은의]|\s))|(?P<half_year>(?<![가-힣])반년)",
    re.IGNORECASE,
)
_NATIVE = re.compile(
    rf"(?<![가-힣])(?!세대)(?:(?P<pair>한두|두세|서너|네댓)|(?P<number>{_NATIVE_NUMBER}))"
    rf"\s?(?P<unit>{_COUNTER})(?!대(?:의|가|는)?\s)|(?<![가-힣])(?P<days>{'|'.join(_KOREAN_DAYS)})"
)
_LOOSE = re.compile(
    rf"(?<![가-힣])(?P<native>{_NATIVE_NUMBER})(?=\s?[가-힣])|(?<![가-힣\d])(?P<bare>[십백천][만억조])(?=\s?[가-힣])"
    r"|\b(?:an?|per|each|every) (?P<scale>hundred|thousand|million|billion|trillion)\b",
    re.IGNORECASE,
)
_PAIRS = {"한두": (1, 2), "두세": (2, 3), "서너": (3, 4), "네댓": (4, 5)}
_CLASS_AFTER = re.compile(
    r"(?:명|원|%|퍼센트|달러|건|세|가구)?대(?=[\s,.)의에로까초중후를가는은]|$)(?! 초반)"
)
_MOST_DIGITS = 18  # longer digit strings are keys or checksums
_SUPERSCRIPT = re.compile(r"(?<=\d)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")


@dataclass(frozen=True)
class Figure:
    """A number in a text: its value as written, its unit, and the value of its last digit (`step`).

    `low` and `high` are the range its wording allows; `bound` is 1 for "over", -1 for "under". `code` is the
    word it is attached to, as in "GPT-4", where it is a name rather than a number.
    """

    text: str
    start: int
    end: int
    value: float
    dimension: str = ""
    factor: float = 1.0
    step: float = 0.0
    is_word: bool = False
    low: float = 0.0
    high: float = 0.0
    bound: int = 0
    code: str = ""
    is_about: bool = False  # of an amount, as `strict` compares them

    @property
    def base(self) -> float:
        """Return the value in base units of its dimension."""
        return self.value * self.factor

    @property
    def base_step(self) -> float:
        """Return the value of its last digit in base units; 0 for a share in words."""
        return 0.0 if self.is_word and self.dimension == "percent" else self.step * self.factor


def normalize_letters(text: str) -> str:
    """Resolve compatibility characters (㎞, ％, ２), and turn circled numbers into list items."""
    raised = _SUPERSCRIPT.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[1]), text)
    return unicodedata.normalize("NFKC", re.sub(r"\s?[①-⑳]", "\n• ", raised))


@lru_cache(maxsize=2048)
def find_figures(text: str) -> tuple[Figure, ...]:
    """Return every figure in order, without figures inside longer ones."""
    found: list[Figure] = []
    for kind in (_share_figures, _digit_figures, _word_figures, _korean_figures):
        taken = TakenSpans(text, found)
        found += [figure for figure in kind(text) if not taken.has(figure.start, figure.end)]
    ordered = sorted(found, key=lambda figure: figure.start)
    return tuple(_add_range(figure, text) for figure in _join_compound_figures(ordered, text))


@lru_cache(maxsize=2048)
def find_loose_figures(text: str) -> tuple[Figure, ...]:
    """Return number words without a counter ("다섯 구단", "per million"); some are other words."""
    found = []
    for match in _LOOSE.finditer(text):
        bare = (match["bare"] or match["scale"] or "").lower()
        value = _parse_native_number(match["native"]) if match["native"] else scale_of(bare)
        found.append(Figure(match.group(), *match.span(), value, is_word=True, low=value, high=value))
    return tuple(found)


def _digit_figures(text: str) -> Iterator[Figure]:
    past = 0
    for match in _DIGITS.finditer(text):
        if match.start() < past or len(match["digits"]) > _MOST_DIGITS:
            continue
        scale = (match["scale"] or "").strip(" -").lower()
        by = scale_of(scale)
        value = float(match["digits"].replace(",", "")) * by
        step, end, unit = 10.0 ** -len(match["digits"].partition(".")[2]) * by, match.end(), match["unit"]
        if scale and not scale.isascii() and not unit:
            value, step, end, unit = _parse_korean_number(text, match)
        dimension, factor = _dimension(unit, match["sign"], bool(match["ordinal"]))
        if dimension == "length" and "시속" in text[max(0, match.start() - 6) : match.start()]:
            dimension, factor = "speed", factor / 1000
        past, start = end, match.start("sign") if match["sign"] else match.start("digits")
        code = _CODE.search(text[max(0, start - 13) : start])
        name = code[1].lower() if code and not match["sign"] else ""
        yield Figure(text[start:end].strip(), start, end, value, dimension, factor, step, code=name)


def _parse_korean_number(text: str, first: re.Match[str]) -> tuple[float, float, int, str | None]:
    """Return value, step, end and unit of a number in pieces: "25만 4,500명", "3천633만 명", "2조 3천억"."""
    whole = section = 0.0
    large = small = step = float("inf")  # each piece has a smaller scale than the one before
    piece, end = first, first.end()
    while True:
        number, word = float(piece["digits"].strip(",").replace(",", "")), piece["scale"] or ""
        big = SCALES[word[-1]] if word and word[-1] in "만억조" else 0.0
        rest = scale_of(word[:-1] if big else word)
        if big >= large or number * rest >= (small if big else min(small, large)):
            break  # "30만 5000만" is two figures
        section += number * rest
        end, small, step = piece.end(), rest if rest > 1 else small, rest * (big or 1.0)
        if big:
            whole, section, large, small = whole + section * big, 0.0, big, float("inf")
        more = _KOREAN_MORE.match(text, end) if word else None
        if more is None:
            break
        piece = more
    after = _AFTER.match(text, end)
    step *= 10.0 ** -len(first["digits"].partition(".")[2]) if piece is first else 1.0
    return (whole + section, step, *((after.end(), after["unit"]) if after else (end, None)))


def _word_figures(text: str) -> Iterator[Figure]:
    for match in _WORDS.finditer(text):
        value, step = _parse_english_number(match["number"])
        dimension, factor = _dimension(match["unit"], None, False)
        yield Figure(match.group(), *match.span(), value, dimension, factor, step, True)
    for match in _NAMED.finditer(text):
        word = match.group().lower()
        value = _ENGLISH_ORDINALS.get(word) or _AGE_DECADES.get(word) or MULTIPLES[word]
        dimension = "ordinal" if match["ordinal"] else "times" if match["multiple"] else "age"
        yield Figure(match.group(), *match.span(), value, dimension, is_word=True)


def _parse_english_number(words: str) -> tuple[float, float]:
    """Return the value of "two hundred and fifty thousand", and its last scale."""
    whole = section = 0.0
    scale = 1.0
    for word in re.split(r"[\s-]+", words.lower()):
        if word in SCALES and len(word) > 2:
            scale = SCALES[word]
            section = section * scale
            whole, section = (whole + section, 0.0) if scale >= 1e3 else (whole, section)
        elif word != "and":
            scale, section = 1.0, section + (1.0 if word in {"a", "an"} else ENGLISH_NUMBERS[word])
    return whole + section, scale


def _korean_figures(text: str) -> Iterator[Figure]:
    for match in _NATIVE.finditer(text):
        dimension, factor = UNITS.get(match["unit"] or "일", ("", 1.0))
        values: list[float] = [float(_KOREAN_DAYS[match["days"]])] if match["days"] else []
        if match["pair"]:
            values = [float(n) for n in _PAIRS[match["pair"]]]
        elif match["number"]:
            values = [_parse_native_number(match["number"])]
        middle = (match.start() + match.end()) // 2
        cuts = [match.span()] if len(values) == 1 else [(match.start(), middle), (middle, match.end())]
        for place, value in zip(cuts, values, strict=True):
            yield Figure(match.group(), *place, value, dimension, factor, 1.0, is_word=True)


def _share_figures(text: str) -> Iterator[Figure]:
    for match in _SHARE.finditer(text):
        figure = Figure(match.group(), *match.span(), 50.0, "percent", step=1.0, is_word=True)
        if match["half_year"]:
            dimension, factor = UNITS["년"]
            figure = replace(figure, value=0.5, dimension=dimension, factor=factor, step=0.5)
        elif match["part"]:
            word, part = (match["top"] or "").lower(), match["part"].lower()
            if not word and part not in {"half", "quarter", "halved", "halving"}:
                continue
            top = {"": 1.0, "a": 1.0, "an": 1.0}.get(word) or ENGLISH_NUMBERS.get(word) or float(word)
            figure = _part_of(figure, top / _PARTS[part], match["of"])
        elif match["bottom"]:
            figure = replace(
                figure, value=100 * _parse_number(match["over"]) / max(1.0, _parse_number(match["bottom"]))
            )
        elif match["some"] or match["every"]:
            few = _parse_number(match["some"] or match["those"])
            every = _parse_number(match["all"] or match["every"])
            if not few < every:
                continue
            figure = replace(figure, value=100 * few / every)
        yield figure


def _part_of(figure: Figure, share: float, whole: str | None) -> Figure:
    """Return a share of what follows: a quarter of a million is a number, a tenth of a point is in points."""
    if not whole:
        return replace(figure, value=100 * share)
    if len(whole) > 2 and whole in SCALES:
        value = share * SCALES[whole]
        return replace(figure, value=value, dimension="", step=value / 10)
    if whole in UNITS and not whole.startswith(("point", "percent")):
        dimension, factor = UNITS[whole]
        return replace(figure, value=share, dimension=dimension, factor=factor, step=share)
    return replace(figure, value=share, dimension="percent" if whole == "percent" else "points", step=share)


def _join_compound_figures(found: list[Figure], text: str) -> Iterator[Figure]:
    """Join "1 hour 15 minutes" and "5 feet 4 inches" into one figure."""
    waiting: Figure | None = None
    for figure in (_add_half(figure, text) for figure in found):
        if waiting and _is_continued(waiting, figure, text):
            value = waiting.value + figure.base / waiting.factor
            step = figure.factor / waiting.factor
            whole = text[waiting.start : figure.end]
            waiting = replace(waiting, text=whole, end=figure.end, value=value, step=step)
            continue
        if waiting:
            yield waiting
        waiting = figure
    if waiting:
        yield waiting


def _add_half(figure: Figure, text: str) -> Figure:
    """Add the half of "two and a half years" and "2년 반"."""
    half = _AND_A_HALF.match(text, figure.end)
    if half is None or figure.dimension == "percent":
        return figure
    unit = _AFTER.match(text, half.end())
    name = unit["unit"] if unit and not figure.dimension else None
    end = unit.end() if unit and name else half.end()
    dimension, factor = _dimension(name, None, False) if name else (figure.dimension, figure.factor)
    whole = text[figure.start : end]
    return replace(
        figure, text=whole, end=end, value=figure.value + 0.5, step=0.5, dimension=dimension, factor=factor
    )


def _is_continued(first: Figure, second: Figure, text: str) -> bool:
    is_measure = first.dimension == second.dimension and first.dimension in {"time", "length", "mass"}
    if not is_measure or first.factor <= second.factor or second.base >= first.factor:
        return False
    return first.value <= 200 and text[first.end : second.start] in {"", " ", " and ", ", "}


def _add_range(figure: Figure, text: str) -> Figure:
    """Add the range that the wording allows."""
    before, value = text[max(0, figure.start - 24) : figure.start].lower(), figure.value
    after = text[figure.end : figure.end + 12].lower()
    step, digits = _last_digit(figure)
    if _CLASS_AFTER.match(after) and figure.step:
        return replace(figure, low=value, high=value + step * (1 - 1e-9))
    bound = int(_is_worded("over", before, after)) or -int(_is_worded("under", before, after))
    is_about = bool(bound) or _is_worded("about", before, after)
    if figure.dimension == "percent" and figure.is_word:
        apart = max(2.5, 0.05 * value) if is_about else 2.5
    elif is_about:
        apart = max(step / 2, 0.03 * value)
    elif figure.is_word or (digits < 2 and figure.dimension in {"ordinal", "age"}):
        apart = 0.0
    elif digits < 2 or step / 2 > 0.05 * value:  # 3,000 for 3,012, but not 3 for 3.4
        apart = 0.02 * value if value >= 1000 else 0.0
    else:
        apart = step / 2 * (1 + 1e-9)
    low, high = value - apart, value + apart
    if bound:
        low, high = (0.97 * value, 1.25 * value) if bound > 0 else (0.8 * value, 1.03 * value)
    return replace(figure, low=low, high=high, bound=bound)


def _is_worded(kind: str, before: str, after: str) -> bool:
    """Tell whether the words around a figure make it one of a kind: about, over, under."""
    is_led = phrase_pattern(f"{kind}_before").search(before)
    return bool(is_led or phrase_pattern(f"{kind}_after").match(after))


def _last_digit(figure: Figure) -> tuple[float, int]:
    """Return the value of the last nonzero digit, and the number of digits up to it."""
    step, value = figure.step, figure.value
    if not step or not value:
        return 0.0, 0
    while step * 10 <= value and abs(value / (step * 10) - round(value / (step * 10))) < 1e-9:
        step *= 10
    return step, len(str(round(value / step)))


def _parse_native_number(word: str) -> float:
    if word in _KOREAN:
        return float(_KOREAN[word])
    ten = next(ten for ten in _KOREAN if word.startswith(ten) and word[len(ten) :] in _KOREAN)
    return float(_KOREAN[ten] + _KOREAN[word[len(ten) :]])


def _parse_number(word: str) -> float:
    low = word.lower()
    if low in _SMALL_NUMBERS:
        return _SMALL_NUMBERS[low]
    return float(low) if low[0].isdigit() else _parse_native_number(low)


def scale_of(word: str) -> float:
    """Return what a word multiplies by: "million", "십만"; 1 for none."""
    if not word:
        return 1.0
    if word in SCALES:
        return SCALES[word]
    size = 1.0
    for letter in word:
        size *= SCALES.get(letter, 1.0)
    return size


def _dimension(unit: str | None, sign: str | None, is_ordinal: bool) -> tuple[str, float]:
    if is_ordinal:
        return "ordinal", 1.0
    if sign:
        return UNITS[sign]
    return UNITS.get((unit or "").lower().replace(" ", "-"), ("", 1.0))

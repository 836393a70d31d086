"""Words that tell statements apart: cases that do not touch, words that deny, events that happen once.

Short lists by hand, English and Korean. Does not know the words it does not list.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ONCE = re.compile(
    r"\b(?:opened|founded|established|born|died|built|completed|launched|released|published|began|started"
    r"|discovered|invented|signed|closed|introduced|created|inaugurated|adopted|enacted|ratified|landed|arrived"
    r"|ended|abolished|demolished|commissioned|premiered|married|elected|appointed)\b"
    r"|개통|설립|완공|준공|태어|출생|사망|창립|출시|시작|발견|개장|개관|발명|체결|폐쇄|도입|착공|제정|공포|창설|세워"
    r"|열렸|문을 열|건립|발사|상륙|취임|결혼|숨졌"
)
_WORD = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Lines:
    """Lists of words with two sides each: for every word the lines it stands in, and on which side."""

    count: int
    english: dict[str, list[tuple[int, int]]]
    korean: dict[re.Pattern[str], list[tuple[int, int]]]


def _lines(*lists: str) -> Lines:
    """Each line is split in its middle."""
    english: dict[str, list[tuple[int, int]]] = {}
    korean: dict[re.Pattern[str], list[tuple[int, int]]] = {}
    for place, words in enumerate(line.split() for line in lists):
        for n, word in enumerate(words):
            at = (place, 1 if n < len(words) // 2 else -1)
            if word.isascii():
                english.setdefault(word, []).append(at)
            else:
                korean.setdefault(re.compile(rf"(?<![가-힣]){word}"), []).append(at)
    return Lines(len(lists), english, korean)


# What is said of the one does not touch the other.
SCOPES = _lines(
    "men women", "man woman", "male female", "boys girls", "urban rural", "north south", "northern southern",
    "east west", "eastern western", "before after", "minimum maximum", "lowest highest", "average peak",
    "mean median", "public private", "first second", "import imports export exports", "day night",
    "summer winter", "indoor outdoor", "old new", "gross net", "input output", "children adults",
    "mice humans", "남성 여성", "남자 여자", "도시 농촌", "북부 남부", "동부 서부", "최소 최대", "평균 최고",
    "수입 수출", "여름 겨울",
    "이전 이후", "상반기 하반기", "아동 성인", "공공 민간",
)  # fmt: skip
# The one denies the other.
DENIALS = _lines(
    "increase increases increased rises rose decrease decreases decreased falls fell", "safe unsafe",
    "legal illegal", "possible impossible", "effective ineffective", "true false", "harmful harmless",
    "higher lower", "cheaper dearer", "guilty innocent", "alive dead", "succeeded failed",
    "증가 감소", "상승 하락", "합법 불법", "가능 불가능", "안전 위험", "유해 무해", "확대 축소", "성공 실패",
    "찬성 반대",
)  # fmt: skip


def once(text: str) -> frozenset[str]:
    """The words of a text, in lower case, for what happens one time only."""
    return frozenset(_ONCE.findall(text))


def sides(text: str, lines: Lines) -> tuple[int, ...]:
    """For each line, on which side of it a text in lower case stands: 1, -1, or 0 for none or both."""
    found = {at for word in lines.english.keys() & _WORD.findall(text) for at in lines.english[word]}
    if not text.isascii():
        found |= {at for word, places in lines.korean.items() if word.search(text) for at in places}
    standing = [0] * lines.count
    for place, side in found:
        standing[place] += side
    return tuple(standing)


def are_opposed(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two texts stand on two sides of a line."""
    return any(a * b == -1 for a, b in zip(left, right, strict=True))

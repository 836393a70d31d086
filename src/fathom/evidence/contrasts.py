"""Words that tell statements apart: cases that do not touch, words that deny, events that happen once.

Short lists by hand, English and Korean. Does not know the words it does not list.
"""

import re
from collections.abc import Sequence

_ONCE = re.compile(
    r"\b(?:opened|founded|established|born|died|built|completed|launched|released|published|began|started"
    r"|discovered|invented|signed|closed|introduced|created|inaugurated|adopted|enacted|ratified|landed|arrived"
    r"|ended|abolished|demolished|commissioned|premiered|married|elected|appointed)\b"
    r"|개통|설립|완공|준공|태어|출생|사망|창립|출시|시작|발견|개장|개관|발명|체결|폐쇄|도입|착공|제정|공포|창설|세워"
    r"|열렸|문을 열|건립|발사|상륙|취임|결혼|숨졌"
)
_WORD = re.compile(r"[a-z]+")
# What is said of the one does not touch the other.
SCOPES = (
    "men women", "man woman", "male female", "boys girls", "urban rural", "north south", "northern southern",
    "east west", "eastern western", "before after", "minimum maximum", "lowest highest", "average peak",
    "mean median", "public private", "first second", "import imports export exports", "day night",
    "summer winter", "indoor outdoor", "old new", "gross net", "input output", "children adults",
    "mice humans", "남성 여성", "남자 여자", "도시 농촌", "북부 남부", "동부 서부", "최소 최대", "평균 최고",
    "수입 수출", "여름 겨울",
    "이전 이후", "상반기 하반기", "아동 성인", "공공 민간",
)  # fmt: skip
# The one denies the other.
DENIALS = (
    "increase increases increased rises rose decrease decreases decreased falls fell", "safe unsafe",
    "legal illegal", "possible impossible", "effective ineffective", "true false", "harmful harmless",
    "higher lower", "cheaper dearer", "guilty innocent", "alive dead", "succeeded failed",
    "증가 감소", "상승 하락", "합법 불법", "가능 불가능", "안전 위험", "유해 무해", "확대 축소", "성공 실패",
    "찬성 반대",
)  # fmt: skip


def once(text: str) -> frozenset[str]:
    """The words of a text, in lower case, for what happens one time only."""
    return frozenset(_ONCE.findall(text))


def sides(text: str, lists: Sequence[str]) -> tuple[int, ...]:
    """For each line, on which side of it a text in lower case stands: 1, -1, or 0 for none or both."""
    words = frozenset(_WORD.findall(text))
    return tuple(_side(text, words, line) for line in lists)


def are_opposed(left: Sequence[int], right: Sequence[int]) -> bool:
    """Whether two texts stand on two sides of a line."""
    return any(a * b == -1 for a, b in zip(left, right, strict=True))


def _side(text: str, words: frozenset[str], line: str) -> int:
    listed = line.split()
    halves = listed[: len(listed) // 2], listed[len(listed) // 2 :]
    first, second = (any(_is_there(word, text, words) for word in half) for half in halves)
    return int(first) - int(second)


def _is_there(word: str, text: str, words: frozenset[str]) -> bool:
    if word.isascii():
        return word in words
    return word in text and re.search(rf"(?<![가-힣]){word}", text) is not None

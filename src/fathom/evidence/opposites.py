"""Words that say the opposite of each other, and whether a statement turns its quote around.

Does not know the thing that rises or falls, only the words near it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from fathom.evidence.words import Text, Word, same

_PAIRS = """
rise fall|more less|more fewer|higher lower|high low|many few|most few|increase decrease|before after
above below|win lose|lighter heavier|light heavy|larger smaller|large small|bigger smaller|big small
faster slower|fast slow|upper lower|top bottom|north south|east west|northern southern|eastern western
left right|early late|earlier later|oldest youngest|older younger|old new|old young|first last|best worst
better worse|longer shorter|long short|strong weak|stronger weaker|approve reject|approved rejected
admit deny|admitted denied|accept refuse|allow ban|allow prohibit|permit forbid|legal illegal|safe unsafe
safe dangerous|improve worsen|improved worsened|cause prevent|causes prevents|support oppose
supports opposes|buy sell|import export|open close|opened closed|hot cold|warm cold|warmer colder|wet dry
male female|men women|man woman|true false|success failure|pass fail|profit loss|gain lose
positive negative|same different|possible impossible|likely unlikely|able unable|present absent
public private|rich poor|maximum minimum|majority minority|with without|inside outside|always never
enter leave|join leave|borrow lend|day night|hire fire|expensive cheap|deeper shallower|deep shallow
thicker thinner|thick thin|wider narrower|wide narrow|known unknown|include exclude|agree disagree
widely rarely|freeze melt|froze melted|frozen melted|add remove|protect harm|protects harms|help harm
helps harms|증가 감소|늘 줄|오르 내리|오르 떨어지|상승 하락|높 낮|많 적|많이 적게|가볍 무겁|빠르 느리
크 작|길 짧|강하 약하|강 약|먼저 나중|이전 이후|전 후|위 아래|상부 하부|북부 남부|동부 서부|북쪽 남쪽
동쪽 서쪽|가결 부결|찬성 반대|승인 거부|허용 금지|합법 불법|안전 위험|개선 악화|이기 지|이겼 졌|승리 패배
흑자 적자|이익 손실|수출 수입|최대 최소|남성 여성|남자 여자|성공 실패|참 거짓|가능 불가능|시작 종료|열 닫
개방 폐쇄|확대 축소|강화 약화|최고 최저|최초 최후|두껍 얇|넓 좁|깊 얕|비싸 싸|따뜻 차갑|덥 춥|있 없
인정 부인|포함 제외|긍정 부정|매수 매도|공격 방어|고용 해고|올랐 내렸|올랐 떨어졌|늘었 줄었|더 덜
길어 짧아|높아 낮아|전진 후퇴|동의 반대|cheaper expensive|cheap expensive
"""
_NEAR = 5
_ENDING = re.compile(r"다|고|며|은|는|을|어|아|었|았|인|이는|게|지|면|ㄴ|기|렸|랐|졌|여|려|라|린|른")


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for pair in re.split(r"[|\n]", _PAIRS.strip()):
        left, right = pair.split()
        table.setdefault(left, set()).add(right)
        table.setdefault(right, set()).add(left)
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES = _table()
_KOREAN = sorted((word for word in OPPOSITES if not word.isascii()), key=len, reverse=True)


def root(word: Word) -> str:
    """The form under which the word has opposites; empty when it has none."""
    return _root(word.low, word.key if word.is_telling else word.low)


@lru_cache(maxsize=16384)
def _root(low: str, key: str) -> str:
    forms = [low, key]
    if low[0].isascii():
        forms += [low.rstrip("s"), re.sub(r"e?d$|ing$", "", low), re.sub(r"d$|s$", "", low)]
        return next((form for form in forms if form in OPPOSITES), "")
    known = (r for r in _KOREAN if low.startswith(r) and _is_form(low, r))
    return next((form for form in forms if form in OPPOSITES), "") or next(known, "")


def _is_form(word: str, start: str) -> bool:
    """One syllable is a root only with an ending: "늘" begins "늘었다", not "늘봄"."""
    return len(start) > 1 or _ENDING.match(word[1:]) is not None


@lru_cache(maxsize=4096)
def rooted(text: Text) -> tuple[tuple[Word, str], ...]:
    """The words of a text that have opposites, each with the form under which it has them."""
    return tuple((word, form) for word in text.words if (form := root(word)))


def turned(said: Text, quoted: Sequence[Text]) -> list[str]:
    """Why the statement says the opposite: a word of it where the quotes have the contrary."""
    found = []
    for word, form in rooted(said):
        contrary = OPPOSITES[form]
        theirs = [(other, text) for text in quoted for other, of in rooted(text) if of in contrary]
        if not theirs:
            continue
        same_words = [
            (other, text)
            for text in quoted
            for other in text.words
            if root(other) == form or same(other.key, word.key)
        ]
        # Both in the statement, and the quote has only the contrary: it is the contrary that is quoted.
        if any(of in contrary for _, of in rooted(said)) and not same_words:
            continue
        if _is_nearer(word, said, theirs, same_words):
            found.append(f"it says '{word.text}', the quote says '{theirs[0][0].text}'")
    return found


def _is_nearer(
    word: Word, said: Text, contrary: Sequence[tuple[Word, Text]], agreeing: Sequence[tuple[Word, Text]]
) -> bool:
    """Whether the words around it stand around the contrary rather than around the same word."""
    if word.low in {"before", "after"}:
        return any(_next(word, said) == _next(other, text) for other, text in contrary) and not agreeing
    mine = _around(word, said)
    against = max(_shared(mine, _around(other, text)) for other, text in contrary)
    if not agreeing:
        return against > 0 or len(said.telling) <= 2
    return against > 0.1 + max(_shared(mine, _around(other, text)) for other, text in agreeing)


def _next(word: Word, text: Text) -> str:
    return next((other.key for other in text.telling if other.start > word.start), "")


def _around(word: Word, text: Text) -> dict[str, float]:
    place = next(n for n, other in enumerate(text.words) if other.start == word.start)
    return {
        other.key: 1.0 / (1 + abs(n - place) + 3 * abs(other.clause - word.clause))
        for n, other in enumerate(text.words)
        if (other.is_telling or other.low[0].isdigit())
        and n != place
        and abs(n - place) <= _NEAR
        and not root(other)
    }


def _shared(mine: dict[str, float], theirs: dict[str, float]) -> float:
    return sum(
        min(weight, other_weight)
        for key, weight in mine.items()
        for other, other_weight in theirs.items()
        if same(key, other)
    )

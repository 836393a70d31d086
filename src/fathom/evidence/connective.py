"""Whether a sentence only connects others.

Does not know sections. What it does not know as connecting is taken to state something: a word too many costs
a phrase, a word too few would let a fact through without a source.
"""

import re

from fathom.evidence.facts import is_negated, numbers
from fathom.text.tokens import STOP_WORDS

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MOST_WORDS = 16
_ENGLISH = frozenset(
    """
    above addition addressed answer answers asked aspect aspects below besides brief briefly claims
    conclusion consider considered contrast conversely described detail details discussed evidence far
    finally findings first follow following follows furthermore hand however last let likewise listed look
    looking looks matter matters meanwhile moreover much namely next order overview part parts picture point
    points question questions regard regarding report rest said say says section see seen shown side
    similarly source sources sum summary taken therefore thus together topic turn turning turns us view
    """.split()  # noqa: SIM905
)
_ASSERTING = frozenset("can could should will would must may might cannot".split())  # noqa: SIM905
_KOREAN = (
    "관련", "그러나", "근거", "나머지", "내용", "다음", "답은", "답을", "대하여", "대해", "마지막", "먼저",
    "위에서", "보고서", "반면", "보면", "본다", "보자", "부분", "살펴", "설명", "아래", "여기", "요약",
    "이것", "이러한", "이를", "이상으로", "이상에서", "이어서", "이와", "이제", "자세히", "절에서",
    "우선", "점을", "정리", "주제", "질문", "차례", "출처", "측면", "하지만", "한편", "항목",
)  # fmt: skip
_LONGEST_ENDING = 4


def is_connective(sentence: str) -> bool:
    """Whether it has nothing but words that lead from one sentence to the next, and at least one of them."""
    words = [found.group().lower() for found in _WORD.finditer(sentence)]
    if numbers(sentence) or is_negated(sentence) or len(words) > _MOST_WORDS:
        return False
    telling = [word for word in words if word not in STOP_WORDS or word in _ASSERTING]
    return bool(telling) and all(_connects(word) for word in telling)


def _connects(word: str) -> bool:
    if word.isascii():
        return word in _ENGLISH
    return any(word.startswith(known) and len(word) <= len(known) + _LONGEST_ENDING for known in _KOREAN)

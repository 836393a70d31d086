"""The words a report weighs evidence with, in the languages it speaks.

Does not know what is weighed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fathom.report.words import KOREAN, Words
from fathom.state import Settlement, Tag


@dataclass(frozen=True)
class WeightWords:
    """Headings, columns and remarks of the tables about agreement and disagreement."""

    disagree: str
    columns: tuple[str, ...]
    undated: str
    open: str
    favoured: str
    rules: Mapping[Settlement, str]
    sure: str
    part: str
    tags: Mapping[Tag, str]
    legend: str


_ENGLISH = WeightWords(
    disagree="Where sources disagree",
    columns=("About", "They say", "Sources", "Published", "Settled"),
    undated="undated",
    open="open",
    favoured="for this one: {rule}",
    rules={},
    sure="How sure",
    part="Part of the question",
    tags={},
    legend="VERIFIED: three or more independent sources say it. HIGH: two. LIKELY: one, whose words carry it "
    "well. UNCERTAIN: one, weakly, or a rule decided against it. CONTRADICTED: sources disagree, and no rule "
    "settles it.",
)
_KOREAN = WeightWords(
    disagree="출처들이 서로 다르게 말하는 것",
    columns=("무엇에 대해", "내용", "출처", "발행일", "판정"),
    undated="날짜 없음",
    open="미해결",
    favoured="이쪽: {rule}",
    rules={
        "retraction or correction": "철회 또는 정정",
        "same source, later version": "같은 출처의 나중 판",
        "newer official figure": "더 새로운 공식 수치",
    },
    sure="얼마나 확실한가",
    part="질문의 부분",
    tags={
        "VERIFIED": "확인됨",
        "HIGH": "높음",
        "LIKELY": "그럴듯함",
        "UNCERTAIN": "불확실",
        "CONTRADICTED": "엇갈림",
    },
    legend="확인됨: 서로 독립된 출처가 셋 이상. 높음: 둘. 그럴듯함: 하나이지만 인용이 잘 뒷받침함. "
    "불확실: 하나이고 약하거나, 규칙이 다른 쪽을 택함. 엇갈림: 출처들이 다르게 말하고 어떤 규칙으로도 "
    "풀리지 않음.",
)


def weight_words(words: Words) -> WeightWords:
    """The words that go with a report's other words."""
    return _KOREAN if words is KOREAN else _ENGLISH

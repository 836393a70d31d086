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
    meanings: Mapping[Tag, str]
    points: str
    disputed: str


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
    meanings={
        "VERIFIED": "three or more independent sources say it",
        "HIGH": "two independent sources say it",
        "LIKELY": "one source says it, and its words carry it well",
        "UNCERTAIN": "one source says it weakly, or a rule decided against it",
        "CONTRADICTED": "sources disagree, and no rule settles it",
    },
    points="{tag}: {count} of {all} ({meaning}).",
    disputed="(disputed, see below)",
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
    meanings={
        "VERIFIED": "서로 독립된 출처가 셋 이상 말함",
        "HIGH": "서로 독립된 출처 둘이 말함",
        "LIKELY": "출처 하나가 말하고 인용이 잘 뒷받침함",
        "UNCERTAIN": "출처 하나가 약하게 말하거나, 규칙이 다른 쪽을 택함",
        "CONTRADICTED": "출처들이 다르게 말하고 어떤 규칙으로도 풀리지 않음",
    },
    points="{tag}: {all}개 중 {count}개 ({meaning}).",
    disputed="(출처가 엇갈림, 아래 참고)",
)


def weight_words(words: Words) -> WeightWords:
    """The words that go with a report's other words."""
    return _KOREAN if words is KOREAN else _ENGLISH

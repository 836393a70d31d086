"""Queries that look for what speaks against a statement, however sure it seems, and for other angles.

Does not know who asks them. There is always one that was not asked before, as long as anything is known.
"""

from collections.abc import Iterator, Sequence

from fathom.planning.repeats import plain
from fathom.state import Claim, Hypothesis, Query
from fathom.text.normal import is_korean
from fathom.text.tokens import STOP_WORDS

_AGAINST = (
    "criticism", "evidence against", "limitations", "disputed", "failure", "contrary findings", "debunked",
    "problems", "counterexample", "does not", "overestimated", "retracted",
)  # fmt: skip
_AGAINST_KOREAN = ("비판", "반박", "한계", "논란", "실패", "반대 근거", "문제점", "반례", "과장", "철회")
_ANGLES = (
    "history", "cost", "risks", "examples", "statistics", "regulation", "alternatives", "research", "review",
    "case study", "forecast", "comparison", "standards", "environment", "economics", "experience", "safety",
    "method", "origin", "impact",
)  # fmt: skip
_ANGLES_KOREAN = (
    "역사", "비용", "위험", "사례", "통계", "규제", "대안", "연구", "전망", "비교", "환경", "경제",
    "안전", "영향",
)  # fmt: skip
_MOST_WORDS = 9


def against(
    hypotheses: Sequence[Hypothesis], claims: Sequence[Claim], asked: Sequence[Query], most: int
) -> list[str]:
    """Queries for counter-evidence to the leading hypothesis, or to the strongest claim if there is none."""
    strongest = sorted(claims, key=lambda c: (-c.relevance * c.verdict.score, c.id))
    statements = [*(h.statement for h in hypotheses), *(c.statement for c in strongest)]
    return _new(_with_endings(statements, _AGAINST, _AGAINST_KOREAN), asked, most)


def other_ways(question: str, claims: Sequence[Claim], asked: Sequence[Query], most: int) -> list[str]:
    """Queries that turn the question, or what is known of it, another way."""
    strongest = sorted(claims, key=lambda c: (-c.relevance, c.id))
    return _new(
        _with_endings([question, *(c.statement for c in strongest)], _ANGLES, _ANGLES_KOREAN), asked, most
    )


def _with_endings(statements: Sequence[str], english: Sequence[str], korean: Sequence[str]) -> Iterator[str]:
    for statement in dict.fromkeys(statements):
        core = _core(statement)
        for ending in korean if is_korean(statement) else english:
            if core:
                yield f"{core} {ending}"


def _new(offered: Iterator[str], asked: Sequence[Query], most: int) -> list[str]:
    known = {plain(query.text) for query in asked}
    found: list[str] = []
    for text in offered:
        if len(found) == most:
            break
        if plain(text) not in known:
            found.append(text)
    return found


def _core(statement: str) -> str:
    """The statement's telling words, in their order."""
    words = [w.strip(".,;:!?()[]“”\"'") for w in statement.split()]
    telling = [w for w in words if w and w.casefold() not in STOP_WORDS]
    return " ".join(telling[:_MOST_WORDS])

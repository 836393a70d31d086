"""A judge by script: criteria, scores and preferences that a test can add up by hand; all else is researched.

It scores a report by a word that the test puts into it: `scores` has the words, with their scores.
"""

import re
from collections.abc import Callable, Mapping

from standins.model import ModelRequest
from standins.replies import Reply
from standins.working_model import fenced, researcher

CRITERIA = [
    {"dimension": "comprehensiveness", "text": "It covers the causes.", "weight": 0.6},
    {"dimension": "comprehensiveness", "text": "It covers the limits.", "weight": 0.4},
    {"dimension": "insight", "text": "It concludes.", "weight": 1.0},
    {"dimension": "instruction_following", "text": "It answers.", "weight": 1.0},
    {"dimension": "readability", "text": "It is clear.", "weight": 1.0},
]
WEIGHTS = {"comprehensiveness": 0.4, "insight": 0.3, "instruction_following": 0.2, "readability": 0.1}


def judging(scores: Mapping[str, list[float]], usual: list[float]) -> Callable[[ModelRequest], Reply]:
    """A model that judges by these scores, one for each of the five criteria."""

    def scored(text: str) -> list[float]:
        return next((known for word, known in scores.items() if word in text), usual)

    def answer(request: ModelRequest) -> Reply:
        name, text = request.schema_name, request.user_text
        first, second = fenced("first", text), fenced("second", text)
        if name == "CriteriaAnswer":
            return Reply.give({**WEIGHTS, "criteria": CRITERIA})
        if name == "ScoreAnswer":
            pairs = enumerate(zip(scored(first), scored(second), strict=True), 1)
            rows = [{"criterion": n, "reason": "so", "first": a, "second": b} for n, (a, b) in pairs]
            return Reply.give({"scores": rows})
        if name == "CompareAnswer":
            better = "first" if sum(scored(first)) > sum(scored(second)) else "second"
            return Reply.give({"reason": "so", "better": better})
        if name == "AuditAnswer":
            items = re.findall(r"Item (\d+) \(source [\d, ]+\)\nStatement: (.*)", text)
            rows = [{"item": int(n), "reason": "", **_verdict(words, text)} for n, words in items]
            return Reply.give({"verdicts": rows})
        return researcher(request)

    return answer


def _verdict(words: str, text: str) -> dict[str, object]:
    """Supported if the statement stands in a source word for word."""
    sources = re.sub(r"Item \d+ \(source [\d, ]+\)\nStatement: .*", "", text)
    is_there = words.rstrip(".") in " ".join(sources.split())
    return {"verdict": "supported", "quote": words} if is_there else {"verdict": "absent", "quote": ""}

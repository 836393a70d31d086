"""Where several branches start: the question or its parts, and angles on the whole of it.

Does not know branches, minds or engines. The same question always gives the same starts.
"""

from dataclasses import dataclass

from fathom.llm.questions import parts_of
from fathom.planning.repeats import plain
from fathom.text.normal import is_korean, one_line
from fathom.text.ranking import terms

AS_ASKED = "as asked"
_PART = "a part of the question"
# What somebody with another interest would look for, in English and Korean; counter-evidence comes first.
_ANGLES = {
    "counter-evidence": ("limits, problems, criticism", "한계, 문제, 비판"),
    "research": ("studies, evidence, measurements", "연구, 근거, 측정 결과"),
    "the latest": ("latest results, recent changes", "최신 결과, 최근 변화"),
    "practice": ("examples, use in practice", "사례, 실제 적용"),
    "background": ("history, origin, causes", "역사, 유래, 원인"),
    "figures": ("figures, costs, statistics", "수치, 비용, 통계"),
    "alternatives": ("alternatives, comparison", "대안, 비교"),
}


@dataclass(frozen=True)
class Seed:
    """What a branch asks first, and why."""

    text: str
    angle: str


def seeds(question: str, most: int) -> list[Seed]:
    """At most so many different starts: the question or its parts, then angles; never none."""
    whole = one_line(question)
    parts = parts_of(whole)
    offered = [Seed(part, _PART) for part in parts] if len(parts) > 1 else [Seed(whole, AS_ASKED)]
    topic = topic_of(whole)
    place = 1 if is_korean(whole) else 0
    offered += [Seed(f"{topic}: {words[place]}", angle) for angle, words in _ANGLES.items()]
    distinct = {plain(seed.text): seed for seed in reversed(offered)}
    return [seed for seed in offered if distinct[plain(seed.text)] is seed][: max(1, most)]


def is_beside(statement: str, question: str) -> bool:
    """Whether a statement has none of the words by which an angle differs from the plain question."""
    _, colon, angle = question.partition(": ")
    return bool(colon) and not terms(angle) & terms(statement)


def topic_of(question: str) -> str:
    """The telling words of a question, in their order and as they were written."""
    wanted = terms(question)
    kept = [word for word in question.rstrip("?？.! ").split() if terms(word) & wanted]
    words = " ".join(kept).strip(",;:") or question
    return words[:1].upper() + words[1:]

"""Sub-questions that wait for each other (Self-Ask): what can be asked now, and with which answer.

Does not know queries' worth. An answer is a claim of good relevance; its key phrase goes into what waited.
"""

import re
from collections.abc import Mapping, Sequence

from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.planning.key_phrases import key_phrase
from fathom.state import Claim, Query, SubQuestion

_PLACE = re.compile(r"\{\s*(Q\d+)\s*\}", re.IGNORECASE)
_ANY_PLACE = re.compile(r"\{[^{}]*\}")


def sound(questions: Sequence[SubQuestion]) -> list[SubQuestion]:
    """The same questions; a need that is unknown, its own or part of a circle is dropped."""
    known = {q.id for q in questions}
    kept: dict[str, list[str]] = {}
    for question in questions:
        needs: list[str] = []
        for need in dict.fromkeys(question.needs):
            if need in known and need != question.id and not _reaches(need, question.id, kept):
                needs.append(need)
                kept[question.id] = needs
    return [q.model_copy(update={"needs": kept.get(q.id, [])}) for q in questions]


def chain(questions: Sequence[SubQuestion]) -> int:
    """How many answers must follow each other at most; 1 when nothing waits."""
    by_id = {q.id: q for q in questions}

    def length(question: SubQuestion) -> int:
        return 1 + max((length(by_id[need]) for need in question.needs if need in by_id), default=0)

    return max((length(q) for q in sound(questions)), default=1)


def answers(questions: Sequence[SubQuestion], claims: Sequence[Claim]) -> dict[str, str]:
    """The key phrase of the best answer to each sub-question that has one."""
    best: dict[str, Claim] = {}
    for claim in claims:
        is_better = claim.question not in best or claim.relevance > best[claim.question].relevance
        if claim.relevance >= ANSWERED_FROM and is_better:
            best[claim.question] = claim
    asked = {q.id: q for q in sound(questions)}
    found: dict[str, str] = {}

    def answer(question: SubQuestion) -> None:
        """What it needs first: the phrase it was asked with is not its answer."""
        for need in question.needs:
            if need in asked and need not in found:
                answer(asked[need])
        if question.id in best:
            known = " ".join([question.text, *(found.get(need, "") for need in question.needs)])
            found[question.id] = key_phrase(best[question.id].statement, known)

    for question in asked.values():
        answer(question)
    return found


def is_askable(question: SubQuestion, answered: Mapping[str, str]) -> bool:
    """Whether everything it needs is known."""
    return all(need in answered for need in question.needs)


def written(query: Query, needs: Sequence[str], answered: Mapping[str, str]) -> Query | None:
    """The query with the answers it waited for; None while one of them is missing."""
    named = [found.upper() for found in _PLACE.findall(query.text)]
    if any(need not in answered for need in [*needs, *named]):
        return None
    text = _PLACE.sub(lambda found: answered[found.group(1).upper()], query.text)
    said = text.casefold()
    missing = [answered[n] for n in needs if n not in named and answered[n].casefold() not in said]
    return query.model_copy(update={"text": " ".join([*text.split(), *missing])})


def has_place(text: str) -> bool:
    """Whether some place in it is still to be filled."""
    return _ANY_PLACE.search(text) is not None


def without_places(text: str) -> str:
    """The text as it can be searched when no answer is in sight."""
    return " ".join(_ANY_PLACE.sub(" ", text).split())


def _reaches(start: str, goal: str, needs: Mapping[str, Sequence[str]]) -> bool:
    return start == goal or any(_reaches(need, goal, needs) for need in needs.get(start, ()))

"""Sub-questions that depend on each other (Self-Ask): what can be asked now, and with which answers.

An answer is a claim of high relevance; its key phrase is inserted into the waiting query.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from fathom.evidence.scoring import ANSWERED_FROM
from fathom.state import Claim, Query, SubQuestion
from fathom.text.languages import is_korean
from fathom.text.normalization import one_line
from fathom.text.ranking import terms
from fathom.text.tokens import STOP_WORDS

_NAME = re.compile(
    r"[A-Z][\w'’&-]*\s+of\s+[A-Z][\w'’&-]*(?:\s+[A-Z][\w'’&-]*)*"
    r"|[A-Z][\w'’&.-]*(?:\s+(?:(?:de|van|von|la)\s+)?[A-Z][\w'’&.-]*)*"
)

_QUOTED = re.compile(r"[“\"'‘「《]([^”\"'’」》]{2,60})[”\"'’」》]")
_AMOUNT = re.compile(r"\d[\d.,]*(?:\s?%|\s+[a-z]{3,})?|\d[\d.,]*\s?[가-힣]{1,4}")
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d{2}\b")
_ASKS_YEAR = re.compile(r"\bwhen\b|\byear\b|\bdate\b|언제|연도|몇\s*년", re.IGNORECASE)
_ASKS_AMOUNT = re.compile(r"\bhow (?:many|much|long|far|old|big|high|tall)\b|얼마|몇", re.IGNORECASE)

_KOREAN_ENDING = re.compile(
    r"(?<=[가-힣])(?:에서|에게|으로|이라는|라는|이며|이고|이었다|였다|이다|은|는|이|가|을|를|의|에|와|과|로)$"
)

_KOREAN_VERB_ENDING = re.compile(r"(?:다|요|까|며|고|서|한|된|하는|되는|했|하여)$")
_MAX_PHRASE_WORDS = 6


def extract_key_phrase(statement: str, question: str) -> str:
    """Return the part of a statement that answers the question, short enough for a query."""
    text = one_line(statement)
    if wanted := _wanted_number(text, question):
        return wanted
    if is_korean(text):
        return _korean_phrase(text, question) or _remaining_words(text, question)
    said = question.casefold()
    names = [*_QUOTED.findall(text), *map(_without_opening, _NAME.findall(text))]
    return next((name for name in names if _is_new(name, said)), "") or _remaining_words(text, question)


def _wanted_number(text: str, question: str) -> str:
    if _ASKS_YEAR.search(question) and (found := _first_new(_YEAR.findall(text), question)):
        return found
    if _ASKS_AMOUNT.search(question):
        return _first_new((m.strip() for m in _AMOUNT.findall(text)), question)
    return ""


def _first_new(found: Iterable[str], question: str) -> str:
    return next((one for one in found if one not in question), "")


def _without_opening(name: str) -> str:
    """Remove a leading The or It, which is not part of a name."""
    words = name.rstrip(".'’-").split()
    while words and words[0].lower() in STOP_WORDS:
        words = words[1:]
    return " ".join(words)


def _is_new(name: str, said: str) -> bool:
    return len(name) > 1 and name.casefold() not in said and name.lower() not in STOP_WORDS


def _korean_phrase(text: str, question: str) -> str:
    """Return the first run of words that are not in the question and are no verbs."""
    known = terms(question)
    run: list[str] = []
    for word in re.findall(r"[\w·-]+", text):
        bare = _KOREAN_ENDING.sub("", word) or word
        is_verb = bare == word and _KOREAN_VERB_ENDING.search(word)
        if is_verb or terms(bare) & known or word in STOP_WORDS:
            if run:
                break
            continue
        run.append(bare)
        if bare != word or len(run) == _MAX_PHRASE_WORDS:  # a particle ends the phrase
            break
    return " ".join(run)


def _remaining_words(text: str, question: str) -> str:
    known = terms(question)
    words = [w for w in re.findall(r"[\w'’-]+", text) if w.lower() not in STOP_WORDS and not terms(w) & known]
    return " ".join(words[:_MAX_PHRASE_WORDS]) or text[:80]


_PLACEHOLDER = re.compile(r"\{\s*(Q\d+)\s*\}", re.IGNORECASE)
_ANY_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def drop_unsound_needs(questions: Sequence[SubQuestion]) -> list[SubQuestion]:
    """Drop dependencies that are unknown, on itself, or circular."""
    known = {q.id for q in questions}
    kept: dict[str, list[str]] = {}
    for question in questions:
        needs: list[str] = []
        for need in dict.fromkeys(question.needs):
            if need in known and need != question.id and not _reaches(need, question.id, kept):
                needs.append(need)
                kept[question.id] = needs
    return [q.model_copy(update={"needs": kept.get(q.id, [])}) for q in questions]


def longest_chain(questions: Sequence[SubQuestion]) -> int:
    """Return the length of the longest chain of dependent answers; 1 if nothing waits."""
    by_id = {q.id: q for q in questions}

    def length(question: SubQuestion) -> int:
        return 1 + max((length(by_id[need]) for need in question.needs if need in by_id), default=0)

    return max((length(q) for q in drop_unsound_needs(questions)), default=1)


def find_answers(questions: Sequence[SubQuestion], claims: Sequence[Claim]) -> dict[str, str]:
    """Return the key phrase of the best answer to each answered sub-question."""
    best: dict[str, Claim] = {}
    for claim in claims:
        is_better = claim.question not in best or claim.relevance > best[claim.question].relevance
        if claim.relevance >= ANSWERED_FROM and is_better:
            best[claim.question] = claim
    asked = {q.id: q for q in drop_unsound_needs(questions)}
    found: dict[str, str] = {}

    def answer(question: SubQuestion) -> None:
        """Answer its dependencies first: the phrase it was asked with is not its answer."""
        for need in question.needs:
            if need in asked and need not in found:
                answer(asked[need])
        if question.id in best:
            known = " ".join([question.text, *(found.get(need, "") for need in question.needs)])
            found[question.id] = extract_key_phrase(best[question.id].statement, known)

    for question in asked.values():
        answer(question)
    return found


def is_askable(question: SubQuestion, answered: Mapping[str, str]) -> bool:
    """Tell whether all its dependencies are answered."""
    return all(need in answered for need in question.needs)


def fill_answers(query: Query, needs: Sequence[str], answered: Mapping[str, str]) -> Query | None:
    """Fill the answers into the query; None while one of them is missing."""
    named = [found.upper() for found in _PLACEHOLDER.findall(query.text)]
    if any(need not in answered for need in [*needs, *named]):
        return None
    text = _PLACEHOLDER.sub(lambda found: answered[found.group(1).upper()], query.text)
    said = text.casefold()
    missing = [answered[n] for n in needs if n not in named and answered[n].casefold() not in said]
    return query.model_copy(update={"text": " ".join([*text.split(), *missing])})


def has_placeholder(text: str) -> bool:
    """Tell whether the text has an unfilled placeholder."""
    return _ANY_PLACEHOLDER.search(text) is not None


def drop_placeholders(text: str) -> str:
    """Return the text without placeholders, to search without their answers."""
    return " ".join(_ANY_PLACEHOLDER.sub(" ", text).split())


def _reaches(start: str, goal: str, needs: Mapping[str, Sequence[str]]) -> bool:
    return start == goal or any(_reaches(need, goal, needs) for need in needs.get(start, ()))

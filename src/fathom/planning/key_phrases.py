"""The words of an answer that the next query needs: a name, a number, or what the question did not say.

Does not know who asks. Works on the surface: capitals and endings, no grammar.
"""

import re
from collections.abc import Iterable

from fathom.text.normal import is_korean, one_line
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
_ENDING = re.compile(
    r"(?<=[가-힣])(?:에서|에게|으로|이라는|라는|이며|이고|이었다|였다|이다|은|는|이|가|을|를|의|에|와|과|로)$"
)
_VERB = re.compile(r"(?:다|요|까|며|고|서|한|된|하는|되는|했|하여)$")
_MOST_WORDS = 6


def key_phrase(statement: str, question: str) -> str:
    """The part of a statement that answers the question, short enough to be searched with."""
    text = one_line(statement)
    if wanted := _number(text, question):
        return wanted
    if is_korean(text):
        return _korean(text, question) or _rest(text, question)
    said = question.casefold()
    names = [*_QUOTED.findall(text), *map(_without_opening, _NAME.findall(text))]
    return next((name for name in names if _is_new(name, said)), "") or _rest(text, question)


def _number(text: str, question: str) -> str:
    if _ASKS_YEAR.search(question) and (found := _first_new(_YEAR.findall(text), question)):
        return found
    if _ASKS_AMOUNT.search(question):
        return _first_new((m.strip() for m in _AMOUNT.findall(text)), question)
    return ""


def _first_new(found: Iterable[str], question: str) -> str:
    return next((one for one in found if one not in question), "")


def _without_opening(name: str) -> str:
    """A sentence may begin with The or It, which is no part of a name."""
    words = name.rstrip(".'’-").split()
    while words and words[0].lower() in STOP_WORDS:
        words = words[1:]
    return " ".join(words)


def _is_new(name: str, said: str) -> bool:
    return len(name) > 1 and name.casefold() not in said and name.lower() not in STOP_WORDS


def _korean(text: str, question: str) -> str:
    """The first words in a row that the question does not have and that are no verbs."""
    known = terms(question)
    run: list[str] = []
    for word in re.findall(r"[\w·-]+", text):
        bare = _ENDING.sub("", word) or word
        is_verb = bare == word and _VERB.search(word)
        if is_verb or terms(bare) & known or word in STOP_WORDS:
            if run:
                break
            continue
        run.append(bare)
        if bare != word or len(run) == _MOST_WORDS:  # an ending closes the phrase
            break
    return " ".join(run)


def _rest(text: str, question: str) -> str:
    known = terms(question)
    words = [w for w in re.findall(r"[\w'’-]+", text) if w.lower() not in STOP_WORDS and not terms(w) & known]
    return " ".join(words[:_MOST_WORDS]) or text[:80]

"""Word a follow-up so that it can be understood without the question before it: "And the cost?", "Why?".

What says "it" is resolved as the parts of one question are; a fragment gets its subject from the question
before. A question that names something of its own stays as it was asked. Does not know what was found.
"""

import re

from fathom.evidence.answer_kinds import find_compared_things
from fathom.planning.questions import (
    find_compared_sides,
    find_subject,
    is_plural,
    korean_name,
    resolve_reference,
)
from fathom.text.languages import is_korean
from fathom.text.mentions import find_name_words
from fathom.text.normalization import one_line
from fathom.text.sentences import is_verb

_HELPER = re.compile(
    r"\b(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should|may|might|must)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"^(?:and|or|but)\s+", re.IGNORECASE)
_ARTICLES = frozenset(("the", "a", "an"))
_PLACE_OR_TIME = re.compile(r"(in|at|on|during|under|without|before|after|since|near|by|for)\s+\S", re.I)
_WHAT_ABOUT = re.compile(r"(?:what|how) about\s+(?P<rest>.+)", re.IGNORECASE)
_OF_THE_SUBJECT = re.compile(
    r"(?:what|which) (?:is|are|was|were) (?:the|some) [a-z]+(?: [a-z]+)?"
    r"|how (?:\w+ )?(?:is|are|was|were) the [a-z]+",
    re.IGNORECASE,
)
_WHICH_OF_TWO = re.compile(
    r"which(?: one)?(?: of (?:them|the two))? (?:is|are|was|were|has|have|costs?|lasts?)\b", re.I
)
_KOREAN_FRAGMENT = re.compile(
    r"(?:그럼 |그리고 |그러면 )?(?P<thing>[가-힣A-Za-z]+(?: [가-힣A-Za-z]+)?(?:은|는)(?:요)?)[?？]?"
)
_LONGEST_FRAGMENT, _SHORT_FRAGMENT = 5, 2  # words


def complete_question(question: str, before: str) -> str:
    """Return the follow-up with what it leaves out, taken from the question before."""
    asked = resolve_reference(question, before)
    if is_korean(asked):
        return _complete_korean(asked, before)
    bare, said = asked.rstrip("?"), _OPENING.sub("", one_line(question)).rstrip("?")
    sides = find_compared_things(before) or find_compared_sides(before)
    subject = " and ".join(sides) or find_subject(before)
    is_resolved = bare.lower() != said.lower()
    if is_resolved or not subject or subject.lower() in bare.lower():
        return asked
    is_fragment = not _HELPER.search(bare) and not _has_verb(bare)
    whole = _complete_sentence(bare, subject, sides)
    if is_fragment:
        # "And Sihwa?" has a name; of "Sihwa?" alone nobody knows.
        is_name = said[:1].isupper() and said != one_line(question).rstrip("?")
        whole = _complete_fragment(said if is_name else bare, subject, before, is_name=is_name)
    return f"{whole or bare}{'?' if whole or asked.endswith('?') else ''}"


def _has_verb(bare: str) -> bool:
    words = bare.lower().split()
    return words[0] not in _ARTICLES and not _WHAT_ABOUT.fullmatch(bare) and any(map(is_verb, words[1:]))


def _complete_fragment(bare: str, subject: str, before: str, *, is_name: bool) -> str:
    """Complete what is no sentence; "" if it says enough."""
    about = _WHAT_ABOUT.fullmatch(bare)
    if about or is_name:
        return _ask_the_same(bare, about["rest"] if about else bare, subject, before)
    if len(words := bare.split()) > _LONGEST_FRAGMENT:
        return ""
    if (where := _PLACE_OR_TIME.match(bare)) and not is_korean(before):
        same = re.compile(rf"\s{where[1]}\s[^?]*$", re.IGNORECASE)
        return f"{same.sub('', before.rstrip('?？ '))} {_uncapitalized(bare)}"
    if words[0].lower() in _ARTICLES and not _names_in(bare):
        return f"What {'are' if is_plural(bare) else 'is'} {_uncapitalized(bare)} of {subject}"
    is_short = len(words) <= _SHORT_FRAGMENT or words[0].lower() in {
        "why",
        "when",
        "where",
        "how",
        "who",
        "since",
    }
    return f"{bare}, as to {subject}" if is_short else ""  # more words are a search of their own


def _ask_the_same(bare: str, thing: str, subject: str, before: str) -> str:
    """Ask the same of another name, or of the same subject about something of it."""
    if not find_name_words(f"on {thing}"):
        return f"{bare}, as to {subject}"
    is_replaced = subject in before and not is_korean(before)
    return before.replace(subject, thing, 1).rstrip("?？ ") if is_replaced else ""


def _complete_sentence(bare: str, subject: str, sides: list[str]) -> str:
    """Complete a whole question that is about something of the subject's without naming it."""
    if _names_in(bare):
        return ""
    if len(sides) > 1 and _WHICH_OF_TWO.match(bare):
        return f"{bare}, {' or '.join(sides)}"
    return f"{bare}, as to {subject}" if _OF_THE_SUBJECT.fullmatch(bare) else ""


def _names_in(bare: str) -> list[str]:
    return find_name_words(f"on {_uncapitalized(bare)}")


def _uncapitalized(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def _complete_korean(asked: str, before: str) -> str:
    """Give "비용은?" the name that the question before is about."""
    name, fragment = korean_name(before), _KOREAN_FRAGMENT.fullmatch(asked)
    if not name or not fragment or fragment["thing"].startswith(name):
        return asked
    return f"{name}의 {fragment['thing']}?"

"""Which claims speak for a statement and which against it, by rules: words, numbers, "not", and direction.

Does not know meaning. It is silent where the rules are not sure.
"""

import re
from collections.abc import Sequence

from fathom.evidence.facts import is_negated, numbers
from fathom.llm.port import Bearing
from fathom.state import Claim, Hypothesis
from fathom.text.ranking import terms

_SHARED = 0.6  # of the statement's words
_UP = re.compile(
    r"\b(?:increas\w*|ris(?:e|es|ing)|rose|grow\w*|grew|higher|more|gain\w*|improv\w*|cheaper|faster)\b"
    r"|증가|상승|늘어|늘었|높아|향상",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:decreas\w*|fall(?:s|ing)?|fell|declin\w*|drop\w*|lower|less|los(?:s|es|t)|worsen\w*|slower|dearer)\b"
    r"|감소|하락|줄어|줄었|낮아|악화",
    re.IGNORECASE,
)


def bearings(hypotheses: Sequence[Hypothesis], claims: Sequence[Claim]) -> list[Bearing]:
    """For each hypothesis the claims about the same thing, on the side they speak for."""
    bags = [(claim, terms(claim.statement)) for claim in claims]
    found = []
    for hypothesis in hypotheses:
        sides: dict[bool, list[str]] = {True: [], False: []}
        wanted = _bare(hypothesis.statement)
        for claim, words in bags:
            if wanted and len(wanted & words) / len(wanted) >= _SHARED:
                sides[agrees(hypothesis.statement, claim.statement)].append(claim.id)
        found.append(Bearing(hypothesis.id, sides[True], sides[False]))
    return found


def agrees(statement: str, said: str) -> bool:
    """Whether two statements about one thing say the same of it."""
    if is_negated(statement) != is_negated(said):
        return False
    ours, theirs = set(numbers(statement)), set(numbers(said))
    if ours and theirs and not ours & theirs:
        return False
    return _way(statement) * _way(said) != -1


def _bare(statement: str) -> set[str]:
    """The statement's words without those that only tell a direction."""
    return terms(_DOWN.sub(" ", _UP.sub(" ", statement)))


def _way(text: str) -> int:
    return int(_UP.search(text) is not None) - int(_DOWN.search(text) is not None)

"""What a page says about the follow-up that found it: a name, and what was open about it.

Does not know who asked, nor how the name came up.
"""

from collections.abc import Sequence

from fathom.llm.port import Draft
from fathom.llm.quoting import quotable
from fathom.state import SubQuestion
from fathom.text.ranking import stem, terms
from fathom.text.tokens import tokens

_MOST = 2


def sought_in(question: str, sought: SubQuestion, title: str, text: str) -> list[Draft]:
    """The few passages that say of a name new to the question what the question wants to know."""
    wanted = terms(sought.text)
    left = wanted & terms(question)
    name = wanted - left
    if not left or not name:
        return []
    found = []
    for draft in quotable([sought], title, text):
        words = {stem(word) for word in tokens(draft.statement)}
        if words & left and name & (words | {stem(word) for word in tokens(title)}):
            found.append(draft)
    return found[:_MOST]


def together(first: Sequence[Draft], then: Sequence[Draft]) -> list[Draft]:
    """Both, without a sentence that the first have already."""
    taken = {draft.quote for draft in first}
    return [*first, *(draft for draft in then if draft.quote not in taken)]

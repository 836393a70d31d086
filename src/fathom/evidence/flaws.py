"""Why quotes do not carry a statement, as far as code can tell; no model is asked.

Does not know meaning: a statement without flaws may still be wrong, one with a flaw is not carried.
"""

from collections.abc import Sequence
from functools import lru_cache

from fathom.evidence.amounts import wrong_amounts
from fathom.evidence.changed import changed_words, unrelated, wrong_names
from fathom.evidence.conclusions import additions, conclusions, other_superlatives
from fathom.evidence.dates import wrong_dates
from fathom.evidence.hedges import dropped_hedges
from fathom.evidence.negation import disagreement, opposed
from fathom.evidence.opposites import turned
from fathom.evidence.roles import swapped_figures, swapped_roles
from fathom.evidence.scope import widened
from fathom.evidence.words import Text, bearing, parsed, split


def flaws(statement: str, quotes: Sequence[str]) -> list[str]:
    """Short reasons why the quotes do not carry the statement; none when code finds nothing wrong.

    Without any quote it is only asked whether there are numbers, dates or names that would need one.
    """
    return list(dict.fromkeys(why for found in flaws_by_kind(statement, quotes).values() for why in found))


def flaws_by_kind(statement: str, quotes: Sequence[str]) -> dict[str, list[str]]:
    """The same under what they are about, for those who count; only kinds of which there are any."""
    return {kind: list(reasons) for kind, reasons in _found(statement, tuple(quotes)).items()}


@lru_cache(maxsize=4096)  # a claim is compared with its quote when it is drawn, weighed, written and checked
def _found(statement: str, quotes: tuple[str, ...]) -> dict[str, list[str]]:
    said = parsed(statement)
    whole = [text for quote in quotes for text in split(quote)]
    if said.low.strip(" .") in {text.low.strip(" .") for text in [*whole, *map(parsed, quotes)]}:
        return {}
    # A question says nothing; but it may be all there is, as in a heading above an answer.
    whole = [text for text in whole if not text.text.endswith("?")] or whole
    texts = [parsed(quote).text for quote in quotes]
    near = bearing(said, whole)
    found = {
        "a number": [f"{fact} is not in its quotes" for fact in wrong_amounts(said.text, texts)],
        "a date": [f"{fact} is not in its quotes" for fact in wrong_dates(said.text, texts)],
        "a name": wrong_names(said, texts),
        **_compared(said, whole, near),
    }
    return {kind: reasons for kind, reasons in found.items() if reasons}


def _compared(said: Text, whole: Sequence[Text], near: Sequence[Text]) -> dict[str, list[str]]:
    if not near:
        return {}
    if any(text.is_korean != said.is_korean for text in near):
        return _across(said, whole if len(whole) <= 2 else near)
    return _within(said, whole, near)


def _within(said: Text, whole: Sequence[Text], near: Sequence[Text]) -> dict[str, list[str]]:
    """What is compared within one language; `near` are the sentences that bear the statement."""
    return {
        "who and what": [*swapped_figures(said, near), *swapped_roles(said, near)],
        "a negation": disagreement(said, near),
        "a direction": turned(said, near),
        "a hedge": dropped_hedges(said, near),
        "its scope": widened(said, near),
        "a conclusion": [*conclusions(said, whole), *other_superlatives(said, near)],
        "other words": [*additions(said, whole), *changed_words(said, near), *unrelated(said, whole)],
    }


def _across(said: Text, texts: Sequence[Text]) -> dict[str, list[str]]:
    """What can be compared across languages."""
    is_single = len(texts) == 1
    return {
        "a negation": opposed(said, texts),
        "a hedge": dropped_hedges(said, texts, is_foreign=True) if is_single else [],
    }

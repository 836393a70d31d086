"""Whether quotes carry a sentence of the report, as far as code can tell.

Its flaws speak, also those behind a lead-in, and how far its words are from those of the quotes.

Does not know meaning. Between two languages words cannot be compared; there only the flaws speak.
"""

import re
from collections.abc import Sequence

from fathom.evidence.amounts import amounts
from fathom.evidence.dates import dates
from fathom.evidence.flaws import flaws, flaws_by_kind
from fathom.evidence.pairs import denial
from fathom.evidence.words import covered, parsed, split
from fathom.text.tokens import STOP_WORDS, has_paired_script

_FAR = 0.5  # of its telling words: "The mayor was arrested" has half of them from "The mayor opened a park"
_FAR_WITH_FIGURES = 0.33  # a figure that agrees, and that others compare, ties it to its quotes
_LEAD_IN = re.compile(r"^(?P<words>[^,:;.!?]{1,70}?)(?:[,:;]\s+|\s+that\s+|:\s*)")
_ADVERB = re.compile(
    r"^(?:indeed|in fact|actually|also|moreover|furthermore|notably|overall|clearly|certainly|however|thus|"
    r"therefore|likewise|similarly|실제로|사실|또한|한편|그러나|하지만|참고로|특히|즉)[,:]?\s+"
    r"|^(?:(?:한|여러|두|이|그|다른)\s+)?(?:출처|자료|보고서?|연구|근거)들?에\s*(?:따르면|의하면),?\s+",
    re.IGNORECASE,
)
_SAYING = frozenset(
    """according account accounts author authors claim claimed claims evidence fact found known note noted
    notes page pages paper papers read reads report reported reportedly reports said say says show shown shows
    source sources stated states studies study text texts told well indeed one""".split()  # noqa: SIM905
)


def uncarried(statement: str, quotes: Sequence[str]) -> list[str]:
    """Short reasons why the quotes do not carry the statement; none when code finds nothing wrong."""
    found = uncarried_by_kind(statement, quotes)
    return list(dict.fromkeys(reason for reasons in found.values() for reason in reasons))


def uncarried_by_kind(statement: str, quotes: Sequence[str]) -> dict[str, list[str]]:
    """The same under what they are about, for those who count."""
    found = flaws_by_kind(statement, quotes)
    bare = without_lead_in(statement)
    if bare != statement:
        found |= {kind: [*found.get(kind, []), *more] for kind, more in flaws_by_kind(bare, quotes).items()}
    if not found and _is_far(bare, quotes):
        found["most of its words"] = ["most of its words are not in its quotes"]
    return found


def contradicted(statement: str, quotes: Sequence[str]) -> str:
    """Why the quotes of one claim speak against the statement, which may not cite them then; or nothing.

    That they leave something out is no contradiction: another claim may carry it.
    """
    if not flaws(statement, quotes):
        return ""
    bare = without_lead_in(statement)
    parts = [part.text for quote in quotes for part in split(quote)]
    return next((why for part in parts if (why := denial(bare, part))), "")


def without_lead_in(sentence: str) -> str:
    """The sentence without a lead-in that says nothing of its own, as "According to one source," does."""
    bare = sentence
    while True:
        cut = _ADVERB.sub("", bare, count=1)
        if (lead := _LEAD_IN.match(cut)) and _says_nothing(lead):
            cut = cut[lead.end() :]
        if cut == bare or not cut:
            return bare
        bare = cut


def _says_nothing(lead: re.Match[str]) -> bool:
    """Whether only the saying is said; what stands before a colon is never part of the statement."""
    words = re.findall(r"\w+", lead["words"].lower())
    return ":" in lead.group() or all(word in STOP_WORDS or word in _SAYING for word in words)


def _is_far(sentence: str, quotes: Sequence[str]) -> bool:
    told = " ".join(quotes)
    is_one_language = has_paired_script(sentence) == has_paired_script(told)
    limit = _FAR_WITH_FIGURES if amounts(sentence) or dates(sentence) else _FAR
    return is_one_language and covered(parsed(sentence), [parsed(quote) for quote in quotes]) <= limit

"""Find comparisons, shares and rates whose parts are other ones than in the quote.

"A earns more than B" for "B earns more than A", "half of the A farms" for "half of the B farms", "a month"
for "a year". Results are pairs of kind and note for the verifier.
"""

import re
from collections.abc import Iterator

from fathom.evidence.checks.derivation import Passage
from fathom.evidence.checks.words import parse_text
from fathom.text.tokens import has_cjk

_THAN = re.compile(r"(?<!\S)((?:\S+ )?\S+?)보다(?=\s)|\bthan (?:the |its |their )?((?:[\w-]+ ){0,1}[\w-]+)")
_SHARE = re.compile(
    r"(?<!\S)((?:\S+ )?\S+?)(?:들)?(?:의| 가운데| 중)\s(?:약 )?(?:절반|대부분|과반|상당수|일부|[\d.]+%)"
    r"|\b(?:percent|%|half|most|third|quarter|majority) of (?:the |its |all )?((?:[\w-]+ ){0,1}[\w-]+)"
)
_TIME = re.compile(
    r"(?:전년|작년|지난해|올해|기간|\d[년월일]|전)$|\b(?:years?|months?|weeks?|days?|before|ago|\d{4})\b"
)
_RATES = {
    "day": r"\b(?:a|per|every) day\b|\bdaily\b|하루에?|매일|일평균|일당",
    "week": r"\b(?:a|per|every) week\b|\bweekly\b|한 주에|일주일에|매주|주당|주간 ",
    "month": r"\b(?:a|per|every) month\b|\bmonthly\b|한 달에|매달|매월|월간|월평균",
    "year": r"\b(?:a|per|every|each) year\b|\b(?:annual(?:ly)?|yearly)\b"
    r"|연간|한 해에?|매년|해마다|연평균|1년에|연 \d",
}


def find_other_parts(statement: str, passage: Passage) -> Iterator[tuple[str, str]]:
    """Yield comparisons, shares and rates with other parts than in the quote, as (kind, note)."""
    yield from _other_rate(statement.lower(), passage.quoted.lower())
    if has_cjk(statement) != has_cjk(passage.quoted):
        return
    for kind, pattern in (("who and what", _THAN), ("scope", _SHARE)):
        yield from _other_phrases(kind, pattern, statement, passage.quoted)


def _other_phrases(
    kind: str, pattern: re.Pattern[str], statement: str, quoted: str
) -> Iterator[tuple[str, str]]:
    """Find a phrase with a word that the quote has elsewhere, in place of one that the quote has there."""
    theirs = [match[1] or match[2] for match in pattern.finditer(quoted)]
    known = {key for phrase in theirs for key in parse_text(phrase).keys}
    everything = parse_text(quoted).keys
    for match in pattern.finditer(statement) if theirs else ():
        phrase = match[1] or match[2]
        new = (parse_text(phrase).keys & everything) - known
        if (
            new
            and not _TIME.search(phrase)
            and not any(parse_text(phrase).keys >= parse_text(other).keys for other in theirs)
        ):
            yield kind, f"it says '{phrase}' where the quote says '{theirs[0]}'"


def _other_rate(statement: str, quoted: str) -> Iterator[tuple[str, str]]:
    mine, theirs = (
        {name for name, words in _RATES.items() if re.search(words, text)} for text in (statement, quoted)
    )
    if mine and theirs and not mine & theirs:
        yield "unit", f"it says a rate by the {min(mine)}, the quote by the {min(theirs)}"

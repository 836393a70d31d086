"""What kind of answer a question asks for, from its own words, in English and in Korean.

Does not know evidence. A question may ask for several things, or for nothing in particular.
"""

import re
from functools import lru_cache

from fathom.state import CheckName
from fathom.text.normal import one_line

_NEXT = re.compile(r"[?？;] ?|,? (?:and|but) (?=(?:how|what|why|when|which|who|where)\b)| 그리고 ")
_WORDS: dict[CheckName, str] = {
    "freshness": (
        r"\b(?:latest|newest|most recent|recently|as of|up[- ]to[- ]date|nowadays|currently)\b"
        r"|\b(?:this year|today)\b"
        r"|\b(?:is|are|the) current (?!flow|through|in\b|of\b|and\b)\w"
        r"|최신|최근|현재|지금|올해|요즘"
    ),
    "counting": (r"\bhow many\b|\bthe number of\b|^number of\b|몇\s*(?!년|월|일|시)\S|얼마나 많은|개수|몇$"),
    "amount": (
        r"\bhow (?:much|far|long|tall|high|big|old|fast|heavy|large|deep)\b"
        r"|얼마(?!나 많)|비용은|가격은"
    ),
    "completeness": (
        r"^(?:list|name|enumerate)\b|\b(?:list of|all of the|all the|every)\b|^what are (?:the )?\w+s\b"
        r"|^which \w+s (?:are|were|have|can)\b|모두|모든|목록|나열|종류|전부|어떤 것들"
    ),
    "comparison": (
        r"\b(?:versus|vs\.?|compare[ds]?|comparison|differences? between|differs? from|better than)\b"
        r"|차이|비교|장단점"
    ),
    "definition": (
        r"^(?:define\b|what (?:is|are) (?:an? )?(?!the\b|it\b|this\b|that\b|they\b)[\w-]+(?: [\w-]+)?$)"
        r"|\b(?:definition|meaning) of\b|(?:이란|란)\s*(?:무엇|뭐)|정의|뜻은"
    ),
    "cause": (r"^why\b|\bwhat (?:caused|causes)\b|\b(?:reasons?|causes?) (?:for|of|why|that)\b|왜|이유|원인"),
    "date": (
        r"^when (?:did|was|were|will|has|have)\b"
        r"|\b(?:what|which) (?:year|date|day|month|century)\b"
        r"|언제|몇\s*년|몇\s*월|며칠|연도"
    ),
}
_SIGNS = {name: re.compile(words, re.IGNORECASE) for name, words in _WORDS.items()}
_SIDES = re.compile(
    r"(?:compare[ds]?|(?:differences?|comparison) between) (?>(?P<a>[^,?]{1,100}?) (?:and|with|to) )"
    r"(?P<b>[^,?]{1,100}?)(?= (?:for|in|as|when|on|with)\b|[,?.]|$)"
    r"|(?<![\w.+#-])(?:(?P<c>[\w.+#-]+(?: [\w.+#-]+)?) (?:vs\.?|versus) (?P<d>[\w.+#-]+(?: [\w.+#-]+)?)"
    r"|(?P<e>[\w.+#-]+) differs? from (?P<f>[\w.+#-]+)"
    r"|(?P<g>[\w.+#-]+?)(?:와|과|이랑|랑|하고) (?P<h>[\w.+#-]+?)(?:의|을|를)? ?(?:차이|비교|장단점))",
    re.IGNORECASE,
)
_THING = re.compile(
    r"^(?:define|what (?:is|are)|.*\b(?:definition|meaning) of)\s+(?:an? |the )?(?P<en>.+)$"
    r"|^(?P<ko>.+?)(?:이란|란|의 정의|의 뜻|은|는)",
    re.IGNORECASE,
)


@lru_cache(maxsize=256)
def _asked(question: str) -> tuple[tuple[CheckName, tuple[str, ...]], ...]:
    parts = [part.strip().rstrip(".") for part in _NEXT.split(one_line(question)) if part.strip()]
    found = ((name, tuple(p for p in parts if sign.search(p))) for name, sign in _SIGNS.items())
    return tuple((name, own) for name, own in found if own)


def needs(question: str) -> dict[CheckName, list[str]]:
    """What the question asks for, in a fixed order, and the parts of it that ask for that."""
    return {name: list(own) for name, own in _asked(question)}


def sides_of(question: str) -> list[str]:
    """The things a comparison names; none when they cannot be told."""
    found = _SIDES.search(one_line(question))
    return [side.strip() for side in found.groups() if side] if found else []


def thing_of(question: str) -> str:
    """What a definition is asked of."""
    found = _THING.match(one_line(question).rstrip("?？."))
    return (found["en"] or found["ko"] or "").strip() if found else ""

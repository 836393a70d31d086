"""What a statement concludes from its quotes: causes, proofs, superlatives, duties, and clauses of its own.

Does not know whether the conclusion is right; only that the quotes do not draw it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from fathom.evidence.words import Text, Word

_DRAWN = {
    "cause": re.compile(
        r"\b(?:caus(?:es?|ed|ing)|because|due to|owing to|thanks to|leads? to|led to|leading to"
        r"|results? in|resulted in|results? from"
        r"|triggers?|triggered|therefore|thus|hence|consequently|as a result|so that|drives?|drove"
        r"|brings? about|responsible for|blamed?)\b"
        r"|(?<=, )so\b|때문|원인|초래|유발|따라서|그래서|덕분|탓|그러므로|일으[키킨켰]|야기|결과로"
    ),
    "proof": re.compile(
        r"\b(?:prov(?:es?|ed|en|ing)|confirm(?:s|ed)?|guarantee[sd]?|ensures?|ensured|establish(?:es"
        r"|ed) that|conclusive(?:ly)?"
        r"|certain(?:ly)?|undoubtedly|definitely|clearly|obviously|demonstrat(?:es?|ed))\b|증명|입증|확실|(?<!불)분명|틀림없"
    ),
    "superlative": re.compile(
        r"\b(?:first|largest|biggest|smallest|highest|tallest|longest|oldest|best|worst|greatest|fastest|slowest|lowest|youngest"
        r"|richest|safest|cheapest|strongest|deepest|unique|leading|top|foremost|unprecedented|record"
        r"|most (?!of\b|people\b)\w+(?:ed|ing|ful|ous|ive|ant|ent|ar|al|ble)"
        r")\b|최초|가장|제일|최고|세계 ?1위|유일|으뜸|사상|최악|최장|최대 규모|최대의"
    ),
    "duty": re.compile(
        r"\b(?:must|ought to|has to|have to|needs? to)\b|해야|되어야|하여야|시급"
    ),
}  # fmt: skip
_ANY = re.compile("|".join(pattern.pattern for pattern in _DRAWN.values()))
_NAMES = {
    "cause": "no cause is given in its quotes",
    "proof": "nothing is proved in its quotes",
    "superlative": "'{}' is not in its quotes",
    "duty": "'{}' is not in its quotes",
}
_REASON_BY_ENDING = re.compile(r"(?<=[가-힣])(?:해서|하여서|아서|어서|므로|니까|기에)(?=\s)")
_MORE_CAUSE = re.compile(
    r"\b(?:as|since|so|by|from|through|after which|makes?|made)\b|므로|해서|어서|아서|여서|니까|로 인"
    r"|에 의해|면서|까닭|이유|요인"
)
_COMPARES = re.compile(
    r"\b(?:with|who \w+) (?:more|less|fewer|higher|lower)\b.{0,300}\b(?:have|has|had|are|were|live|report)\b"
)
_COMPARING = re.compile(r"\b(?:have|has|had|are|were|is|was|live|report|with)\b")
_CUT = re.compile(
    r",\s|;\s|\s(?:and|but|which|while|whereas|so|because|therefore)\s|(?<=[가-힣]고)\s|(?<=며)\s"
    r"|(?<=[가-힣][어아여])\s(?=\S+ \S)"
)


def conclusions(said: Text, quoted: Sequence[Text]) -> list[str]:
    """Conclusions of the statement that its quotes do not draw."""
    theirs = " ".join(text.low for text in quoted)
    found = []
    for kind, pattern in _DRAWN.items() if _ANY.search(said.low) else ():
        match = pattern.search(said.low)
        if match is None or pattern.search(theirs):
            continue
        if (
            kind == "cause"
            and match.group() not in {"causes", "cause", "caused"}
            and _MORE_CAUSE.search(theirs)
        ):
            continue
        found.append(_NAMES[kind].format(match.group()))
    ending = _REASON_BY_ENDING.search(said.low)
    if ending and not _DRAWN["cause"].search(theirs) and not _REASON_BY_ENDING.search(theirs):
        found.append(_NAMES["cause"])
    if _COMPARES.search(theirs) and not _COMPARING.search(said.low):
        found.append("its quotes compare, and tell no effect")
    return found


def other_superlatives(said: Text, quoted: Sequence[Text]) -> list[str]:
    """Superlatives of the statement other than those of its quotes."""
    mine = _superlatives(said)
    theirs = {word for text in quoted for word in _superlatives(text)} if mine else set()
    return [f"'{word}' is not in its quotes" for word in sorted(mine - theirs)] if theirs else []


@lru_cache(maxsize=4096)
def _superlatives(text: Text) -> frozenset[str]:
    return frozenset(_DRAWN["superlative"].findall(text.low))


def additions(said: Text, quoted: Sequence[Text]) -> list[str]:
    """Clauses of the statement of which the quotes have no word, beside others that they have."""
    pieces, start = [], 0
    for cut in _CUT.finditer(said.low):
        pieces.append((start, cut.start()))
        start = cut.end()
    pieces.append((start, len(said.low)))
    if len(pieces) < 2:
        return []
    found = []
    for first, last in pieces[1:]:
        words = [w for w in said.telling if first <= w.start < last]
        if (
            words
            and not any(_is_had(word, quoted) for word in words)
            and (len(words) > 1 or _is_heavy(words[0]))
        ):
            found.append(f"nothing in its quotes says '{said.text[first:last].strip(' .')}'")
    return found


def _is_had(word: Word, quoted: Sequence[Text]) -> bool:
    return any(text.has(word.key) for text in quoted)


def _is_heavy(word: Word) -> bool:
    return len(word.text) >= 6

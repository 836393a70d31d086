"""Of how many, where, when and among whom something is said; and whether a statement says it of more.

Does not know geography: a place is a name after "in", a group is what stands after "among".
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from fathom.evidence.amounts import amounts
from fathom.evidence.dates import dates
from fathom.evidence.words import Text, parsed

_ALL = re.compile(
    r"\b(?:all(?! the same)|every(?:one|body|thing|where)?|each|always|entire|whole|both|global(?:ly)?"
    r"|worldwide"
    r"|universal(?:ly)?|any|invariably|completely|at every|nationwide)\b"
    r"|모두|모든|전부|항상|언제나|전 ?세계|전국|매년|늘 |누구나|전체|완전|매번|어디서나|온 나라"
)
_MOST = re.compile(
    r"\b(?:most(?= \w)|mostly|majority|mainly|usually|generally|largely)\b|대부분|대다수|과반|주로|대체로"
)
_SAME_ALL = (
    frozenset({"all", "every", "each", "everyone", "everybody", "everything", "whole", "entire", "both"}),
    frozenset({"always", "invariably", "항상", "언제나", "늘", "매번"}),
    frozenset({"global", "globally", "worldwide", "전 세계", "전세계", "everywhere", "universal"}),
    frozenset({"모두", "모든", "전부", "전체"}),
)  # fmt: skip
_TWO = re.compile(r"\btwo\b|(?<![가-힣])두 |둘")
_FRONTED = re.compile(
    r"^(?P<word>in|across|within|throughout|among|amongst|during|under|for|when|at|on|of)\s(?P<rest>[^,]{3,60}),\s",
    re.IGNORECASE,
)
_NO_SCOPE = re.compile(
    r"^(?:addition|fact|contrast|particular|general|short|other words|the end|example|instance|turn"
    r"|response|practice|total"
    r"|brief|summary|conclusion|theory|principle|his|her|their|its|this|that|these|all|both|a statement"
    r"|an interview"
    r"|the other hand|average|the whole|course|the same time|first|last|once|the time)\b",
    re.IGNORECASE,
)
_IN_A_PLACE = re.compile(r"\b(?:in|across|throughout|within) (?:the )?((?:[A-Z][\w-]+)(?: [A-Z][\w-]+)*)")
_IN_A_GROUP = re.compile(
    r"\b(?:among|amongst|in|for|of) ((?:\w+ ){0,2}?(?:adults?|children|women|men|patients|infants"
    r"|people|teenagers|students|elderly"
    r"|smokers|workers|drivers|households)(?: (?:over|under|aged|with|who|above|below) [\w-]+)?)"
)
_ONE_OF_MANY = re.compile(
    r"\b(?:most|many|majority|half|some|few|all|percent|per cent|average|typical|rate|share)\b|%"
)
_KOREAN_SCOPE = re.compile(
    r"(?<!\w)(\w+)(?:에서는|에게는|에겐|에선|의 경우|에 한해|동안에?는?)(?=\s|,)|((?<!\d)\d+세 이(?:상"
    r"|하))(?:에서|의|에게|은|는)?|"
    r"^([가-힣]{2,})(?:에서|동안)(?=\s)"
)
_YEARLY = re.compile(r"\b(?:every|each) year\b|매년|해마다")


def widened(said: Text, quoted: Sequence[Text]) -> list[str]:
    """Why the statement says it of more than its quotes do."""
    found = _new_alls(said, quoted)
    for text in quoted:
        found += _korean_dropped(said, text) if text.is_korean else _dropped(said, text)
    return list(dict.fromkeys(found))


def _new_alls(said: Text, quoted: Sequence[Text]) -> list[str]:
    """Words for all of it that the quotes do not have; "every" may stand for "all", not for "most"."""
    theirs = {word for text in quoted for word in _alls(text)}
    new = []
    for word in _alls(said):
        alike = next((group for group in _SAME_ALL if word in group), frozenset({word}))
        is_pair = word in {"both", "each"} and any(_TWO.search(text.low) for text in quoted)
        if not alike & theirs and not is_pair:
            new.append(f"'{word}' is not in its quotes")
    if _MOST.search(said.low) and not theirs and not any(_MOST.search(t.low) for t in quoted):
        is_half = any(a.measure == "percent" and a.value >= 50 for t in quoted for a in amounts(t.text))
        if not is_half:
            new.append("'most' is not in its quotes")
    return new


@lru_cache(maxsize=4096)
def _alls(text: Text) -> tuple[str, ...]:
    return tuple(word.strip() for word in _ALL.findall(text.low))


def _dropped(said: Text, text: Text) -> list[str]:
    """Places, groups and times at the head of the quote or of its figures, that the statement leaves out."""
    found = []
    head = _FRONTED.match(text.text)
    is_left_out = head and not _NO_SCOPE.match(head["rest"]) and not _is_kept(said, head["rest"])
    # A time may go unsaid, unless the statement is of every time.
    if head and is_left_out and (not dates(head.group()) or _YEARLY.search(said.low)):
        found.append(f"it leaves out '{head['word'].lower()} {head['rest']}'")
    if _ONE_OF_MANY.search(text.low) and _ONE_OF_MANY.search(said.low):
        places = [m.group(1) for m in _IN_A_PLACE.finditer(text.text)]
        groups = [m.group(1) for m in _IN_A_GROUP.finditer(text.low)]
        kept = [phrase for phrase in [*places, *groups] if _is_kept(said, phrase)]
        if not kept:
            found += [f"it leaves out '{phrase}'" for phrase in [*places, *groups][:1]]
    return found


def _is_kept(said: Text, phrase: str) -> bool:
    """Whether the statement has a word of the phrase."""
    part = parsed(phrase)
    if any(amount.text in said.text for amount in amounts(phrase)):
        return True
    return not part.telling or any(said.has(word.key) for word in part.telling)


def _korean_dropped(said: Text, text: Text) -> list[str]:
    found = []
    for match in _KOREAN_SCOPE.finditer(text.text):
        phrase = next(part for part in match.groups() if part)
        under = [w for w in text.telling if w.start >= match.end()][:4]
        is_about_it = any(said.has(w.key) for w in under)
        if is_about_it and not _is_kept(said, phrase) and phrase not in said.text:
            found.append(f"it leaves out '{match.group().strip()}'")
    return found

"""Find hedges and limits of scope (how many, where, when, among whom) that a statement drops or widens.

A place is a name after "in", a group is what follows "among".
"""

import re
from collections.abc import Iterator, Sequence

from fathom.evidence.checks.amounts import find_amounts
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.lexicon import load_table
from fathom.evidence.checks.words import ParsedText, parse_text

_WAYS = {kind: ways.strip().splitlines() for kind, ways in load_table("hedges").items()}

_COMPILED = {kind: re.compile("|".join(ways)) for kind, ways in _WAYS.items()}

_ANY = re.compile("|".join(way for ways in _WAYS.values() for way in ways))

# Plain ASCII text has no Korean: lines without an English word are skipped.
_ANY_ENGLISH = re.compile(
    "|".join(way for ways in _WAYS.values() for way in ways if re.search(r"[a-z]{2}", way))
)

_ABOUT_NUMBERS = frozenset({"at most", "at least", "nearly"})

_OVER_ALL = frozenset({"in animals", "somebody says", "it seems", "if"})

_ANSWERS = {
    "possibly": {"possibly", "it seems"},
    "it seems": {"it seems", "possibly", "somebody says"},
    "somebody says": {"somebody says", "it seems"},
    "to come": {"to come", "possibly", "it seems"},
    "some": {"some", "few"},
    "most": {"most", "some"},
    "nearly": {"nearly"},
    "at most": {"at most"},
    "few": {"few", "some"},
    "if": {"if", "only"},
}

_REACH = 6


def find_hedges(text: ParsedText) -> tuple[tuple[str, str, int, int], ...]:
    """Return every hedge: its kind, words, start and end."""
    found: dict[str, list[re.Match[str]]] = {kind: [] for kind in _COMPILED}
    for start in _find_starts(text.low):
        for kind, matches in found.items():
            if not matches or matches[-1].end() <= start:
                matches += filter(None, [_COMPILED[kind].match(text.low, start)])
    return tuple(
        (kind, match.group().strip(), match.start(), match.end())
        for kind, matches in found.items()
        for match in matches
        if kind != "possibly" or _is_possibility(text, match)
    )


def _find_starts(low: str) -> Iterator[int]:
    """Yield where a hedge of any kind starts; a quick test, since most sentences have none."""
    any_hedge = _ANY_ENGLISH if low.isascii() else _ANY
    match = any_hedge.search(low)
    while match:
        yield match.start()
        match = any_hedge.search(low, match.start() + 1)


def _is_possibility(text: ParsedText, match: re.Match[str]) -> bool:
    """Tell whether it is no month, and no purpose as in "so that ships could pass"."""
    if match.group() == "may":
        return not _is_month(text, match.start(), match.end())
    return match.group() != "could" or "so that " not in text.low[: match.start()]


def _is_month(text: ParsedText, start: int, end: int) -> bool:
    if text.text[start] != "M":
        return False
    return start > 0 or re.match(r",| \d", text.text[end:]) is not None


def find_dropped_hedges(
    said: ParsedText, quoted: Sequence[ParsedText], is_foreign: bool = False
) -> list[str]:
    """Return the hedges of the quotes that the statement leaves out."""
    mine = {kind for kind, *_ in find_hedges(said)}
    found = []
    for text in quoted:
        for kind, words, start, end in find_hedges(text):
            if mine & _ANSWERS.get(kind, {kind}) or _is_said_otherwise(kind, said, text):
                continue
            if is_foreign and kind not in {
                "possibly",
                "at most",
                "at least",
                "it seems",
                "in animals",
                "to come",
            }:
                continue
            if is_foreign or _is_over_shared_words(kind, text, start, end, said):
                found.append(f"the quote says '{words}'")
    return list(dict.fromkeys(found))


def _is_said_otherwise(kind: str, said: ParsedText, text: ParsedText) -> bool:
    """Tell whether the source is named, or a number replaces the hedge."""
    if kind == "somebody says":
        named = re.search(
            r"according to (?:the |an? )?([\w.-]+)|([가-힣]{1,20})에 (?:따르면|의하면)", text.low
        )
        who = next((part for part in named.groups() if part), "") if named else ""
        return bool(who) and who in said.low
    if kind == "possibly" and text.is_korean and not said.is_korean:
        return re.search(r"\bcan\b", said.low) is not None
    if kind == "nearly":
        return re.search(r"\b(?:about|around|roughly|some|approximately)\b|약|대략", said.low) is not None
    return False


def _is_over_shared_words(kind: str, text: ParsedText, start: int, end: int, said: ParsedText) -> bool:
    """Tell whether the hedge applies to words that the statement uses."""
    if kind in _ABOUT_NUMBERS and not text.is_korean:
        near = re.match(r"\W*(?:\w+\W+){0,1}?([$€£]?\d[\d.,]*|\w+)", text.low[end:])
        return near is not None and near.group(1).strip(".,") in said.low
    if kind in _ABOUT_NUMBERS:
        leads = re.match(r"최대|최소|적어도|거의", text.low[start:end]) is not None
        near_text = text.low[end : end + 10] if leads else text.low[max(0, start - 12) : start]
        around = re.findall(r"\d[\d.,]*|절반|모든", near_text)
        number = around[0 if leads else -1].strip(".,") if around else ""
        return not number or number in said.low
    if kind in _OVER_ALL:
        clause = [w for w in text.content_words if said.has(w.key)]
        return len(clause) >= max(1, len(said.content_words) // 3)
    if text.is_korean:
        before = [w for w in text.content_words if w.end <= end][-3:]
        after = [w for w in text.content_words if w.start >= end][:2]
        near_words = after + before if kind in {"some", "most", "few"} else before
        return any(said.has(w.key) for w in near_words)
    if number := re.match(r" (?:an? )?([$€£]?\d[\d.,]*)", text.low[end:]):
        return number.group(1).strip(".,") in said.low
    reached = [w for w in text.content_words if w.start >= end][:_REACH]
    first = reached[:2] if kind in {"some", "most", "few", "only", "possibly", "to come"} else reached
    before = [w for w in text.content_words if w.end <= start][-1:]
    return any(said.has(w.key) for w in first) or (not reached and any(said.has(w.key) for w in before))


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


def find_widened_scope(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return why the statement has a wider scope than its quotes."""
    found = _find_new_universals(said, quoted)
    for text in quoted:
        found += (
            _find_dropped_korean_scopes(said, text) if text.is_korean else _find_dropped_scopes(said, text)
        )
    return list(dict.fromkeys(found))


def _find_new_universals(said: ParsedText, quoted: Sequence[ParsedText]) -> list[str]:
    """Return universal words that the quotes lack; "every" may replace "all", not "most"."""
    theirs = {word for text in quoted for word in _find_universals(text)}
    new = []
    for word in _find_universals(said):
        alike = next((group for group in _SAME_ALL if word in group), frozenset({word}))
        is_pair = word in {"both", "each"} and any(_TWO.search(text.low) for text in quoted)
        if not alike & theirs and not is_pair:
            new.append(f"'{word}' is not in its quotes")
    if _MOST.search(said.low) and not theirs and not any(_MOST.search(t.low) for t in quoted):
        is_half = any(a.measure == "percent" and a.value >= 50 for t in quoted for a in find_amounts(t.text))
        if not is_half:
            new.append("'most' is not in its quotes")
    return new


def _find_universals(text: ParsedText) -> tuple[str, ...]:
    return tuple(word.strip() for word in _ALL.findall(text.low))


def _find_dropped_scopes(said: ParsedText, text: ParsedText) -> list[str]:
    """Return places, groups and times at the start of the quote or its figures that the statement drops."""
    found = []
    head = _FRONTED.match(text.text)
    is_left_out = head and not _NO_SCOPE.match(head["rest"]) and not _is_kept(said, head["rest"])
    # A time may be left out, unless the statement is about every time.
    if head and is_left_out and (not find_dates(head.group()) or _YEARLY.search(said.low)):
        found.append(f"it leaves out '{head['word'].lower()} {head['rest']}'")
    if _ONE_OF_MANY.search(text.low) and _ONE_OF_MANY.search(said.low):
        places = [m.group(1) for m in _IN_A_PLACE.finditer(text.text)]
        groups = [m.group(1) for m in _IN_A_GROUP.finditer(text.low)]
        kept = [phrase for phrase in [*places, *groups] if _is_kept(said, phrase)]
        if not kept:
            found += [f"it leaves out '{phrase}'" for phrase in [*places, *groups][:1]]
    return found


def _is_kept(said: ParsedText, phrase: str) -> bool:
    """Tell whether the statement has a word of the phrase."""
    part = parse_text(phrase)
    if any(amount.text in said.text for amount in find_amounts(phrase)):
        return True
    return not part.content_words or any(said.has(word.key) for word in part.content_words)


def _find_dropped_korean_scopes(said: ParsedText, text: ParsedText) -> list[str]:
    found = []
    for match in _KOREAN_SCOPE.finditer(text.text):
        phrase = next(part for part in match.groups() if part)
        under = [w for w in text.content_words if w.start >= match.end()][:4]
        is_about_it = any(said.has(w.key) for w in under)
        if is_about_it and not _is_kept(said, phrase) and phrase not in said.text:
            found.append(f"it leaves out '{match.group().strip()}'")
    return found

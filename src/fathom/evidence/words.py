"""A text as the words that two texts can be compared by: telling words, stems, Korean particles, clauses.

Does not know what is compared. What is parsed is remembered, since a quote is looked at again and again.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from fathom.evidence.alike import ENGLISH_GROUPS, KOREAN_GROUPS
from fathom.evidence.units import UNITS
from fathom.text.normal import is_korean, one_line
from fathom.text.ranking import stem
from fathom.text.sentences import sentences

_WORD = re.compile(r"[^\W_]+(?:[-'.&][^\W_]+)*%?")
_CLAUSE = re.compile(r"[,;:()—–]|\.\s|\s-\s")
_PARTICLE = re.compile(
    r"(?<=[가-힣A-Za-z\d%])(?:으로부터|에서부터|으로서|으로써|에서는|에서도|에서만|에게서|에게는|께서는|이라고|이라는"
    r"|까지는|부터는|으로는|에서|에게|에는|에도|에만|에의|으로|로서|로써|까지|부터|보다|처럼|마다|만이|만을|뿐|께서"
    r"|이었다|이며|이고|이다|였다|이나|라고|라는|들이|들은|들을|들의|들"
    r"|은|는|이|가|을|를|의|에|와|과|도|만|로|다)$"
)
# What makes a verb of a noun: "갱신하지" and "갱신되었" are both about "갱신".
_VERB = re.compile(
    r"(?<=[가-힣]{2})(?:하였|되었|시켰|하지|되지|하고|되고|하며|되며|하여|되어|했|됐|한|된|함|됨|할|될|하|되)$"
)
_ENGLISH = """
a an the and or but nor of in on at to from by for with as into onto over under between among across within
through during before after since until while when where which who whom whose that this these those it its he
she they them their his her him we us our you your i my me is are was were be been being am has have had do
does did will would shall should may might must can could not no never so than then there here such also just
only very too more most less least much many some any all each every both either neither few several other
another same own up down out off about around again further once if because although though however therefore
thus hence s t one what how why per via according said says say whether yet already still now roughly
approximately nearly almost circa percent percentage cent two three four five six seven eight nine ten eleven
twelve twenty thirty forty fifty hundred thousand million billion half third quarter dozen first second
twice double doubled triple tripled went
"""
_KOREAN = """
이 그 저 수 것 등 및 또한 있다 없다 하는 한 된 될 할 있는 있었다 하다 했다 한다 되었다 된다 됐다 대한 위한
통해 그리고 그러나 또는 더 약 중 때 이후 이전 각 매우 것으로 것은 것이 이다 있으며 하며 따라 따르면 의하면
대해
"""
_ENGLISH_STOP = frozenset(_ENGLISH.split())
_KOREAN_STOP = frozenset(_KOREAN.split())


class Word(NamedTuple):
    """One word: as written, how it is compared, where it stands, and in which clause."""

    text: str
    low: str
    key: str
    particle: str
    start: int
    end: int
    clause: int
    is_telling: bool


@dataclass(frozen=True, eq=False)
class Text:
    """A text with its words; the same text is parsed once, so that it is known by itself."""

    text: str
    low: str
    words: tuple[Word, ...]
    is_korean: bool

    @cached_property
    def telling(self) -> tuple[Word, ...]:
        """The words that carry the meaning, in order."""
        return tuple(word for word in self.words if word.is_telling)

    @cached_property
    def keys(self) -> frozenset[str]:
        """How its telling words are compared."""
        return frozenset(word.key for word in self.telling)

    def has(self, key: str) -> bool:
        """Whether one of its telling words is this one."""
        return key in self.keys or any(same(key, own) for own in self._by_head.get(head(key), ()))

    @cached_property
    def _by_head(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key in self.keys:
            found.setdefault(head(key), []).append(key)
        return found


def head(key: str) -> str:
    """What all forms of a word have alike: its first letter; in Korean, that it is Korean."""
    return "가" if "\uac00" <= key[0] <= "\ud7a3" else key[0]


@lru_cache(maxsize=4096)
def parsed(text: str) -> Text:
    """The text with its words, remembered."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.replace("㎞", "km").replace("’", "'"))
    plain = one_line(text)
    found: list[Word] = []
    clause, end = 0, 0
    for match in _WORD.finditer(plain):
        written, start = match.group(), match.start()
        between = plain[end:start]
        clause += between != " " and _CLAUSE.search(between) is not None
        low, key, particle, is_telling = _form(written)
        is_unit = low in UNITS and bool(found) and found[-1].low[-1].isdigit()
        end = match.end()
        found.append(Word(written, low, key, particle, start, end, clause, is_telling and not is_unit))
    return Text(plain, plain.lower(), tuple(found), is_korean(plain))


@lru_cache(maxsize=16384)
def _form(text: str) -> tuple[str, str, str, bool]:
    """A word in lower case, how it is compared, its particle, and whether it is telling."""
    low = text.lower().removesuffix("'s")
    if "\uac00" <= low[-1] <= "\ud7a3":
        bare = _PARTICLE.sub("", low) if len(low) > 1 else low
        is_telling = low not in _KOREAN_STOP and bare not in _KOREAN_STOP and not low[0].isdigit()
        return low, _korean_key(_VERB.sub("", bare)), low[len(bare) :], is_telling
    return low, _english_key(low), "", low not in _ENGLISH_STOP and not low[0].isdigit()


def _english_key(word: str) -> str:
    if word in ENGLISH_GROUPS:
        return ENGLISH_GROUPS[word]
    cut = stem(word)
    for form in (cut, f"{cut}e", re.sub(r"(.)\1$", r"\1", cut), re.sub(r"i$", "y", cut), word.rstrip("s")):
        if form in ENGLISH_GROUPS:
            return ENGLISH_GROUPS[form]
    return cut


def _korean_key(word: str) -> str:
    letters = _letters(word)
    for known, group, size in _KOREAN_FORMS:
        if letters.startswith(known) and (size > 1 or len(word) <= 3):
            return group
    return word


@lru_cache(maxsize=65536)
def same(left: str, right: str) -> bool:
    """Whether two keys are forms of one word."""
    if left == right:
        return True
    if head(left) != head(right):
        return False
    if head(left) == "가":
        one, two = sorted((_letters(left), _letters(right)), key=len)
        shared = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))
        return shared >= 4 and shared >= 0.7 * len(one) and (len(two) - shared <= 8)
    short, long = sorted((left, right), key=len)
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 3


@lru_cache(maxsize=16384)
def _letters(word: str) -> str:
    return unicodedata.normalize("NFD", word)


# Forms by their letters, since endings melt into syllables: "낮추" is in "낮출". The longest first.
_KOREAN_FORMS = sorted(
    ((_letters(word), group, len(word)) for word, group in KOREAN_GROUPS.items()), key=lambda f: -len(f[0])
)


def covered(said: Text, quoted: Sequence[Text]) -> float:
    """The share of the telling words of a text that the others have."""
    if not said.keys:
        return 1.0
    return sum(any(q.has(key) for q in quoted) for key in said.keys) / len(said.keys)


@lru_cache(maxsize=4096)
def split(text: str) -> tuple[Text, ...]:
    """The sentences of a text."""
    return tuple(parsed(span.text) for span in sentences(text)) or (parsed(text),)


def bearing(said: Text, quoted: Sequence[Text]) -> list[Text]:
    """The sentences that bear the statement: the one with most of its words, then those that add some."""
    if len(quoted) <= 1:
        return list(quoted)
    missing = set(said.keys)
    left, chosen = list(quoted), list[Text]()
    while left and missing:
        best = max(left, key=lambda q: sum(q.has(key) for key in missing))
        gained = {key for key in missing if best.has(key)}
        if chosen and len(gained) < max(2, 0.2 * len(said.keys)):
            break
        chosen.append(best)
        left.remove(best)
        missing -= gained
        if not gained:
            break
    return chosen or [quoted[0]]


def role(word: Word) -> str:
    """The particle of a Korean word, one for each role: a subject is a subject, with 은 as with 이."""
    return _ROLES.get(word.particle, word.particle)


_ROLES = {
    "은": "이", "는": "이", "가": "이", "께서": "이", "께서는": "이", "에서는": "이",
    "들은": "이", "들이": "이",
    "를": "을", "들을": "을", "과": "와",
}  # fmt: skip

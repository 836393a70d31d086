"""Rules that compare a statement with its quotes in code: figures, dates, names, negation, roles, scope.

What all of them need is here: the lexicon, and texts parsed into comparable words (stems, Korean particles,
clauses). Results are cached, since quotes are parsed again and again.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from fathom.text.languages import is_korean
from fathom.text.normalization import one_line
from fathom.text.ranking import stem
from fathom.text.sentences import split_sentences


@cache
def load_table(name: str) -> dict[str, Any]:
    """Return a word list of the lexicon."""
    return tomllib.loads(files("fathom.evidence").joinpath(f"lexicon/{name}.toml").read_text("utf-8"))


@cache
def phrase_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `lexicon/phrases.toml`, or of its alternatives, over lower-case text."""
    words = load_table("phrases")[name]
    return re.compile(words if isinstance(words, str) else "|".join(words))


def has_phrase(name: str, text: str) -> bool:
    """Tell whether a text has a phrase of `lexicon/phrases.toml`."""
    return phrase_pattern(name).search(text.lower()) is not None


# Dimension and size in base units of every unit, by its name in lower case.
UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _size, *_names in map(str.split, load_table("units")["units"].strip().splitlines()):
    for _name in _names:
        UNITS.setdefault(_name, (_dimension, float(_size)))


def _parse_groups(text: str) -> dict[str, str]:
    groups: dict[str, str] = {}
    for line in text.strip().splitlines():
        words = line.split()
        for word in words:
            groups.setdefault(word, words[0])
    return groups


ENGLISH_SYNONYMS = _parse_groups(load_table("words")["synonyms"]["english"])
KOREAN_SYNONYMS = _parse_groups(load_table("words")["synonyms"]["korean"])
_WORD = re.compile(r"[^\W_]+(?:[-'.&][^\W_]+)*%?")
_CLAUSE = re.compile(r"[,;:()—–]|\.\s|\s-\s")
_PARTICLE = re.compile(
    r"(?<=[가-힣A-Za-z\d%])(?:으로부터|에서부터|으로서|으로써|에서는|에서도|에서만|에게서|에게는|께서는|이라고|이라는"
    r"|까지는|부터는|으로는|에서|에게|에는|에도|에만|에의|으로|로서|로써|까지|부터|보다|처럼|마다|만이|만을|뿐|께서"
    r"|이었다|이며|이고|이다|였다|이나|라고|라는|들이|들은|들을|들의|들"
    r"|은|는|이|가|을|를|의|에|와|과|도|만|로|다)$"
)

# Suffixes that turn a noun into a verb: "갱신하지" and "갱신되었" are both about "갱신".
_VERB = re.compile(
    r"(?<=[가-힣]{2})(?:하였|되었|시켰|하지|되지|하고|되고|하며|되며|하여|되어|했|됐|한|된|함|됨|할|될|하|되)$"
)
_ENGLISH_STOP = frozenset(load_table("words")["empty"]["english"].split())
_KOREAN_STOP = frozenset(load_table("words")["empty"]["korean"].split())


class ParsedWord(NamedTuple):
    """One word: as written, its comparison key, its place, and its clause."""

    text: str
    low: str
    key: str
    particle: str
    start: int
    end: int
    clause: int
    is_content: bool


@dataclass(frozen=True, eq=False)
class ParsedText:
    """A text with its words; parsed once, so it is compared by identity."""

    text: str
    low: str
    words: tuple[ParsedWord, ...]
    is_korean: bool

    @cached_property
    def content_words(self) -> tuple[ParsedWord, ...]:
        """Return the content words, in order."""
        return tuple(word for word in self.words if word.is_content)

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the comparison keys of its content words."""
        return frozenset(word.key for word in self.content_words)

    def has(self, key: str) -> bool:
        """Tell whether one of its content words has this key."""
        return key in self.keys or any(is_same_word(key, own) for own in self._by_head.get(_head(key), ()))

    @cached_property
    def _by_head(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for key in self.keys:
            found.setdefault(_head(key), []).append(key)
        return found


def index_letter(key: str) -> str:
    """Return what all forms of a word share: its first letter; for Korean, one common value."""
    return "가" if "\uac00" <= key[0] <= "\ud7a3" else key[0]


def _head(key: str) -> str:
    """Return what two forms of a word share: the first letter, or the first four of a Korean word."""
    return _letters(key)[:4] if "\uac00" <= key[0] <= "\ud7a3" else key[0]


@lru_cache(maxsize=2048)
def parse_text(text: str) -> ParsedText:
    """Parse a text; cached."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.replace("㎞", "km").replace("’", "'"))
    plain = one_line(text)
    found: list[ParsedWord] = []
    clause, end = 0, 0
    for match in _WORD.finditer(plain):
        written, start = match.group(), match.start()
        between = plain[end:start]
        clause += between != " " and _CLAUSE.search(between) is not None
        low, key, particle, is_content = _parse_word(written)
        is_unit = low in UNITS and bool(found) and found[-1].low[-1].isdigit()
        end = match.end()
        found.append(ParsedWord(written, low, key, particle, start, end, clause, is_content and not is_unit))
    return ParsedText(plain, plain.lower(), tuple(found), is_korean(plain))


@lru_cache(maxsize=16384)
def _parse_word(text: str) -> tuple[str, str, str, bool]:
    """Return a word in lower case, its key, its particle, and whether it is a content word."""
    low = text.lower().removesuffix("'s")
    if "\uac00" <= low[-1] <= "\ud7a3":
        bare = _PARTICLE.sub("", low) if len(low) > 1 else low
        is_content = low not in _KOREAN_STOP and bare not in _KOREAN_STOP and not low[0].isdigit()
        return low, _korean_key(_VERB.sub("", bare)), low[len(bare) :], is_content
    return low, _english_key(low), "", low not in _ENGLISH_STOP and not low[0].isdigit()


def _english_key(word: str) -> str:
    if word in ENGLISH_SYNONYMS:
        return ENGLISH_SYNONYMS[word]
    cut = stem(word)
    for form in (cut, f"{cut}e", re.sub(r"(.)\1$", r"\1", cut), re.sub(r"i$", "y", cut), word.rstrip("s")):
        if form in ENGLISH_SYNONYMS:
            return ENGLISH_SYNONYMS[form]
    return cut


def _korean_key(word: str) -> str:
    letters = _letters(word)
    for known, group, size in _KOREAN_FORMS.get(letters[:2], ()):
        if letters.startswith(known) and (size > 1 or len(word) <= 3):
            return group
    return word


@lru_cache(maxsize=16384)
def is_same_word(left: str, right: str) -> bool:
    """Tell whether two keys are forms of one word."""
    if left == right:
        return True
    if index_letter(left) != index_letter(right):
        return False
    if index_letter(left) == "가":
        one, two = sorted((_letters(left), _letters(right)), key=len)
        shared = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))
        return shared >= 4 and shared >= 0.7 * len(one) and (len(two) - shared <= 8)
    short, long = sorted((left, right), key=len)
    return len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 3


@lru_cache(maxsize=16384)
def _letters(word: str) -> str:
    return unicodedata.normalize("NFD", word)


# Forms as single letters, since endings merge into syllables: "낮추" is in "낮출".
# By their first two letters, the longest first.
_KOREAN_FORMS: dict[str, list[tuple[str, str, int]]] = {}
for _word in sorted(KOREAN_SYNONYMS, key=lambda word: -len(_letters(word))):
    _form = (_letters(_word), KOREAN_SYNONYMS[_word], len(_word))
    _KOREAN_FORMS.setdefault(_form[0][:2], []).append(_form)


def measure_coverage(said: ParsedText, quoted: Sequence[ParsedText]) -> float:
    """Return the share of a text's content words that the others have."""
    if not said.keys:
        return 1.0
    return sum(any(q.has(key) for q in quoted) for key in said.keys) / len(said.keys)


def parse_sentences(text: str) -> tuple[ParsedText, ...]:
    """Return the sentences of a text."""
    return tuple(parse_text(span.text) for span in split_sentences(text)) or (parse_text(text),)


def select_supporting_sentences(said: ParsedText, quoted: Sequence[ParsedText]) -> list[ParsedText]:
    """Return the supporting sentences: the one with most of its words, then those that add some."""
    if len(quoted) <= 1:
        return list(quoted)
    missing = set(said.keys)
    left, chosen = list(quoted), list[ParsedText]()
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


def particle_role(word: ParsedWord) -> str:
    """Return the role of a Korean word's particle: 은 and 이 both mark a subject."""
    return _ROLES.get(word.particle, word.particle)


_ROLES = {
    "은": "이", "는": "이", "가": "이", "께서": "이", "께서는": "이", "에서는": "이",
    "들은": "이", "들이": "이",
    "를": "을", "들을": "을", "과": "와",
}  # fmt: skip

"""Detect the language of a text by its function words, and texts in the wrong language or script.

Only a few languages in Latin script are known. Names, quotations, code, addresses and short texts are no
evidence: no answer is better than a wrong one.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from unicodedata import normalize

from fathom.text.tokens import load_words

_SMALL_WORDS: dict[str, str] = load_words()["function_words"]
DETECTED_LANGUAGES = tuple(_SMALL_WORDS)

# Linear time: a model may repeat a letter endlessly.
_NO_EVIDENCE = re.compile(
    r"```.*?```|`[^`\n]*`|\b\w+://\S+|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|\"[^\"\n]*\"", re.DOTALL
)
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class _Proof:
    """The function words needed as proof: in total, distinct, as a share, and per counterexample."""

    words: int
    different: int
    share: float
    times: int


_SURE = _Proof(words=5, different=4, share=0.15, times=3)

# Enough to rule out a complaint.
_LIKELY = _Proof(words=2, different=2, share=0.15, times=2)


@lru_cache(maxsize=64)  # every section of a report asks for the same question
def detect_question_language(question: str) -> str:
    """Return the language of a question; "" if unknown."""
    first, *others = _words(question) or [""]
    words = [first.lower(), *others]  # the first word of a question says most
    found = [
        one
        for one in DETECTED_LANGUAGES
        if all(_is_rather(words, one, other, _LIKELY) for other in DETECTED_LANGUAGES if other != one)
    ]
    return found[0] if found else ""


def detect_wrong_language(text: str, instead_of: str) -> str:
    """Return the language a text is certainly written in instead of the wanted one; else ""."""
    if instead_of not in _SMALL_WORDS:
        return ""
    words = _words(text)
    found = (
        one for one in DETECTED_LANGUAGES if one != instead_of and _is_rather(words, one, instead_of, _SURE)
    )
    return max(
        found, key=lambda one: sum(word in _distinct_words(one, instead_of) for word in words), default=""
    )


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(_NO_EVIDENCE.sub(" ", normalize("NFC", text)))


def _is_rather(words: Sequence[str], one: str, other: str, proof: _Proof) -> bool:
    """Tell whether words are of one language rather than the other; capitalized words may be names."""
    own, against = _distinct_words(one, other), _distinct_words(other, one)
    found = [word for word in words if word in own]
    return (
        len(found) >= max(proof.words, proof.share * len(words))
        and len(set(found)) >= proof.different
        and len(found) >= proof.times * sum(word in against for word in words)
    )


@cache
def _distinct_words(one: str, other: str) -> frozenset[str]:
    """Return the function words of one language that the other lacks."""
    return _word_lists()[one] - _word_lists()[other]


@cache
def _word_lists() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in _SMALL_WORDS.items()}


_SCRIPTS = {
    "hangul": re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]"),
    "kana": re.compile("[\u3040-\u30ff]"),
    "han": re.compile("[\u3400-\u9fff\uf900-\ufaff]"),
    "cyrillic": re.compile("[\u0400-\u052f]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "arabic": re.compile("[\u0600-\u06ff\u0750-\u077f]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "thai": re.compile("[\u0e00-\u0e7f]"),
    "latin": re.compile("[A-Za-z\u00c0-\u024f]"),
}
_EAST_ASIAN = {"kana", "han"}
# Languages by any of their names: their script, or what a language in Latin script is called here.
_SCRIPT_BY_LANGUAGE, _LATIN_LANGUAGES = (
    {name: said for said, names in load_words()[table].items() for name in names.split()}
    for table in ("scripts", "latin_languages")
)
_REQUESTED = re.compile(r"\b(?:in|into|en|auf|em)\s+(?:het\s+)?(\w{3,})")
_REQUESTED_IN_KOREAN = re.compile(r"(?<!\w)(\w+어)로")
_AS_ASKED = "the language of"
_MIN_LETTERS = 20  # letters; fewer may all be names


def dominant_script(text: str) -> str:
    """Return the script of most letters; "" if there are too few."""
    scripts = ["latin"] if text.isascii() else _SCRIPTS
    counts = Counter({name: len(_SCRIPTS[name].findall(text)) for name in scripts})
    if counts["kana"]:  # Japanese text has both
        counts["kana"] += counts.pop("han")
    name, most = counts.most_common(1)[0]
    return name if most >= _MIN_LETTERS else ""


def describe_wrong_language(text: str, language: str, question: str) -> str:
    """Describe a text in another language than asked for; "" unless it certainly is."""
    name, requested = language.strip().lower(), set[str]()
    if name.startswith(_AS_ASKED):
        script, tongue = dominant_script(question), detect_question_language(question)
        asked = question.lower()
        requested = {*_REQUESTED.findall(asked), *_REQUESTED_IN_KOREAN.findall(asked)}
    else:
        tongue, script = _LATIN_LANGUAGES.get(name, ""), _script_of_language(name)
    written = dominant_script(text)
    if not script or not written or written in {_script_of_language(one) for one in requested}:
        return ""
    if written != script:
        return "" if {script, written} <= _EAST_ASIAN else f"it is not written in {language}"
    found = detect_wrong_language(text, instead_of=tongue) if written == "latin" else ""
    if not found or found in {_LATIN_LANGUAGES.get(one) for one in requested}:
        return ""
    return f"it is not written in {language}, but in {found}"


def _script_of_language(language: str) -> str:
    """Return the script of a language by name; "" if unknown."""
    return "latin" if language in _LATIN_LANGUAGES else _SCRIPT_BY_LANGUAGE.get(language, "")


_HANGUL = re.compile("[가-힣]")


def wants_korean(question: str, language: str | None) -> bool:
    """Tell whether the report is in Korean: by request, or else by the question."""
    asked = (language or "").strip().lower()
    return asked.startswith(("ko", "한국")) if asked else is_korean(question)


def is_korean(text: str) -> bool:
    """Tell whether the text is mainly in Hangul."""
    hangul = 0 if text.isascii() else len(_HANGUL.findall(text))
    return hangul > 0 and hangul * 3 >= sum(map(str.isalpha, text))


_PARTICLES = {
    "은": "는",
    "이": "가",
    "을": "를",
    "과": "와",
    "으로": "로",
}  # after a consonant, and after a vowel
_DIGITS_WITH_FINAL, _DIGITS_WITH_RIEUL = "013678", "178"  # as Korean reads them: 영 일 삼 육 칠 팔
_HANGUL_FROM, _FINALS, _RIEUL = 0xAC00, 28, 8


def choose_particle(particle: str, word: str) -> str:
    """Return the form of a Korean particle that stands after a word, which may end in a figure."""
    closed = next((one for one, other in _PARTICLES.items() if particle in (one, other)), particle)
    last = word[-1:]
    final = (ord(last) - _HANGUL_FROM) % _FINALS if "가" <= last <= "힣" else 0
    is_rieul = final == _RIEUL or (last != "" and last in _DIGITS_WITH_RIEUL)
    is_closed = final > 0 or (last != "" and last in _DIGITS_WITH_FINAL)
    is_open = not is_closed or (closed == "으로" and is_rieul)
    return _PARTICLES.get(closed, closed) if is_open else closed

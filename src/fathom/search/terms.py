"""The words of a query, for services that would act on its punctuation or want every word to be found.

Does not know any service.
"""

import re

from fathom.text.tokens import STOP_WORDS

_WORD = re.compile(r"\w+(?:[-.'’]\w+)*")
_OPERATORS = frozenset({"and", "andnot", "not", "or", "to", "near"})
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
# The codes of the libraries (MARC), which are those of ISO 639-2 in their bibliographic form.
_LIBRARY_CODES = {
    "ar": "ara", "de": "ger", "en": "eng", "es": "spa", "fr": "fre", "it": "ita", "ja": "jpn", "ko": "kor",
    "nl": "dut", "pl": "pol", "pt": "por", "ru": "rus", "tr": "tur", "uk": "ukr", "zh": "chi",
}  # fmt: skip


def terms(text: str, *, most: int = 12) -> list[str]:
    """The words that carry the query, each once; nothing is left that a query language could act on."""
    words = [word for word in _WORD.findall(text) if word.lower() not in _OPERATORS]
    telling = [word for word in words if word.lower() not in STOP_WORDS or _is_acronym(word)]
    return list(dict.fromkeys(telling or words))[:most]


def is_korean(text: str) -> bool:
    """Whether a text has Hangul in it."""
    return _HANGUL.search(text) is not None


def language_code(language: str | None) -> str | None:
    """Two letters from a language tag such as `ko-KR`; None when it is no tag."""
    code = re.split(r"[-_]", (language or "").strip().lower())[0]
    return code if re.fullmatch(r"[a-z]{2,3}", code) else None


def library_code(language: str | None) -> str | None:
    """The three letters by which libraries know a language; None when it is not one of the common ones."""
    return _LIBRARY_CODES.get(language_code(language) or "")


def _is_acronym(word: str) -> bool:
    """Whether it is WHO rather than who."""
    return len(word) > 1 and word.isupper()

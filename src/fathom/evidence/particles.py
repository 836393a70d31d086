"""Korean particles after a replaced word.

Which of 은/는, 이/가, 을/를, 과/와 and 으로/로 fits is decided by how the word ends. Does not know
whether the replacement makes sense.
"""

import re

_DIGITS_WITH_FINAL = "013678"  # 영 일 삼 육 칠 팔
_DIGITS_WITH_RIEUL = "178"
_PAIRS = {"은": "는", "이": "가", "을": "를", "과": "와", "으로": "로"}
_PARTICLE = re.compile(r"(?:으로|로|은|는|이|가|을|를|과|와)(?![가-힣])")
_HANGUL, _FINALS, _RIEUL = 0xAC00, 28, 8


def has_final(word: str) -> bool:
    """Tell whether a word ends in a consonant as it is spoken; figures are read in Korean."""
    last = word[-1:]
    if "가" <= last <= "힣":
        return (ord(last) - _HANGUL) % _FINALS > 0
    return last in _DIGITS_WITH_FINAL


def replace_before_particle(text: str, start: int, end: int, new: str) -> str:
    """Return the text with what stands between two places replaced, and the particle after it made to fit."""
    rest = text[end:]
    found = _PARTICLE.match(rest)
    is_spoken = new[-1:].isdigit() or "가" <= new[-1:] <= "힣"
    if not found or not is_spoken:
        return text[:start] + new + rest
    return text[:start] + new + _fitting(found.group(), new) + rest[found.end() :]


def _fitting(particle: str, word: str) -> str:
    closed = next(c for c, o in _PAIRS.items() if particle in (c, o))
    if closed == "으로" and _ends_in_rieul(word):
        return "로"
    return closed if has_final(word) else _PAIRS[closed]


def _ends_in_rieul(word: str) -> bool:
    last = word[-1:]
    if "가" <= last <= "힣":
        return (ord(last) - _HANGUL) % _FINALS == _RIEUL
    return last in _DIGITS_WITH_RIEUL

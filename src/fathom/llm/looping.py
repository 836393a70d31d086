"""Models that say the same for ever: found, and cut back to what they said once.

Does not know forms.
"""

import re

_LONGEST_UNIT = 400
_TURNS = 5
_TELLING = 120  # characters; a row of dashes is no loop
_INSIDE = re.compile(r"(.{2,60}?)\1{7,}", re.DOTALL)
_INSIDE_TELLING = 48
# Whatever is said eight times in that many characters has a stretch at one of these steps that comes again
# within the longest unit: 31 before the first step, 8 for the stretch and a unit are less than eight units.
_STEP = 32
_STRETCH = 8
_WITHIN = 60
_LOOKED_AT = 3_000


def without_loop(text: str) -> str:
    """The text up to where it begins to repeat itself, with the repeated part once."""
    for size in range(1, min(_LONGEST_UNIT, len(text) // _TURNS) + 1):
        unit = text[-size:]
        if text.endswith(unit * max(_TURNS, -(-_TELLING // size))):
            end = len(text)
            while text.endswith(unit, 0, end - size):
                end -= size
            return text[:end]
    return text


def is_looping(text: str) -> bool:
    """Whether some words in it are said eight times or more in a row."""
    said = text[:_LOOKED_AT]
    return _comes_again(said) and any(len(f.group()) >= _INSIDE_TELLING for f in _INSIDE.finditer(said))


def _comes_again(text: str) -> bool:
    """Whether it may be looping: a hundred times quicker to say than whether it is."""
    return any(
        text.find(text[start : start + _STRETCH], start + 1, start + _STRETCH + _WITHIN) >= 0
        for start in range(0, len(text) - _STRETCH, _STEP)
    )

"""Models that say the same for ever: found, and cut back to what they said once.

Does not know forms.
"""

import re

_LONGEST_UNIT = 400
_TURNS = 5
_TELLING = 120  # characters; a row of dashes is no loop
_INSIDE = re.compile(r"(.{2,60}?)\1{7,}", re.DOTALL)
_INSIDE_TELLING = 48
_LOOKED_AT = 3_000


def without_loop(text: str) -> str:
    """The text up to where it begins to repeat itself, with the repeated part once."""
    for size in range(1, min(_LONGEST_UNIT, len(text) // _TURNS) + 1):
        unit = text[-size:]
        if text.endswith(unit * max(_TURNS, -(-_TELLING // size))):
            while text.endswith(unit * 2):
                text = text[:-size]
            return text
    return text


def is_looping(text: str) -> bool:
    """Whether some words in it are said eight times or more in a row."""
    return any(len(found.group()) >= _INSIDE_TELLING for found in _INSIDE.finditer(text[:_LOOKED_AT]))

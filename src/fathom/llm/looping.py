"""Finding models that repeat themselves without end."""

import re

_MAX_UNIT_CHARS = 400
_MIN_REPEATS = 5
_MIN_LOOP_CHARS = 120  # a row of dashes is no loop
_INNER_LOOP = re.compile(r"(.{2,60}?)\1{7,}", re.DOTALL)
_MIN_INNER_CHARS = 48
_MAX_SEARCHED_CHARS = 3_000


def cut_loop(text: str) -> str:
    """Return the text up to where its end begins to repeat itself, with the repeated part once."""
    for size in range(1, min(_MAX_UNIT_CHARS, len(text) // _MIN_REPEATS) + 1):
        unit = text[-size:]
        if text.endswith(unit * max(_MIN_REPEATS, -(-_MIN_LOOP_CHARS // size))):
            end = len(text)
            while text.endswith(unit, 0, end - size):
                end -= size
            return text[:end]
    return text


def is_looping(text: str) -> bool:
    """Whether some words in the text come eight times or more in a row."""
    loops = _INNER_LOOP.finditer(text[:_MAX_SEARCHED_CHARS])
    return any(len(loop.group()) >= _MIN_INNER_CHARS for loop in loops)

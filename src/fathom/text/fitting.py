"""As many lines as fit: what a prompt gets is bounded, however much there is.

Does not know what the lines say; the best are expected first.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from fathom.text.tokencount import most_tokens, token_count

K = TypeVar("K")
Count = Callable[[str], int]
LONGEST_LINE = 500


def shortened(text: str, most_chars: int = LONGEST_LINE) -> str:
    """The text on one line, cut with a mark where it is too long."""
    line = " ".join(text.split())
    return line if len(line) <= most_chars else line[: most_chars - 1].rstrip() + "…"


def fitting(lines: Iterable[str], max_tokens: int) -> list[str]:
    """The first lines that fit together; the first of all always does."""
    shown = [shortened(line) for line in lines]
    if sum(map(most_tokens, shown)) <= max_tokens:
        return shown
    kept: list[str] = []
    room = max_tokens
    for line in shown:
        room -= token_count(line)
        if room < 0 and kept:
            break
        kept.append(line)
    return kept


def fitting_entries(lines: Mapping[K, str], max_tokens: int) -> dict[K, str]:
    """The same for lines that have keys."""
    return dict(zip(lines, fitting(lines.values(), max_tokens), strict=False))


def cut_to(text: str, max_tokens: int, count: Count) -> str:
    """The beginning of the text that fits, by whatever counts; ends between words where it can."""
    room = max(0, max_tokens)
    whole = text
    while text and (cost := count(text)) > room:
        text = text[: min(len(text) - 1, len(text) * room // cost)]
    if text == whole or not text:
        return text
    last = text.rfind(" ")
    return text[:last] if last > len(text) // 2 else text

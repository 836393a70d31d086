"""Marks that do not belong into the text: keys of evidence, numbers of sources, addresses.

Does not know what they stand for. Numbers and links are put in by the report itself, from what was read.
"""

import re

from fathom.text.normal import one_line

ADDRESS = re.compile(r"\b(?:https?|ftp|file)://[^\s<>\"')\]]+|\bwww\.[^\s<>\"')\]]+", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_KEY = r"\^?E?\d{1,4}"
_IN_BRACKETS = re.compile(
    rf"\s*(?:\[{_KEY}(?:\s*[-–,;]\s*{_KEY})*\]|\(E\d{{1,4}}(?:\s*[-–,;]\s*E\d{{1,4}})*\)|【[^【】]*】)"
)
_BARE_KEY = re.compile(r"\s*\bE\d{1,4}\b(?:,(?= E\d))?")
_COULD_BE_MARKED = re.compile(r"[\[(【]|://|[wW]{3}\.|E\d")
_EMPTY = re.compile(r"\s*\(\s*\)")
_LOOSE = re.compile(r"\s+(?=[,.;:!?](?:\s|$))")


def unmarked(text: str, quotes: str = "") -> str:
    """The words alone; what looks like a bare key is kept if the quotes have it, as "E10" fuel is."""
    bare = one_line(text)
    if _COULD_BE_MARKED.search(bare):
        bare = _LINK.sub(r"\1", bare)
        bare = _IN_BRACKETS.sub("", ADDRESS.sub("", bare))
        bare = _BARE_KEY.sub(lambda found: found.group() if found.group().strip(" ,") in quotes else "", bare)
        bare = _EMPTY.sub("", bare)
    return one_line(_LOOSE.sub("", bare))


def has_address(text: str) -> bool:
    """Whether it points to a place."""
    return ADDRESS.search(text) is not None

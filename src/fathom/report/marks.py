"""Marks that do not belong into the text: keys of evidence, numbers of sources, addresses.

Does not know what they stand for. Numbers and links are put in by the report itself, from what was read.
"""

import re

from fathom.text.normal import one_line

ADDRESS = re.compile(r"\b(?:https?|ftp|file)://[^\s<>\"')\]`]+|\bwww\.[^\s<>\"')\]`]+", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_KEY = r"\^?E?\d{1,4}"
_IN_BRACKETS = re.compile(
    rf"(?<!\s)\s*(?:\[{_KEY}(?:\s*[-–,;]\s*{_KEY})*\]|\(E\d{{1,4}}(?:\s*[-–,;]\s*E\d{{1,4}})*\)|【[^【】]*】)"
)
_BARE_KEY = re.compile(r"(?<!\s)\s*\bE\d{1,4}\b(?:,(?= E\d))?")
_OPENING, _KEY_BEGINS = re.compile(r"[\[(【]"), re.compile(r"E\d")
_EMPTY = re.compile(r"(?<!\s)\s*\(\s*\)")
_LOOSE = re.compile(r"(?<!\s)\s+(?=[,.;:!?](?:\s|$))")
_MAY_BE_LOOSE = re.compile(r" [,.;:!?]")


def unmarked(text: str, quotes: str = "") -> str:
    """The words alone; what looks like a bare key is kept if the quotes have it, as "E10" fuel is."""
    bare = one_line(text)
    # Most sentences have no mark: looking whether one can begin anywhere is quicker than looking for each.
    if _OPENING.search(bare) or _KEY_BEGINS.search(bare) or may_have_address(bare):
        bare = _LINK.sub(r"\1", bare)
        bare = _IN_BRACKETS.sub("", ADDRESS.sub("", bare))
        bare = _BARE_KEY.sub(lambda found: found.group() if found.group().strip(" ,") in quotes else "", bare)
        bare = one_line(_EMPTY.sub("", bare))
    return one_line(_LOOSE.sub("", bare)) if _MAY_BE_LOOSE.search(bare) else bare


def has_address(text: str) -> bool:
    """Whether it points to a place."""
    return may_have_address(text) and ADDRESS.search(text) is not None


def may_have_address(text: str) -> bool:
    """Whether an address may stand in it: quicker to say than whether one does."""
    return "://" in text or "www." in text.lower()

"""What stands inside a line of reStructuredText: roles, references, literals and emphasis.

Does not know blocks.
"""

import re

_LITERAL = re.compile(r"``(.{1,1000}?)``")
_NAMED_ROLE = re.compile(r":[\w:+.-]+:`([^`<]+?)\s*<[^`>]*>`")
_ROLE = re.compile(r":[\w:+.-]+:`([^`]+)`")
_NAMED_LINK = re.compile(r"`([^`<]+?)\s*<[^`>]*>`__?")
_LINK = re.compile(r"`([^`]+)`__?(?!\w)")
_WORD_LINK = re.compile(r"(?<![\w`*])([A-Za-z][A-Za-z0-9-]*)__?(?=[\s.,;:!?)]|$)")
_SUBSTITUTION = re.compile(r"\|([^|\s][^|]*)\|_{0,2}")
_NOTE_MARK = re.compile(r"\s?\[(?:#[\w-]*|\*|\d+)\]_")
_STRONG = re.compile(r"(?<![\w*\\])\*\*(?=\S)(.{1,300}?)(?<=[^\s\\])\*\*(?![\w*])")
_EMPHASIS = re.compile(r"(?<![\w*\\])\*(?=[^\s*])(.{1,300}?)(?<=[^\s*\\])\*(?![\w*])")
_ESCAPE = re.compile(r"\\(\S)")


def plain_words(text: str) -> str:
    """A line as it reads; literals keep one pair of ticks, addresses and role names go."""
    parts = []
    at = 0
    for literal in _LITERAL.finditer(text):
        parts += [_unmarked(text[at : literal.start()]), f"`{literal.group(1)}`"]
        at = literal.end()
    return "".join([*parts, _unmarked(text[at:])])


def _target(found: re.Match[str]) -> str:
    """What Sphinx would print for a role: `~a.b.C` is C, `!name` is name."""
    words = found.group(1).lstrip("!")
    return f"`{words[1:].rpartition('.')[2]}`" if words.startswith("~") else f"`{words}`"


def _unmarked(text: str) -> str:
    if "`" in text:
        text = _NAMED_ROLE.sub(r"\1", text)
        text = _ROLE.sub(_target, text)
        text = _NAMED_LINK.sub(r"\1", text)
        text = _LINK.sub(r"\1", text)
    text = _SUBSTITUTION.sub(r"\1", _NOTE_MARK.sub("", text))
    text = _WORD_LINK.sub(r"\1", text) if "_" in text else text
    if "*" in text:
        text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", text))
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text

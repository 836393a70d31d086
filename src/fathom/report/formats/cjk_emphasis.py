"""Emphasis in Korean, Chinese and Japanese text, for markdown-it.

CommonMark wants a space or a punctuation mark outside `**` where a punctuation mark stands inside it, so the
stars of `비중이 **47%**까지` stay. Here a neighbour of these scripts counts as such a mark.
"""

import unicodedata

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.emphasis import tokenize

_SCRIPTS = (
    ("\u1100", "\u11ff"),  # Hangul Jamo
    ("\u2e80", "\ud7ff"),  # radicals, kana, CJK, Hangul
    ("\uf900", "\ufaff"),  # compatibility ideographs
    ("\uff00", "\uffef"),  # full-width forms
    ("\U00020000", "\U0003ffff"),  # further ideographs
)


def add_cjk_emphasis(parser: MarkdownIt) -> MarkdownIt:
    """Make the parser see emphasis beside letters of these scripts; other text is read as before."""
    parser.inline.ruler.at("emphasis", _emphasis)
    return parser


def _emphasis(state: StateInline, silent: bool) -> bool:
    start, known = state.pos, len(state.delimiters)
    if not tokenize(state, silent):
        return False
    before = state.src[start - 1] if start else " "
    after = state.src[state.pos] if state.pos < state.posMax else " "
    if state.src[start] == "*" and (_is_cjk(before) or _is_cjk(after)):
        for mark in state.delimiters[known:]:
            mark.open = not after.isspace() and (not _is_punctuation(after) or _is_edge(before))
            mark.close = not before.isspace() and (not _is_punctuation(before) or _is_edge(after))
    return True


def _is_edge(letter: str) -> bool:
    return letter.isspace() or _is_punctuation(letter) or _is_cjk(letter)


def _is_cjk(letter: str) -> bool:
    return any(first <= letter <= last for first, last in _SCRIPTS)


def _is_punctuation(letter: str) -> bool:
    return unicodedata.category(letter)[0] in "PS"

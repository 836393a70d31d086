"""What stands inside a line of Markdown: links, emphasis, code spans, HTML tags and entities.

Code spans and fenced code are never touched. The lengths in the patterns keep hostile text from taking
quadratic time. Does not know blocks.
"""

import html
import re
from collections.abc import Callable

_TAGS = (
    "a|abbr|b|big|blockquote|body|br|center|cite|code|col|colgroup|dd|del|details|div|dl|dt|em|figcaption|figure|"
    "font|footer|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|ol|p|picture|pre|"
    "q|s|samp|section|small|source|span|strike|strong|sub|summary|sup|svg|table|tbody|td|tfoot|th|thead|title|tr|"
    "tt|u|ul|var|video|h[1-6]"
)
_FENCED = re.compile(
    r"(^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*(?P=fence)[`~]*[ \t]*$|\Z))",
    re.DOTALL | re.MULTILINE,
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<!DOCTYPE[^>]*>|<\?.*?\?>", re.DOTALL | re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style|svg)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]{0,500}>(.{0,1000}?)</h\1\s*>", re.DOTALL | re.IGNORECASE)
_HTML_BLOCK = re.compile(
    r"</?(?:p|div|tr|table|ul|ol|dl|dt|dd|details|summary|center|blockquote|pre)\b[^>]*>", re.IGNORECASE
)
_HTML_ITEM = re.compile(r"<li\b[^>]*>", re.IGNORECASE)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]*)?/?>", re.IGNORECASE)

_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.{1,1000}?)(?<!`)\1(?!`)", re.DOTALL)
_TARGET = r"\((?:[^()\\]|\\.|\([^()]*\))*\)"
_IMAGE = re.compile(rf"!\[(?:[^\[\]]|\[[^\[\]]*\])*\](?:{_TARGET}|\[[^\]]*\])")
_LINK = re.compile(rf"\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:{_TARGET}|\[[^\]]*\])")
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]]+\]")
_AUTOLINK = re.compile(r"<((?:https?|ftp|mailto):[^<>\s]+|[\w.+-]+@[\w-]+\.[\w.-]+)>")
_STARS = re.compile(r"(?<!\\)(\*{1,3})(?=[^\s*])(.{1,300}?)(?<=[^\s*\\])\1(?!\*)", re.DOTALL)
_LINES = re.compile(r"(?<![\w\\])(_{1,3})(?=[^\s_])(.{1,300}?)(?<=[^\s_\\])\1(?!\w)", re.DOTALL)
_STRUCK = re.compile(r"~~(?=\S)(.{1,300}?)(?<=\S)~~", re.DOTALL)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_ATTRIBUTES = re.compile(r"[ \t]*\{(?:[#.:][\w:.-]+[ \t]*)+\}[ \t]*$")


def without_markup(text: str) -> str:
    """A Markdown text with its HTML reduced to Markdown or nothing, code left alone."""
    parts = []
    at = 0
    for fenced in _FENCED.finditer(text):
        parts += [_html_reduced(text[at : fenced.start()]), fenced.group()]
        at = fenced.end()
    return "".join([*parts, _html_reduced(text[at:])])


def _html_reduced(text: str) -> str:
    if "<" not in text:
        return text
    text = _HIDDEN.sub("", _COMMENT.sub("", text))
    text = _HTML_HEADING.sub(lambda found: _heading(found.group(1), found.group(2)), text)
    text = _HTML_ITEM.sub("\n- ", _HTML_BLOCK.sub("\n\n", text))
    return _outside_spans(text, lambda part: _TAG.sub("", _BREAK.sub(" ", part)))


def _heading(level: str, inner: str) -> str:
    words = " ".join(_TAG.sub("", inner).split())
    return f"\n\n{'#' * int(level)} {words}\n\n"


def plain_words(text: str) -> str:
    """A line of Markdown as it reads: no images, addresses or emphasis marks; code spans keep their ticks."""
    text = _IMAGE.sub("", text)
    for _ in range(2):  # a badge is an image in a link: what is left of it is an empty link
        text = _LINK.sub(r"\1", text)
    return _outside_spans(text, _unmarked)


def _unmarked(text: str) -> str:
    text = _AUTOLINK.sub(r"\1", _FOOTNOTE_MARK.sub("", text))
    for pattern in (_STARS, _STARS, _LINES, _LINES):
        text = pattern.sub(r"\2", text)
    text = _ATTRIBUTES.sub("", _STRUCK.sub(r"\1", text))
    return html.unescape(_ESCAPE.sub(r"\1", text))


def _outside_spans(text: str, change: Callable[[str], str]) -> str:
    parts = []
    at = 0
    for span in _CODE_SPAN.finditer(text):
        parts += [change(text[at : span.start()]), span.group()]
        at = span.end()
    return "".join([*parts, change(text[at:])])

"""Markdown as text, by markdown-it-py: headings, paragraphs, lists, definitions, tables and code stay.

Links give their words, and their addresses beside the text; images and badges give nothing, HTML its visible
words. Front matter is read as metadata.
"""

import re
from collections.abc import Iterator
from functools import cache

from lxml.html import defs  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin

from fathom.reading import (
    Anchor,
    Document,
    build_document,
    clean_text,
    code_block,
    heading_block,
    iso_day,
    table_block,
)
from fathom.reading.parsers.html import html_blocks
from fathom.text.normalization import one_line

_FRONT = re.compile(r"\A(?:---|\+\+\+)[ \t]*\n(.*?\n)(?:---|\+\+\+|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^([A-Za-z_]+)[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)
_FACTS = {
    "title": ("title",),
    "published": ("date", "published", "date_published", "pubdate", "created"),
    "author": ("author", "authors", "by"),
    "publisher": ("site", "site_name", "sitename", "publisher", "source"),
    "language": ("lang", "language"),
}
_ALERT = re.compile(r"\A\[![A-Z]+\]\s*")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\]:?")
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]*\{(?:[#.:][\w:.-]++[ \t]*+)++\}[ \t]*$")
_UNDEFINED_LINK = re.compile(r"(?<![\w\])])\[([^\[\]]+)\]\[[^\[\]]*\]")
# CommonMark sees no end of emphasis between a mark and a Korean, Chinese or Japanese letter.
_ASIAN = "\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff"
_EMPHASIS = re.compile(
    rf"(\*{{1,3}}|_{{2}})(?=\S)([^*_]{{1,300}}?)(?<=\S)\1(?=[{_ASIAN}])|(?<=[{_ASIAN}])(\*{{1,3}})(?=\S)([^*]{{1,300}}?)(?<=\S)\3"
)
_KEPT = re.compile("\ue000(\\d+)\ue001")
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9]*)")
_UNSEEN_TAGS = frozenset({"script", "style", "svg"})


def read_markdown(text: str, *, name: str) -> Document:
    """Read a Markdown file as its words, with what its front matter says of it."""
    about, body = front_matter(clean_text(text))
    writer = _MarkdownWriter()
    found = writer.write(_parser().parse(body))
    return build_document(found, how="markdown", name=name, anchors=writer.anchors, **about)


def front_matter(text: str) -> tuple[dict[str, str | None], str]:
    """Title, date, author, site and language of a YAML or TOML front matter, and the text after it."""
    found = _FRONT.match(text)
    if not found:
        return {}, text
    said = {key.lower(): value.strip().strip("[]\"' ") for key, value in _PAIR.findall(found.group(1))}
    about = {fact: next(filter(None, (said.get(key) for key in keys)), None) for fact, keys in _FACTS.items()}
    return {**about, "published": iso_day(about["published"] or "")}, text[found.end() :]


def markdown_blocks(text: str) -> list[str]:
    """The blocks of a Markdown text."""
    return _MarkdownWriter().write(_parser().parse(text))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.block.ruler.at("reference", _reference)
    return parser.use(deflist_plugin)


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A link's address as CommonMark has it, but not a footnote, whose words are wanted."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


class _MarkdownWriter:
    """Writes blocks from tokens; an open list, definition list or table gathers its lines."""

    def __init__(self) -> None:
        self.anchors: list[Anchor] = []
        self._done: list[str] = []
        self._lines: list[str] = []
        self._rows: list[list[str]] | None = None
        self._opened = Token("", "", 0)
        self._depth = 0
        self._mark = ""  # of the list item that has no words yet
        self._is_term_open = False

    def write(self, tokens: list[Token]) -> list[str]:
        for token in tokens:
            if token.type == "inline":
                self._take_words(one_line(_words(token.children or [])))
                self.anchors += _anchors(token.children or [])
            elif token.type in {"fence", "code_block"}:
                self._add(code_block(token.content.split("\n")))
            elif token.type == "html_block":
                for block in html_blocks(token.content):
                    self._take_words(block) if self._depth else self._add(block)
            else:
                self._enter(token)
        self._flush()
        return self._done

    def _enter(self, token: Token) -> None:
        kind = token.type
        if kind in {"bullet_list_open", "ordered_list_open", "dl_open"}:
            self._depth += 1
        elif kind in {"bullet_list_close", "ordered_list_close", "dl_close"}:
            self._depth -= 1
            if not self._depth:
                self._flush()
        elif kind in {"list_item_open", "dt_open"}:
            self._mark = f"{token.info}{token.markup}" if token.info else "-"
        elif kind == "table_open":
            self._rows = []
        elif kind == "tr_open" and self._rows is not None:
            self._rows.append([])
        elif kind == "table_close":
            rows, self._rows = self._rows or [], None
            self._add(table_block(rows))
        self._opened = token

    def _take_words(self, words: str) -> None:
        kind = self._opened.type
        if self._rows is not None:
            self._rows[-1].append(words)
        elif kind == "heading_open":
            self._add(heading_block(int(self._opened.tag[1:]), _ATTRIBUTES.sub("", words)))
        elif not self._depth:
            self._add(_ALERT.sub("", words))
        elif words:
            self._take_line(words, is_term=kind == "dt_open")

    def _take_line(self, words: str, *, is_term: bool) -> None:
        """One more line of a list: a new item, the definition of a term, or more words of the same item."""
        indent = "  " * (self._depth - 1)
        if self._mark:
            self._lines.append(f"{indent}{self._mark} {words}")
            self._mark = ""
        elif self._is_term_open and self._lines:
            self._lines[-1] = f"{self._lines[-1]}: {words}"
        else:
            self._lines.append(f"{indent}  {words}")
        self._is_term_open = is_term

    def _add(self, block: str) -> None:
        self._flush()
        if block:
            self._done.append(block)

    def _flush(self) -> None:
        if self._lines:
            self._done.append("\n".join(self._lines))
        self._lines, self._is_term_open = [], False


def _words(tokens: list[Token]) -> str:
    """A line of Markdown as it reads: no images, addresses or emphasis marks; code keeps its ticks."""
    kept: list[str] = []  # code and escaped marks, which nothing below may touch
    parts: list[str] = []
    unseen = ""
    for token in tokens:
        if token.type == "html_inline":
            found = _TAG.match(token.content)
            tag = found.group(1).lower() if found else ""
            unseen = _unseen_tag(unseen, tag, token.content)
            parts.append(_html_words(tag, token.content))
        elif unseen:
            continue
        elif token.type == "text":
            parts.append(token.content)
        elif token.type in {"softbreak", "hardbreak"}:
            parts.append(" ")
        elif token.type in {"code_inline", "text_special"}:
            kept.append(f"`{token.content}`" if token.type == "code_inline" else token.content)
            parts.append(f"\ue000{len(kept) - 1}\ue001")
    text = _EMPHASIS.sub(r"\2\4", _UNDEFINED_LINK.sub(r"\1", _FOOTNOTE.sub("", "".join(parts))))
    return _KEPT.sub(lambda found: kept[int(found.group(1))], text) if kept else text


def _anchors(tokens: list[Token]) -> Iterator[Anchor]:
    """The links of a line, with the words before them."""
    text, begun, address = "", 0, ""
    for token in tokens:
        if token.type == "link_open":
            begun, address = len(text), str(token.attrGet("href") or "")
        elif token.type == "link_close" and address:
            yield Anchor(address, text[begun:], text[:begun])
        else:
            text += token.content if token.type in {"text", "code_inline", "text_special"} else " "


def _unseen_tag(unseen: str, tag: str, markup: str) -> str:
    """The tag whose words are not shown, if one is open after this one."""
    if unseen:
        return "" if tag == unseen and markup.startswith("</") else unseen
    return tag if tag in _UNSEEN_TAGS and not markup.startswith("</") else ""


def _html_words(tag: str, markup: str) -> str:
    """What an inline tag says: nothing, a space for a break, or itself if HTML has no such tag."""
    if tag == "br":
        return " "
    return "" if not tag or tag in defs.tags else markup

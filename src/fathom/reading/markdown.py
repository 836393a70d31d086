"""Markdown as text: headings, paragraphs, lists, tables and code stay; links, images, badges and marks go.

Does not know any dialect beyond CommonMark, tables, footnotes and front matter.
"""

import re
from dataclasses import dataclass, field

from fathom.reading.blocks import clean, code, document, heading, one_line
from fathom.reading.markdown_inline import plain_words, without_markup
from fathom.reading.port import Document

_FRONT = re.compile(r"\A(?:---|\+\+\+)[ \t]*\n(.*?\n)(?:---|\+\+\+|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_PAIR = re.compile(r"^(title|date|published|created)\s*[:=]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_ATX = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r"^ {0,3}(=+|-{2,})[ \t]*$")
_RULE = re.compile(r"^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_ITEM = re.compile(r"^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+(.*)$")
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)[^\]]+\]:[ \t]*\S+")
_FOOTNOTE = re.compile(r"^ {0,3}\[\^[^\]]+\]:[ \t]*")
_QUOTE = re.compile(r"^ {0,3}>[ \t]?(?:\[![A-Z]+\][ \t]*$)?")


def read_markdown(text: str, *, name: str) -> Document:
    """A Markdown file as its words, with title and date from its front matter if it has one."""
    about, body = _front_matter(clean(text))
    date = _DATE.search(about.get("date") or about.get("published") or about.get("created") or "")
    published = date.group() if date else None
    return document(blocks(body), how="markdown", name=name, title=about.get("title"), published=published)


def blocks(text: str) -> list[str]:
    """The blocks of a Markdown text."""
    parser = _Parser()
    for line in without_markup(text).split("\n"):
        parser.take(line)
    return parser.finish()


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    found = _FRONT.match(text)
    if not found:
        return {}, text
    pairs = {key.lower(): value.strip().strip("\"'") for key, value in _PAIR.findall(found.group(1))}
    return pairs, text[found.end() :]


@dataclass
class _Parser:
    """Takes lines and keeps the block that is open: a paragraph's words, a list's entries, lines of code."""

    done: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    fence: str = ""
    is_table: bool = False
    is_after_blank: bool = True

    def take(self, line: str) -> None:
        """The next line."""
        if self.fence:
            self._inside_fence(line)
        elif found := _FENCE.match(line):
            self._close()
            self.fence = found.group(1)
        else:
            self._outside(_FOOTNOTE.sub("", _QUOTE.sub("", line)))
            self.is_after_blank = not line.strip()

    def finish(self) -> list[str]:
        """All blocks, once there are no more lines."""
        self._close()
        return self.done

    def _inside_fence(self, line: str) -> None:
        if line.strip().startswith(self.fence) and not line.strip().strip(self.fence[0]):
            self.fence = ""
            self._close()
        else:
            self.lines.append(line)

    def _outside(self, line: str) -> None:
        is_indented = line.startswith(("    ", "\t"))
        if not line.strip():
            self._blank()
        elif is_indented and not self.words and not self.entries:
            self.lines.append(line)
        elif found := _ATX.match(line):
            self._close()
            self.done.append(heading(len(found.group(1)), plain_words(found.group(2) or "")))
        elif self.words and not self.entries and (found := _SETEXT.match(line)):
            title, self.words = " ".join(self.words), []
            self.done.append(heading(1 if found.group(1)[0] == "=" else 2, plain_words(title)))
        elif _RULE.match(line):
            self._close()
        elif not _DEFINITION.match(line):
            self._text(line)

    def _blank(self) -> None:
        if self.lines:
            self.lines.append("")
        elif self.entries and not self.is_table:
            self._entry()
        else:
            self._close()

    def _text(self, line: str) -> None:
        if self.lines:
            self._close()
        if self._is_row(line):
            self._row(line)
        elif found := _ITEM.match(line):
            self._paragraph()
            self._entry()
            depth = len(found.group(1).expandtabs(4)) // 2
            self.words = [f"{'  ' * depth}{_bullet(found.group(2))} {found.group(3)}"]
            self.entries.append("")
        else:
            if self.is_table or (self.entries and self.is_after_blank and not line.startswith(("  ", "\t"))):
                self._close()
            self.words.append(line.strip())

    def _is_row(self, line: str) -> bool:
        has_rule = bool(self.words) and "|" in line and _TABLE_RULE.match(line) is not None
        return line.lstrip().startswith("|") or has_rule or (self.is_table and "|" in line)

    def _row(self, line: str) -> None:
        header = self.words.pop() if self.words and "|" in self.words[-1] and _TABLE_RULE.match(line) else ""
        if not self.is_table:
            self._close()
        self.is_table = True
        self.entries += [_cells(row) for row in (header, line) if row and not _TABLE_RULE.match(row)]

    def _entry(self) -> None:
        """The open words belong to the last entry of the list."""
        if self.words and self.entries:
            indent = self.words[0][: len(self.words[0]) - len(self.words[0].lstrip())]
            text = indent + one_line(plain_words(" ".join(self.words)))
            if self.entries[-1]:
                self.entries.append(f"  {text.strip()}")
            else:
                self.entries[-1] = text
        if self.entries:
            self.words = []

    def _paragraph(self) -> None:
        if self.words and not self.entries:
            self.done.append(one_line(plain_words(" ".join(self.words))))
            self.words = []

    def _close(self) -> None:
        self._paragraph()
        self._entry()
        if kept := [entry for entry in self.entries if entry.strip("-* ")]:
            self.done.append("\n".join(kept))
        if self.lines:
            self.done.append(code(self.lines))
        self.entries, self.lines, self.is_table = [], [], False


def _bullet(mark: str) -> str:
    return mark if mark[0].isdigit() else "-"


def _cells(row: str) -> str:
    cells = [plain_words(cell).strip() for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]
    return f"| {' | '.join(cells)} |" if any(cells) else ""

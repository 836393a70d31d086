"""reStructuredText as text: the same blocks as Markdown gives, roles and directives reduced to their words.

Serves docstrings too, so it also understands the indented lists of `Args:` sections. Does not know Sphinx
beyond the shape of its directives.
"""

import re
from dataclasses import dataclass, field

from fathom.reading.blocks import clean, code, document, heading, one_line
from fathom.reading.port import Document
from fathom.reading.rst_inline import plain_words

_ADORNMENT = re.compile(r"^([=\-`:.'\"~^_*+#])\1+\s*$")
_DIRECTIVE = re.compile(r"^\.\. (?:\|[^|]+\| )?([\w:+.-]+)::(?:\s+(.*))?$")
_EXPLICIT = re.compile(r"^(\.\.(?:\s|$)|__\s)")
_FOOTNOTE = re.compile(r"^\.\. \[[^\]]+\]\s+(.*)$")
_OPTION = re.compile(r"^\s*:[\w-]+:(?:\s|$)")
_ITEM = re.compile(r"^([-*+•]|\(?(?:\d{1,3}|[a-zA-Z]|#)[.)])\s+(.*)$")
_FIELD = re.compile(r"^:([^:`]+):(?:\s+(.*))?$")
_ARGUMENT = re.compile(r"^\*{0,2}[\w.]+(?:, \*{0,2}\w+)*(?: ?\([^)]*\))?\s?: ?\S|^\*{0,2}[\w.]+ ?\([^)]*\):$")
_NUMPY_ARGUMENT = re.compile(r"^\*{0,2}\w[\w*, .]* : \S")
_TABLE_RULE = re.compile(r"^(?:\+[-=+]+\+|=+(?: +=+)+)\s*$")
_CODE_DIRECTIVES = frozenset(
    {"code", "code-block", "sourcecode", "parsed-literal", "testcode", "doctest", "math"}
)
_SILENT = """
image figure toctree contents include raw index highlight module currentmodule automodule autoclass
autofunction automethod autosummary meta only sectionauthor moduleauthor codeauthor default-domain
role testsetup testcleanup testoutput graphviz plot sectnum header footer replace unicode date
tabularcolumns mermaid inheritance-diagram literalinclude rst-class title
"""
_SILENT_DIRECTIVES = frozenset(_SILENT.split())
_NOTES = "note warning tip important hint seealso attention caution danger error todo"
_ADMONITIONS = frozenset(_NOTES.split())
_MAX_DEPTH = 20
_VERSION_WORDS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}


def read_rst(text: str, *, name: str) -> Document:
    """A reStructuredText file as its words."""
    return document(blocks(text), how="rst", name=name)


def blocks(text: str, *, level: int = 1) -> list[str]:
    """The blocks of a text, with headings from the given level down."""
    lines = [line.expandtabs(8).rstrip() for line in clean(text).split("\n")]
    return _Parser(lines, levels=[], level=level).parse()


@dataclass
class _Parser:
    """Walks over lines of one indentation; what is indented deeper is parsed by a parser of its own."""

    lines: list[str]
    levels: list[str]
    level: int
    depth: int = 0
    at: int = 0
    done: list[str] = field(default_factory=list)

    def parse(self) -> list[str]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line:
                self.at += 1
            elif not (self._title() or self._explicit() or self._table() or self._entries()):
                if line.startswith(" "):
                    self.done += self._inner(self._indented(0))
                else:
                    self._paragraph()
        return self.done

    def _peek(self, ahead: int) -> str:
        return self.lines[self.at + ahead] if self.at + ahead < len(self.lines) else ""

    def _title(self) -> bool:
        first, second, third = self._peek(0), self._peek(1), self._peek(2)
        if _ADORNMENT.match(first) and second and _ADORNMENT.match(third) and third[0] == first[0]:
            self._heading(first[0] * 2, second)
            self.at += 3
            return True
        is_under = (
            _ADORNMENT.match(second) and not _ADORNMENT.match(first) and not first.startswith((" ", ".. "))
        )
        if is_under and len(second.rstrip()) >= min(len(first), 4) and not _TABLE_RULE.match(first):
            self._heading(second[0], first)
            self.at += 2
            return True
        if _ADORNMENT.match(first) and len(first) >= 4:
            self.at += 1  # a transition
            return True
        return False

    def _heading(self, mark: str, words: str) -> None:
        if mark not in self.levels:
            self.levels.append(mark)
        self.done.append(heading(self.level + self.levels.index(mark), plain_words(words)))

    def _indented(self, ahead: int) -> list[str]:
        """The following lines that are indented, without their common margin; leaves the place after them."""
        self.at += ahead
        taken: list[str] = []
        while self.at < len(self.lines) and (not self.lines[self.at] or self.lines[self.at].startswith(" ")):
            taken.append(self.lines[self.at])
            self.at += 1
        margin = min((len(line) - len(line.lstrip()) for line in taken if line), default=0)
        return [line[margin:] for line in taken]

    def _inner(self, lines: list[str]) -> list[str]:
        if self.depth == _MAX_DEPTH:
            return [one_line(plain_words(" ".join(lines)))]
        return _Parser(lines, levels=self.levels, level=self.level, depth=self.depth + 1).parse()

    def _explicit(self) -> bool:
        line = self._peek(0)
        if not _EXPLICIT.match(line):
            return False
        found = _DIRECTIVE.match(line)
        footnote = _FOOTNOTE.match(line)
        inside = self._indented(1)
        if footnote:
            self.done += self._inner([footnote.group(1), *inside])
        elif found:
            self._directive(found.group(1).rpartition(":")[2].lower(), found.group(2) or "", inside)
        return True

    def _directive(self, name: str, argument: str, inside: list[str]) -> None:
        while inside and _OPTION.match(inside[0]):
            inside = inside[1:]
        if name in _CODE_DIRECTIVES:
            self.done.append(code(inside))
        elif name not in _SILENT_DIRECTIVES:
            said = f"{_VERSION_WORDS[name]} {argument}:" if name in _VERSION_WORDS else argument
            if name in _ADMONITIONS or name in _VERSION_WORDS:
                self.done += self._inner([said, *inside])
            else:
                self.done += [one_line(plain_words(said)), *self._inner(inside)]

    def _table(self) -> bool:
        if not _TABLE_RULE.match(self._peek(0)):
            return False
        rows: list[str] = []
        while line := self._peek(0):
            if not _TABLE_RULE.match(line):
                cells = (
                    line.strip("| ").split("|") if line.startswith("|") else re.split(r"\s{2,}", line.strip())
                )
                rows.append(f"| {' | '.join(plain_words(cell).strip() for cell in cells)} |")
            self.at += 1
        self.done.append("\n".join(rows))
        return True

    def _entries(self) -> bool:
        entries: list[str] = []
        while line := self._peek(0):
            item, pair = _ITEM.match(line), _FIELD.match(line)
            is_argument = _NUMPY_ARGUMENT.match(line) and self._peek(1).startswith(" ")
            if not item and not pair and not is_argument:
                break
            mark = item.group(1) if item and item.group(1)[-1] in ".)" and "#" not in item.group(1) else "-"
            first = item.group(2) if item else f"{pair.group(1)}: {pair.group(2) or ''}" if pair else line
            inner = self._inner([first.rstrip(), *self._indented(1)])
            entries.append(f"{mark} " + "\n".join(inner).replace("\n", "\n  "))
        if entries:
            self.done.append("\n".join(entries))
        return bool(entries)

    def _paragraph(self) -> None:
        taken: list[str] = []
        while (line := self._peek(0)) and not line.startswith(" "):
            taken.append(line)
            self.at += 1
        if taken[0].startswith(">>>"):
            taken += self._indented(0) if self._peek(0).startswith(" ") else []
            self.done.append(code(taken))
            return
        words = " ".join(taken)
        is_literal = words.endswith("::")
        shown = (
            words if not is_literal else words[:-2] if words.endswith(" ::") or words == "::" else words[:-1]
        )
        self.done.append(one_line(plain_words(shown)))
        if is_literal:
            self.done.append(code(self._indented(0)))
        elif self._peek(0).startswith(" "):
            self.done += self._arguments(self._indented(0))

    def _arguments(self, lines: list[str]) -> list[str]:
        """What is indented under a line: an `Args:` list with an entry a name, or just more words."""
        starts = [at for at, line in enumerate(lines) if line and not line.startswith(" ")]
        if not starts or not all(_ARGUMENT.match(lines[at]) for at in starts):
            return self._inner(lines)
        ends = [*starts[1:], len(lines)]
        entries = [
            one_line(plain_words(" ".join(lines[at:end]))) for at, end in zip(starts, ends, strict=True)
        ]
        return ["\n".join(f"- {entry}" for entry in entries)]

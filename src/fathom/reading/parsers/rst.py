"""reStructuredText as text, by docutils: the same blocks as Markdown gives.

Nothing is included, fetched or rendered raw. Sphinx's directives and roles are reduced to their words.
Serves docstrings too.
"""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from typing import Any, ClassVar

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.languages import en
from docutils.utils import new_document

from fathom.reading import Document, build_document, clean_text, code_block, heading_block, table_block
from fathom.reading.parsers import plain_text
from fathom.text.normalization import one_line

_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?([\w:+.-]+)::", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:+.-]{0,100}):`")
_TITLED = re.compile(r"(.*\S)\s+<[^<>]*>", re.DOTALL)
_CODE_DIRECTIVES = "code code-block sourcecode testcode doctest highlight-block prompt ipython"

_SILENT_DIRECTIVES = """
image include raw literalinclude toctree contents index highlight module currentmodule automodule autoclass
autofunction automethod autosummary meta only sectionauthor moduleauthor codeauthor default-domain testsetup
testcleanup testoutput graphviz plot sectnum header footer date tabularcolumns mermaid inheritance-diagram
rst-class title
"""

_NOTE_DIRECTIVES = "seealso todo centered"

_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}

_DOCUTILS_ROLES = """
abbreviation ab acronym ac code emphasis literal math pep-reference pep rfc-reference rfc strong subscript sub
superscript sup title-reference title t
"""

_KNOWN_ROLES = frozenset(_DOCUTILS_ROLES.split())


class _AnyOption(dict[str, Callable[[str | None], str | None]]):
    """Takes every option of a directive."""

    def __bool__(self) -> bool:
        return True

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> Callable[[str | None], str | None]:
        return lambda value: value


class _LenientDirective(Directive):  # type: ignore[misc]
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[Any] = _AnyOption()

    def _parsed(self, lines: Any) -> list[nodes.Node]:
        """What is inside, with titles allowed, which docutils forbids below the top."""
        holder = nodes.container()
        memo = self.state.memo
        kept = memo.title_styles, memo.section_level
        memo.title_styles, memo.section_level = [], 0
        try:
            self.state.nested_parse(lines, self.content_offset, holder, match_titles=True)
        finally:
            memo.title_styles, memo.section_level = kept
        return list(holder.children)


class _SilentDirective(_LenientDirective):
    """Says nothing."""

    def run(self) -> list[nodes.Node]:
        return []


class _FigureDirective(_LenientDirective):
    """A figure's caption, without asking a picture file for its width."""

    def run(self) -> list[nodes.Node]:
        return self._parsed(self.content)


class _CodeDirective(_LenientDirective):
    """A block of code."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        return [nodes.literal_block(text, text)] if text.strip() else []


class _NoteDirective(_LenientDirective):
    """A note whose words may begin behind the directive."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        return self._parsed(self.content)


class _VersionDirective(_LenientDirective):
    """Since which version something holds."""

    def run(self) -> list[nodes.Node]:
        version, _, rest = (self.arguments[0] if self.arguments else "").partition("\n")
        number, _, more = version.partition(" ")
        said = f"{_VERSIONS[self.name.rpartition(':')[2]]} {number}:"
        first = nodes.paragraph("", f"{said} ")
        parsed, messages = self.state.inline_text(f"{more} {rest}".strip(), self.lineno)
        inside = self._parsed(self.content)
        if parsed:
            first += parsed
        elif inside and isinstance(inside[0], nodes.paragraph):
            first += inside.pop(0).children
        return [first, *inside, *messages]


class _GenericDirective(_LenientDirective):
    """The argument as it stands, then what is inside."""

    def run(self) -> list[nodes.Node]:
        said = [nodes.paragraph(line, line.strip()) for line in (self.arguments or [""])[0].split("\n")]
        return [*said, *self._parsed(self.content)]


def register_unknown_markup(text: str) -> None:
    """Teach docutils the directives and roles of a text that it does not know."""
    for name in {name.lower() for name in _DIRECTIVE.findall(text)}:
        if name in _DIRECTIVES or name not in en.directives:
            directives.register_directive(name, _DIRECTIVES.get(name.rpartition(":")[2], _GenericDirective))
    for name in {name.lower() for name in _ROLE.findall(text)} - _KNOWN_ROLES:
        roles.register_local_role(name, _role)


def _role(
    _name: str, rawtext: str, text: str, *_: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """What Sphinx would print: the title of `title <target>`, C for `~a.b.C`, the name itself otherwise."""
    words = nodes.unescape(text)
    if found := _TITLED.fullmatch(words):
        return [nodes.inline(rawtext, found.group(1))], []
    words = words.lstrip("!")
    shown = words[1:].rpartition(".")[2] if words.startswith("~") else words
    return [nodes.literal(rawtext, shown)], []


_DIRECTIVES: dict[str, type[Directive]] = {
    **dict.fromkeys(_SILENT_DIRECTIVES.split(), _SilentDirective),
    **dict.fromkeys(_CODE_DIRECTIVES.split(), _CodeDirective),
    **dict.fromkeys(_NOTE_DIRECTIVES.split(), _NoteDirective),
    **dict.fromkeys(_VERSIONS, _VersionDirective),
    "figure": _FigureDirective,
}

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "line_length_limit": sys.maxsize,
    "syntax_highlight": "none",
}

_MARKS = re.compile("[`*]")
_MAX_MARKS = 3000

_SILENT_NODES = (
    nodes.comment,
    nodes.target,
    nodes.substitution_definition,
    nodes.pending,
    nodes.image,
    nodes.raw,
    nodes.decoration,
    nodes.label,
    nodes.transition,
    nodes.meta,
)

_CODE_NODES = (nodes.literal_block, nodes.doctest_block, nodes.math_block)

_LISTS = (
    nodes.bullet_list,
    nodes.enumerated_list,
    nodes.definition_list,
    nodes.field_list,
    nodes.option_list,
)


def read_rst(text: str, *, name: str) -> Document:
    """Read a reStructuredText file as its words."""
    return build_document(rst_blocks(text), how="rst", name=name)


def rst_blocks(text: str, *, level: int = 1) -> list[str]:
    """The blocks of a text, with headings from the given level down."""
    text = clean_text(text)
    if any(len(_MARKS.findall(part)) > _MAX_MARKS for part in text.split("\n\n")):
        return plain_text.text_blocks(text)  # docutils takes quadratic time for marks that nobody closes
    register_unknown_markup(text)
    parsed = new_document("text", _settings())
    try:
        Parser().parse(text, parsed)
        return [block for block in _RstWriter(parsed).write(parsed, level) if block]
    except RecursionError:
        return plain_text.text_blocks(text)


@cache
def _settings() -> object:
    settings = get_default_settings(Parser)
    for key, value in _SETTINGS.items():
        setattr(settings, key, value)
    return settings


class _RstWriter:
    """Writes the blocks of one parsed document."""

    def __init__(self, parsed: nodes.document) -> None:
        self._substitutions = parsed.substitution_defs

    def write(self, parent: nodes.Element, level: int) -> Iterator[str]:
        for node in parent.children:
            if isinstance(node, nodes.section):
                yield from self.write(node, level + 1)
            elif isinstance(node, nodes.title) and isinstance(parent, nodes.section):
                yield heading_block(level - 1, self.words(node))
            elif isinstance(node, _LISTS):
                yield from self._joined(self._entries(node, 0))
            elif isinstance(node, _CODE_NODES):
                yield code_block(node.astext().split("\n"))
            elif isinstance(node, nodes.table):
                yield from self._table(node)
            elif isinstance(node, nodes.line_block):
                yield "\n".join(one_line(self.words(line)) for line in node.findall(nodes.line))
            elif isinstance(node, nodes.system_message):
                yield from (
                    code_block(lost.astext().split("\n")) for lost in node.findall(nodes.literal_block)
                )
            elif isinstance(node, nodes.Text | nodes.TextElement) and not isinstance(node, _SILENT_NODES):
                yield one_line(self.words(node))
            elif isinstance(node, nodes.Element) and not isinstance(node, _SILENT_NODES):
                yield from self.write(node, level)

    def _table(self, node: nodes.table) -> Iterator[str]:
        yield from (one_line(self.words(title)) for title in node.findall(nodes.title))
        rows = (row.findall(nodes.entry) for row in node.findall(nodes.row))
        yield table_block([" ".join(self.write(entry, 6)) for entry in row] for row in rows)

    def _joined(self, found: Iterator[tuple[bool, str]]) -> Iterator[str]:
        """Lines of a list together in one block; code and tables inside it stand as blocks of their own."""
        lines: list[str] = []
        for is_line, text in found:
            if is_line:
                lines.append(text)
            else:
                yield "\n".join(lines)
                yield text
                lines = []
        yield "\n".join(lines)

    def _entries(self, parent: nodes.Element, depth: int) -> Iterator[tuple[bool, str]]:
        """Every item of a list as a line, and the blocks inside it that are none."""
        marks = _marks(parent)
        indent = "  " * depth
        for item in parent.children:
            before = f"{indent}{next(marks)} {self._term(item)}"
            for node in _bodies(item):
                if isinstance(node, _LISTS):
                    if before.strip("- "):
                        yield True, before.rstrip(" :") if before.endswith(": ") else before
                    before = ""
                    yield from self._entries(node, depth + 1)
                elif isinstance(node, nodes.TextElement) and not isinstance(
                    node, (*_CODE_NODES, *_SILENT_NODES)
                ):
                    yield True, (before or f"{indent}  ") + one_line(self.words(node))
                    before = ""
                elif not isinstance(node, _SILENT_NODES):
                    holder = nodes.container("", node.deepcopy())
                    if before.strip("- "):
                        yield True, before.rstrip()
                    before = ""
                    for block in self.write(holder, 6):
                        yield "\n" not in block and not block.startswith("|"), f"{block}"
            if before.strip("- "):
                yield True, before.rstrip(" :")

    def _term(self, item: nodes.Node) -> str:
        """The words before a definition, a field's body or an option's description."""
        if isinstance(item, nodes.definition_list_item):
            terms = [n for n in item.children if isinstance(n, nodes.term | nodes.classifier)]
            return " : ".join(one_line(self.words(term)) for term in terms).rstrip(":") + ": "
        if isinstance(item, nodes.field):
            return one_line(self.words(item.children[0])) + ": "
        if isinstance(item, nodes.option_list_item):
            return ", ".join(option.astext() for option in item.findall(nodes.option)) + ": "
        return ""

    def words(self, node: nodes.Node) -> str:
        """A line as it reads; literals and names of code keep one pair of ticks, addresses go."""
        if isinstance(node, nodes.Text):
            return str(node.astext())
        if isinstance(node, nodes.literal | nodes.title_reference | nodes.math):
            return f"`{node.astext()}`"
        if isinstance(node, nodes.substitution_reference):
            known = self._substitutions.get(node.get("refname", ""))
            return str((known.astext() if known is not None else "") or node.astext())
        if isinstance(node, nodes.footnote_reference | nodes.system_message | nodes.image | nodes.raw):
            return ""
        parts: list[str] = []
        for child in node.children:
            if isinstance(child, nodes.footnote_reference) and parts:
                parts[-1] = parts[-1].rstrip()
            parts.append(self.words(child))
        return "".join(parts)


def _marks(parent: nodes.Element) -> Iterator[str]:
    if not isinstance(parent, nodes.enumerated_list):
        return iter(lambda: "-", None)
    first = int(parent.get("start", 1))
    written: dict[str, Callable[[int], str]] = {
        "loweralpha": lambda number: chr(96 + number),
        "upperalpha": lambda number: chr(64 + number),
    }
    write = written.get(parent.get("enumtype", ""), str)
    return (
        f"{parent.get('prefix', '')}{write(number)}{parent.get('suffix', '.')}" for number in count(first)
    )


def _bodies(item: nodes.Node) -> Iterator[nodes.Node]:
    """What stands in an item beside its term."""
    for node in item.children:
        if isinstance(node, nodes.definition | nodes.field_body | nodes.description):
            yield from node.children
        elif not isinstance(node, nodes.term | nodes.classifier | nodes.field_name | nodes.option_group):
            yield node

"""Directives and roles that docutils does not know, reduced to their words.

Documents written for Sphinx are full of them, and docutils alone would drop what is inside. Directives that
read files or the network are replaced by silent ones. Does not know Sphinx beyond the shape of its markup.
"""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en

_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\| )?([\w:+.-]+)::", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:+.-]{0,100}):`")
_TITLED = re.compile(r"(.*\S)\s+<[^<>]*>", re.DOTALL)
_CODE = "code code-block sourcecode testcode doctest highlight-block prompt ipython"
_SILENT = """
image include raw literalinclude toctree contents index highlight module currentmodule automodule autoclass
autofunction automethod autosummary meta only sectionauthor moduleauthor codeauthor default-domain testsetup
testcleanup testoutput graphviz plot sectnum header footer date tabularcolumns mermaid inheritance-diagram
rst-class title
"""
_NOTES = "seealso todo centered"
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


class _Lenient(Directive):  # type: ignore[misc]
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


class _Silent(_Lenient):
    """Says nothing."""

    def run(self) -> list[nodes.Node]:
        return []


class _Figure(_Lenient):
    """A figure's caption, without asking a picture file for its width."""

    def run(self) -> list[nodes.Node]:
        return self._parsed(self.content)


class _Code(_Lenient):
    """A block of code."""

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        return [nodes.literal_block(text, text)] if text.strip() else []


class _Note(_Lenient):
    """A note whose words may begin behind the directive."""

    optional_arguments = 0

    def run(self) -> list[nodes.Node]:
        return self._parsed(self.content)


class _Version(_Lenient):
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


class _Generic(_Lenient):
    """The argument as it stands, then what is inside."""

    def run(self) -> list[nodes.Node]:
        said = [nodes.paragraph(line, line.strip()) for line in (self.arguments or [""])[0].split("\n")]
        return [*said, *self._parsed(self.content)]


def register_unknown_markup(text: str) -> None:
    """Teach docutils the directives and roles of a text that it does not know."""
    for name in {name.lower() for name in _DIRECTIVE.findall(text)}:
        if name in _DIRECTIVES or name not in en.directives:
            directives.register_directive(name, _DIRECTIVES.get(name.rpartition(":")[2], _Generic))
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
    **dict.fromkeys(_SILENT.split(), _Silent),
    **dict.fromkeys(_CODE.split(), _Code),
    **dict.fromkeys(_NOTES.split(), _Note),
    **dict.fromkeys(_VERSIONS, _Version),
    "figure": _Figure,
}

"""Python files as reference pages: what their docstrings say, under the names and signatures they document.

Code itself is left out.
"""

import ast
import inspect
import re
import textwrap
import warnings
from collections.abc import Iterator
from email.errors import MessageError
from email.parser import Parser
from itertools import takewhile
from pathlib import PurePosixPath

from fathom.errors import Unreadable
from fathom.reading import Document, build_document, heading_block
from fathom.reading.parsers import markdown, plain_text, rst

_ABOUT = ("Requires-Python", "License-Expression", "License", "Author")


def read_metadata(text: str, *, name: str) -> Document:
    """One package's description of itself."""
    try:
        message = Parser().parsestr(text)
    except (MessageError, ValueError) as error:
        raise Unreadable(f"{name} is not package metadata: {error}") from error
    package, version = str(message["Name"] or ""), str(message["Version"] or "")
    if not package:
        raise Unreadable(f"{name} is not package metadata: it has no Name")
    body = str(message.get_payload()) or _unfold(str(message["Description"] or ""))
    kind = str(message["Description-Content-Type"] or "text/x-rst").partition(";")[0].strip()
    facts = [
        f"- {key}: {value}" for key in _ABOUT if (value := str(message[key] or "")) and "\n" not in value
    ]
    blocks = [heading_block(1, f"{package} {version}"), str(message["Summary"] or ""), "\n".join(facts)]
    return build_document(
        [*blocks, *_description_blocks(body, kind)],
        how="metadata",
        name=name,
        title=f"{package} {version}".strip(),
    )


def _description_blocks(body: str, kind: str) -> list[str]:
    if kind == "text/markdown":
        return markdown.markdown_blocks(body)
    return plain_text.text_blocks(body) if kind == "text/plain" else rst.rst_blocks(body)


def _unfold(description: str) -> str:
    """Old metadata folds the README into a header, each line behind blanks or a bar."""
    return "\n".join(
        line.removeprefix("        ").removeprefix("       |") for line in description.split("\n")
    )


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_LIBRARY = re.compile(r"^(?:.*/)?(?:site-packages|dist-packages|src|python\d\.\d+)/(?=.)")
_MARKDOWN = re.compile(r"^[ \t]*```|\]\(\S|\]\[", re.MULTILINE)
_MARKUP = re.compile(r"[`*|:]|_\b|^\s|\n(?=[ ])|^([=~^\-+#\"'])\1", re.MULTILINE)
_SECTION = re.compile(r"(?:[A-Z][a-z]+ ?){1,3}:")
_ARGUMENT = re.compile(r"\*{0,2}[\w.]+(?:, \*{0,2}\w+)*(?: ?\([^)]*\))?\s?: ?\S|\*{0,2}[\w.]+ ?\([^)]*\):$")
_MAX_SIGNATURE = 300


def read_python(text: str, *, name: str) -> Document:
    """Every docstring under a heading of its own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a stranger's doubtful escape is not our warning
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"{name} is not valid Python: {error}") from error
    module = _module(name)
    blocks: list[str] = []
    if said := ast.get_docstring(tree):
        blocks += [heading_block(1, module), *_docstring_blocks(said, level=2)]
    for dotted, node, docstring in _find_docstrings(tree, module):
        blocks += [heading_block(2, _signature(dotted, node)), *_docstring_blocks(docstring, level=3)]
    return build_document(blocks, how="python", name=name, title=module)


def _docstring_blocks(docstring: str, *, level: int) -> list[str]:
    """A docstring's blocks; many projects write theirs in Markdown, many in plain words."""
    if not _MARKUP.search(docstring):
        return plain_text.text_blocks(docstring)
    if _MARKDOWN.search(docstring):
        return markdown.markdown_blocks(docstring)
    return rst.rst_blocks(list_arguments(docstring), level=level)


def list_arguments(docstring: str) -> str:
    """The same docstring with the indented lines of `Args:` sections as list items."""
    lines, out = docstring.expandtabs(4).split("\n"), list[str]()
    while lines:
        line = lines.pop(0)
        out.append(line)
        if not _SECTION.fullmatch(line) or not lines or not lines[0].startswith(" "):
            continue
        inside = list(takewhile(lambda line: not line.strip() or line.startswith(" "), lines))
        del lines[: len(inside)]
        out += ["", *_items(textwrap.dedent("\n".join(inside)).split("\n")), ""]
    return "\n".join(out)


def _items(lines: list[str]) -> list[str]:
    """Lines that begin arguments as list items; other lines as they are."""
    starts = [line for line in lines if line and not line.startswith(" ")]
    if not all(_ARGUMENT.match(line) for line in starts):
        return lines
    return [f"- {line.replace('*', chr(92) + '*')}" if line in starts else f"  {line}" for line in lines]


def _module(name: str) -> str:
    path = PurePosixPath(_LIBRARY.sub("", name))
    parts = [*path.parent.parts, path.stem] if _LIBRARY.match(name) else [path.stem]
    if parts[-1] == "__init__":
        parts = parts[:-1] or [PurePosixPath(name).parent.name]
    return ".".join(parts) or path.stem


def _find_docstrings(parent: ast.AST, prefix: str) -> Iterator[tuple[str, Definition, str]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, Definition):
            dotted = f"{prefix}.{node.name}"
            if said := ast.get_docstring(node, clean=False):
                yield dotted, node, inspect.cleandoc(said)
            if isinstance(node, ast.ClassDef):
                yield from _find_docstrings(node, dotted)
        elif isinstance(node, ast.If | ast.Try):
            yield from _find_docstrings(node, prefix)


def _signature(dotted: str, node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        return f"class {dotted}({bases})" if bases else f"class {dotted}"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    before = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    full = f"{before}{dotted}({ast.unparse(node.args)}){returns}"
    return full if len(full) <= _MAX_SIGNATURE else f"{before}{dotted}(…)"

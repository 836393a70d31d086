"""Python files as reference pages: what their docstrings say, under the names and signatures they document.

Code itself is left out. Does not know how a package is imported; the dotted name is read off the path.
"""

import ast
import inspect
import re
import warnings
from collections.abc import Iterator
from pathlib import PurePosixPath

from fathom.errors import Unreadable
from fathom.reading import markdown, rst
from fathom.reading.blocks import document, heading
from fathom.reading.port import Document

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef

_LIBRARY = re.compile(r"(?:.*/)?(?:site-packages|dist-packages|src|python\d\.\d+)/(?=.)")
_MARKDOWN = re.compile(r"^\s*```|\]\(\S|\]\[", re.MULTILINE)
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
        blocks += [heading(1, module), *_said(said, level=2)]
    for dotted, node, docstring in _documented(tree, module):
        blocks += [heading(2, _signature(dotted, node)), *_said(docstring, level=3)]
    return document(blocks, how="python", name=name, title=module)


def _said(docstring: str, *, level: int) -> list[str]:
    """A docstring's blocks; many projects write theirs in Markdown."""
    return markdown.blocks(docstring) if _MARKDOWN.search(docstring) else rst.blocks(docstring, level=level)


def _module(name: str) -> str:
    path = PurePosixPath(_LIBRARY.sub("", name))
    parts = [*path.parent.parts, path.stem] if _LIBRARY.match(name) else [path.stem]
    if parts[-1] == "__init__":
        parts = parts[:-1] or [PurePosixPath(name).parent.name]
    return ".".join(parts) or path.stem


def _documented(parent: ast.AST, prefix: str) -> Iterator[tuple[str, Definition, str]]:
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, Definition):
            dotted = f"{prefix}.{node.name}"
            if said := ast.get_docstring(node, clean=False):
                yield dotted, node, inspect.cleandoc(said)
            if isinstance(node, ast.ClassDef):
                yield from _documented(node, dotted)
        elif isinstance(node, ast.If | ast.Try):
            yield from _documented(node, prefix)


def _signature(dotted: str, node: Definition) -> str:
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in node.bases)
        return f"class {dotted}({bases})" if bases else f"class {dotted}"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    before = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    full = f"{before}{dotted}({ast.unparse(node.args)}){returns}"
    return full if len(full) <= _MAX_SIGNATURE else f"{before}{dotted}(…)"

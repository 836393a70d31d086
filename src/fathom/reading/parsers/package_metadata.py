"""Installed packages' `METADATA` and `PKG-INFO` files: name, version, summary, and the README they carry.

Does not know how packages are installed.
"""

from email.errors import MessageError
from email.parser import Parser

from fathom.errors import Unreadable
from fathom.reading.blocks import document, heading
from fathom.reading.parsers import markdown, plain, rst
from fathom.reading.port import Document

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
    body = str(message.get_payload()) or _unfolded(str(message["Description"] or ""))
    kind = str(message["Description-Content-Type"] or "text/x-rst").partition(";")[0].strip()
    facts = [
        f"- {key}: {value}" for key in _ABOUT if (value := str(message[key] or "")) and "\n" not in value
    ]
    blocks = [heading(1, f"{package} {version}"), str(message["Summary"] or ""), "\n".join(facts)]
    return document(
        [*blocks, *_described(body, kind)], how="metadata", name=name, title=f"{package} {version}".strip()
    )


def _described(body: str, kind: str) -> list[str]:
    if kind == "text/markdown":
        return markdown.blocks(body)
    return plain.paragraphs(body) if kind == "text/plain" else rst.blocks(body)


def _unfolded(description: str) -> str:
    """Old metadata folds the README into a header, each line behind blanks or a bar."""
    return "\n".join(
        line.removeprefix("        ").removeprefix("       |") for line in description.split("\n")
    )

"""What a tool of an MCP server answered, as the fields we need: JSON, or a text of labelled lines.

Does not know servers, nor what the fields are for.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_LABEL = re.compile(r"^(?:[-*] )?\**(?P<label>[A-Za-z][\w' -]{0,60}?)\**:\**(?:\s+(?P<value>.*)|)$")
_ONE_LINE = ("title", "url", "id")
_RULE = re.compile(r"^\s*(?:-{3,}|={3,}|\*{3,})\s*$")


def read_json(answer: object, items: str, fields: Mapping[Any, str]) -> list[dict[str, str]] | None:
    """The rows of a JSON answer, by our names of their fields; None if it has none where they should be."""
    found = _parse_json(answer)
    for name in filter(None, items.split(".")):
        found = found.get(name) if isinstance(found, Mapping) else found
    rows = [found] if isinstance(found, Mapping) and not items else found
    if not isinstance(rows, list):
        return None
    return [
        {ours: str(row[theirs]) for ours, theirs in fields.items() if row.get(theirs) is not None}
        for row in rows
        if isinstance(row, Mapping)
    ]


def is_json(answer: object) -> bool:
    """Whether an answer is a value, and no text."""
    return _parse_json(answer) is not None


def _parse_json(answer: object) -> Any:
    if not isinstance(answer, str):
        return answer
    try:
        value = json.loads(answer)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def labelled_rows(text: str, fields: Mapping[Any, str]) -> Iterator[dict[str, str]]:
    """The rows of a text: `Label: value`, lines that go on with it, and a new row where a label repeats.

    A label that nobody asked for ends a value, if it stands as an entry of a list; a ruled line ends a row.
    """
    names = {theirs.casefold(): ours for ours, theirs in fields.items()}
    row: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        found = _LABEL.match(line)
        ours = names.get(found["label"].casefold()) if found else None
        if _RULE.match(line) or (ours and ours in row):
            if row:
                yield _joined(row)
            row, name = {}, ""
        if found and ours:
            name, row[ours] = ours, [found["value"] or ""]
        elif found and line.startswith(("- ", "* ")):
            name = ""
        elif name:
            row[name].append(line)
    if row:
        yield _joined(row)


def _joined(row: dict[str, list[str]]) -> dict[str, str]:
    """A row as it is told; a title and an address are one line."""
    kept = {name: lines[:1] if name in _ONE_LINE else lines for name, lines in row.items()}
    return {name: "\n".join(lines).strip() for name, lines in kept.items()}

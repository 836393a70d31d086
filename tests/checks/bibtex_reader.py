"""BibTeX read back, strictly.

Does not know who wrote it.
"""

import re


def read_bibtex(text: str) -> dict[str, dict[str, str]]:
    """A strict reader: entries by key, fields by name; braces must close, and nothing is left over."""
    entries: dict[str, dict[str, str]] = {}
    at = 0
    while found := re.compile(r"\s*@(\w+)\{([a-z0-9]+),\n").match(text, at):
        fields, at = {"kind": found[1]}, found.end()
        while field := re.compile(r"  (\w+) = \{").match(text, at):
            at, depth, start = field.end(), 1, field.end()
            while depth:
                if text[at] == "\\":
                    at += 1
                elif text[at] in "{}":
                    depth += 1 if text[at] == "{" else -1
                at += 1
            assert field[1] not in fields
            fields[field[1]] = text[start : at - 1]
            assert text[at : at + 2] == ",\n"
            at += 2
        assert text[at : at + 2] == "}\n"
        assert found[2] not in entries, "a key twice"
        entries[found[2]], at = fields, at + 2
    assert text[at:].strip() == ""
    return entries

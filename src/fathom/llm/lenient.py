"""JSON as weak models write it: any quotation marks, comments, bare words, NaN, no end.

Does not know forms. What is sound JSON is better read by a strict reader; this one guesses.
"""

import re
from typing import Any

_SPACE = re.compile(r"(?:\s|,|//[^\n]*|/\*.*?\*/|#[^\n]*)*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d[\d_]*)(?:\.\d*)?(?:[eE][-+]?\d+)?(?=[\s,}\]]|$)")
_BARE = re.compile(r"[^,:{}\[\]\n]+")
_AFTER_STRING = re.compile(r"\s*(?:[,:}\]]|//|/\*|#|$)")
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "«": "»"}
_WORDS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "none": None, "nan": None, "undefined": None,
    "infinity": None, "-infinity": None, "inf": None,
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 40


def sayable(text: str) -> str:
    """The text with halves of characters put together, and without those whose other half is missing."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def read(text: str) -> tuple[Any, int]:
    """The value at the beginning of the text, as far as it goes, and where it ends; 0 when it was cut off."""
    reader = _Reader(text)
    value = reader.value(0)
    return value, 0 if reader.is_cut else reader.at


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.is_cut = False

    def value(self, depth: int) -> Any:
        self._skip()
        if self._is_over() or depth > _DEEPEST:
            self.is_cut = True
            return None
        mark = self.text[self.at]
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._list(depth)
        if mark in _CLOSING:
            return self._string(_CLOSING[mark])
        return self._word()

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while not self._closes("}"):
            start = self.at
            name = self.value(depth + 1)
            self._skip()
            if not self._is_over() and self.text[self.at] == ":":
                self.at += 1
                value = self.value(depth + 1)
                if not (self.is_cut and value is None):
                    found[str(name)] = value
            if self.at == start:  # nothing that can be read here
                self.at += 1
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while not self._closes("]"):
            start = self.at
            value = self.value(depth + 1)
            if not (self.is_cut and value is None):
                found.append(value)
            if self.at == start:
                self.at += 1
        return found

    def _closes(self, mark: str) -> bool:
        """Whether the end of an object or a list is here; where the text ends, all of them end."""
        self._skip()
        if self._is_over():
            self.is_cut = True
            return True
        if self.text[self.at] in "}]":
            self.at += self.text[self.at] == mark  # the other one belongs to whoever holds this
            return True
        return False

    def _string(self, closing: str) -> str:
        """A string; a mark that nothing which may follow a string follows is part of it."""
        self.at += 1
        said: list[str] = []
        while not self._is_over():
            mark = self.text[self.at]
            self.at += 1
            if mark == "\\" and not self._is_over():
                said.append(self._escaped())
            elif mark == closing and _AFTER_STRING.match(self.text, self.at):
                return sayable("".join(said))
            else:
                said.append(mark)
        self.is_cut = True
        return sayable("".join(said))

    def _escaped(self) -> str:
        mark = self.text[self.at]
        self.at += 1
        if mark == "u" and re.match(r"[0-9a-fA-F]{4}", self.text[self.at : self.at + 4]):
            self.at += 4
            return chr(int(self.text[self.at - 4 : self.at], 16))
        return _ESCAPES.get(mark, mark)

    def _word(self) -> Any:
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            digits = number.group().replace("_", "")
            return int(digits) if re.fullmatch(r"[-+]?\d{1,18}", digits) else float(digits)
        bare = _BARE.match(self.text, self.at)
        if bare is None:
            return None
        self.at = bare.end()
        word = bare.group().strip()
        return _WORDS.get(word.lower(), word)

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at

    def _is_over(self) -> bool:
        return self.at >= len(self.text)

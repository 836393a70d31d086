"""A plan as a person changes it at the terminal: an editable list, and what a typed line does to it.

Does not know the terminal. Only a line that is nothing but a command is one: in a sentence, words such as
"no", "stop" or "now" are just words.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from fathom.state import ReviewAnswer

Part = Literal["queries", "questions"]
_YES = {"", "y", "yes", "ok"}
_REMOVE = re.compile(r"-\s*(q?\d+(?:[\s,]+q?\d+)*)$", re.IGNORECASE)
_NUMBER = re.compile(r"(q?)(\d+)$", re.IGNORECASE)
_SUGGESTED = re.compile(r"s(\d+)$", re.IGNORECASE)


@dataclass(frozen=True)
class Draft:
    """The queries and sub-questions as they stand now, and as they were."""

    queries: tuple[str, ...]
    questions: tuple[str, ...]
    suggested: tuple[str, ...] = ()
    before: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @classmethod
    def of(cls, shown: Mapping[str, Any]) -> "Draft":
        """The plan on the table."""
        queries, questions = tuple(shown.get("queries") or ()), tuple(shown.get("questions") or ())
        return cls(queries, questions, tuple(shown.get("suggested") or ()), (queries, questions))

    @property
    def is_changed(self) -> bool:
        """Whether anything is not as it was planned."""
        return (self.queries, self.questions) != self.before

    def entry(self, part: Part, number: int) -> str:
        """The entry of that number, from 1; nothing if there is none."""
        entries = self.queries if part == "queries" else self.questions
        return entries[number - 1] if 0 < number <= len(entries) else ""

    def edited(self, part: Part, number: int, words: str) -> "Draft":
        """Another wording for one entry."""
        entries = [*(self.queries if part == "queries" else self.questions)]
        entries[number - 1] = words
        return self._with(part, tuple(entries))

    def added(self, part: Part, words: str) -> "Draft":
        """One entry more."""
        return self._with(part, (*(self.queries if part == "queries" else self.questions), words))

    def without(self, numbers: set[tuple[Part, int]]) -> "Draft":
        """Some entries less."""
        queries = tuple(q for n, q in enumerate(self.queries, 1) if ("queries", n) not in numbers)
        questions = tuple(q for n, q in enumerate(self.questions, 1) if ("questions", n) not in numbers)
        return replace(self, queries=queries, questions=questions)

    def undone(self) -> "Draft":
        """As it was planned."""
        return replace(self, queries=self.before[0], questions=self.before[1])

    def answer(self) -> ReviewAnswer:
        """Go on with it."""
        if not self.is_changed:
            return ReviewAnswer(action="approve")
        questions = list(self.questions) if self.questions != self.before[1] else []
        return ReviewAnswer(action="edit", queries=list(self.queries), questions=questions)

    def _with(self, part: Part, entries: tuple[str, ...]) -> "Draft":
        return replace(self, queries=entries) if part == "queries" else replace(self, questions=entries)


@dataclass(frozen=True)
class Wish:
    """What a typed line wants: a kind, and what it is about."""

    kind: Literal["go on", "edit", "remove", "add", "feedback", "finish", "leave", "undo", "help", "nothing"]
    part: Part = "queries"
    numbers: frozenset[tuple[Part, int]] = frozenset()
    text: str = ""


_KEYS: Mapping[str, Wish] = {
    "w": Wish("finish"),
    "q": Wish("leave"),
    "u": Wish("undo"),
    "?": Wish("help"),
    "h": Wish("help"),
    "f": Wish("feedback"),
    "a": Wish("add"),
    "+": Wish("add"),
    "+q": Wish("add", "questions"),
}


def read_wish(line: str, draft: Draft) -> Wish:
    """What a person wants with the line they typed."""
    words = " ".join(line.split())
    low = words.lower()
    if low in _YES:
        return Wish("go on")
    if low in _KEYS:
        return _KEYS[low]
    if found := _NUMBER.match(low):
        return _edit(("questions" if found.group(1) else "queries", int(found.group(2))), draft, words)
    if found := _REMOVE.match(low):
        named = frozenset(_place(word) for word in re.split(r"[\s,]+", found.group(1)))
        missing = next((place for place in named if not draft.entry(*place)), None)
        return Wish("nothing", text=_no_entry(missing)) if missing else Wish("remove", numbers=named)
    if (found := _SUGGESTED.match(low)) and 0 < int(found.group(1)) <= len(draft.suggested):
        return Wish("add", text=draft.suggested[int(found.group(1)) - 1])
    if words.startswith("+"):
        is_question = low.startswith("+q ")
        return Wish(
            "add", "questions" if is_question else "queries", text=words[2 + is_question - 1 :].strip()
        )
    if " " not in words:
        return Wish("nothing", text=f"“{words}” alone decides nothing: press a key, or say it in a sentence.")
    return Wish("feedback", text=words)


def _place(word: str) -> tuple[Part, int]:
    return ("questions", int(word[1:])) if word.startswith("q") else ("queries", int(word))


def _edit(place: tuple[Part, int], draft: Draft, words: str) -> Wish:
    if not draft.entry(*place):
        return Wish("nothing", text=_no_entry(place))
    return Wish("edit", place[0], frozenset({place}), words)


def _no_entry(place: tuple[Part, int]) -> str:
    kind = "query" if place[0] == "queries" else "sub-question"
    return f"There is no {kind} {place[1]}."

"""Texts that make a regular expression work hardest, derived from the expression itself.

For every repetition in a pattern there is a text that reaches it and then repeats what it repeats, and one
that begins the pattern again and again. Does not know what the pattern is for.
"""

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

_parser: Any = importlib.import_module("re._parser")
_LONG = 60  # a repetition that ends before this many is no danger
_LETTERS = "a 1가A\n,.-('\"|`[<*#_:/&+年é\t"
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_UNITS = ("a", " ", "1", "가", "A", "\n", "(", "Ab ", "1,", "가나 ")


@dataclass(frozen=True)
class Attack:
    """A text of any length: a beginning, and what is repeated behind it."""

    start: str
    unit: str

    def text(self, chars: int) -> str:
        """The text with about so many characters, and an end that nothing expects."""
        return self.start + self.unit * (chars // len(self.unit)) + "\0"


def attacks_on(pattern: str, flags: int) -> list[Attack]:
    """Every attack that the pattern's own text suggests, and those that suit any pattern."""
    tree = _parser.parse(pattern, flags & ~32 if isinstance(pattern, bytes) else flags)
    found = dict.fromkeys(Attack("", unit) for unit in _UNITS)
    for before, body in _repeats(list(tree), ""):
        for start, unit in ((before, body), ("", before + body), ("", before), ("", body + before)):
            if unit:
                found[Attack(start, unit)] = None
    return list(found)


def _repeats(nodes: Sequence[Any], before: str) -> Iterator[tuple[str, str]]:
    """Every long repetition: a text that leads to it, and one that it repeats."""
    for at, (op, args) in enumerate(nodes):
        reached = before + _example(nodes[:at])
        name = str(op)
        if name in _REPEATS:
            _, most, body = args
            if most == _parser.MAXREPEAT or most > _LONG:
                behind = _example(nodes[at + 1 :])
                yield from ((reached, unit) for unit in _examples(body, reached + behind))
            yield from _repeats(list(body), reached)
        elif name == "BRANCH":
            for branch in args[1]:
                yield from _repeats(list(branch), reached)
                yield reached + _example(branch), ""
        else:
            for body in _bodies(name, args):
                yield from _repeats(list(body), reached)


def _bodies(name: str, args: Any) -> list[Any]:
    if name == "SUBPATTERN":
        return [args[3]]
    if name in {"ASSERT", "ASSERT_NOT"}:
        return [args[1]]
    return [args] if name == "ATOMIC_GROUP" else []


def _examples(body: Any, likely: str) -> list[str]:
    """Texts that a repeated part matches; of a set of letters several, also those around it."""
    nodes = list(body)
    if len(nodes) == 1 and str(nodes[0][0]) in {"IN", "ANY", "NOT_LITERAL", "LITERAL"}:
        letters = [c for c in dict.fromkeys(likely + _LETTERS) if _matches(nodes[0], c)]
        return letters[:6] or [_example(nodes)]
    if len(nodes) == 1 and str(nodes[0][0]) == "SUBPATTERN":
        return _examples(nodes[0][1][3], likely)
    if len(nodes) == 1 and str(nodes[0][0]) == "BRANCH":
        return [_example(branch) for branch in nodes[0][1][1]][:6]
    return [_example(nodes)]


def _example(nodes: Sequence[Any]) -> str:
    """A short text that these parts match, looking around left out."""
    return "".join(_one(node) for node in nodes)


def _one(node: Any) -> str:
    op, args = str(node[0]), node[1]
    if op in {"IN", "ANY", "NOT_LITERAL", "LITERAL"}:
        known = [letter for letter in _LETTERS if _matches(node, letter)]
        return known[0] if known else _first(node)
    if op in _REPEATS:
        return _example(args[2]) * int(max(args[0], 1 if args[1] > 1 else 0))
    if op == "BRANCH":
        return _example(args[1][0])
    if op in {"SUBPATTERN", "ATOMIC_GROUP"}:
        return "".join(_example(body) for body in _bodies(op, args))
    return ""


def _first(node: Any) -> str:
    if str(node[0]) == "LITERAL":
        return chr(node[1])
    for op, args in node[1]:
        if str(op) in {"LITERAL", "RANGE"}:
            return chr(args if str(op) == "LITERAL" else args[0])
    return "\u2603"


def _matches(node: Any, letter: str) -> bool:
    op, args, code = str(node[0]), node[1], ord(letter)
    if op == "LITERAL":
        return bool(code == args)
    if op == "NOT_LITERAL":
        return bool(code != args)
    if op == "ANY":
        return letter != "\n"
    is_negated = str(args[0][0]) == "NEGATE"
    return is_negated != any(_is_in(part, letter) for part in args)


def _is_in(part: Any, letter: str) -> bool:
    op, args = str(part[0]), part[1]
    if op == "LITERAL":
        return bool(ord(letter) == args)
    if op == "RANGE":
        return bool(args[0] <= ord(letter) <= args[1])
    if op != "CATEGORY":
        return False
    kind = str(args).removeprefix("CATEGORY_")
    is_kind = {
        "SPACE": letter.isspace(),
        "DIGIT": letter.isdigit(),
        "WORD": letter.isalnum() or letter == "_",
    }[kind.removeprefix("NOT_")]
    return is_kind != kind.startswith("NOT_")

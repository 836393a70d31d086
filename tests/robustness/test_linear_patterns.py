"""No regular expression of the package takes worse than linear time, whatever text it is given.

Every pattern is tried on texts made to hurt it. Time is the thread's own: a busy machine
changes nothing.
"""

import ast
import dataclasses
import importlib
import pkgutil
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from checks.attacks import Attack, attacks_on

import fathom
from fathom.evidence import checks
from fathom.evidence.checks import markers

# In small steps, so that an exponential pattern is stopped early.
_FIRST_LOOKS = (*(int(16 * 1.4**step) for step in range(11)), 2_000)
_SHORT, _LONG = 5_000, 20_000
_MOST_GROWTH = 8.0  # four times the text; a quadratic pattern takes sixteen times as long
_QUICK_S = 1.5e-6  # a letter: what is quicker on a short text cannot be quadratic
_HOPELESS_S = 0.03
_NOISE_S = 0.0003
_METHODS = {"search", "match", "fullmatch", "finditer", "findall", "sub", "split"}
_AT_START = {"match", "fullmatch"}


@dataclasses.dataclass(frozen=True)
class Used:
    """A pattern, where it is, and how it is used: found anywhere, or only tried at a text's beginning."""

    where: str
    pattern: re.Pattern[Any]
    ways: frozenset[str] = frozenset({"finditer"})


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(fathom.__path__, "fathom."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def _patterns_in(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, dict):
        for part in (*value.keys(), *value.values()):
            yield from _patterns_in(part, depth + 1)
    elif depth < 4 and isinstance(value, (tuple, list, set, frozenset)):
        for part in value:
            yield from _patterns_in(part, depth + 1)
    elif depth < 4 and dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _patterns_in(getattr(value, field.name), depth + 1)


def _compiled_in(module: ModuleType, source: str) -> Iterator[Used]:
    for name, value in vars(module).items():
        if name.startswith("__"):
            continue
        methods = set(re.findall(rf"\b{re.escape(name)}\.(\w+)\(", source)) & _METHODS
        for pattern in _patterns_in(value):
            yield Used(
                f"{module.__name__}.{name}", pattern, _ways(methods if name.startswith("_") else set())
            )


def _ways(methods: set[str]) -> frozenset[str]:
    is_at_start = methods and methods <= _AT_START
    return frozenset(methods if is_at_start else {"finditer"})


def _written_in(module: ModuleType, source: str) -> Iterator[Used]:
    """Patterns that stand in a call of `re`, such as `re.sub("...", ...)`."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        of, first = node.func.value, node.args[0]
        is_call_of_re = isinstance(of, ast.Name) and of.id == "re" and node.func.attr in _METHODS
        if is_call_of_re and isinstance(first, ast.Constant) and isinstance(first.value, str):
            ways = _ways({node.func.attr})
            yield Used(f"{module.__name__}:{first.value}", re.compile(first.value), ways)


def _lexicon() -> Iterator[Used]:
    for marker in markers.load_markers():
        yield Used(f"markers.{marker.kind}.en", marker.english)
        yield Used(f"markers.{marker.kind}.ko", marker.korean)
    for name in checks.load_table("phrases"):
        yield Used(f"phrases.{name}", checks.phrase_pattern(name))


def _every() -> list[Used]:
    found: dict[tuple[Any, int, frozenset[str]], Used] = {}
    for module in _modules():
        source = Path(module.__file__ or "").read_text("utf-8")
        for used in (*_compiled_in(module, source), *_written_in(module, source)):
            found.setdefault((used.pattern.pattern, used.pattern.flags, used.ways), used)
    for used in _lexicon():
        found.setdefault((used.pattern.pattern, used.pattern.flags, used.ways), used)
    return list(found.values())


def _seconds(used: Used, text: str) -> float:
    of: Any = text.encode("utf-8", "replace") if isinstance(used.pattern.pattern, bytes) else text
    began = time.thread_time()
    for way in used.ways:
        found = getattr(used.pattern, way)(of)
        if way == "finditer":
            for _ in found:
                pass
    return time.thread_time() - began


def _is_worse_than_linear(used: Used, attack: Attack) -> bool:
    before = taken = 0.0
    for chars in _FIRST_LOOKS:
        before, taken = taken, _seconds(used, attack.text(chars))
        if taken > _HOPELESS_S:
            return True
    if taken < _QUICK_S * chars and (taken < _NOISE_S or taken < _MOST_GROWTH * before):
        return False
    for _ in range(3):  # noise does not come three times
        short = max(_seconds(used, attack.text(_SHORT)), _NOISE_S)
        if short < _HOPELESS_S and _seconds(used, attack.text(_LONG)) < _MOST_GROWTH * short:
            return False
    return True


def _weak_point(used: Used) -> Attack | None:
    """The first attack that takes worse than linear time."""
    words = used.pattern.pattern
    written = words.decode("latin-1") if isinstance(words, bytes) else words
    attacks = attacks_on(written, used.pattern.flags)
    return next((attack for attack in attacks if _is_worse_than_linear(used, attack)), None)


def test_every_pattern_takes_linear_time_on_its_worst_text() -> None:
    every = _every()
    weak = [(used.where, attack) for used in every if (attack := _weak_point(used))]
    assert len(every) > 400  # they are really found
    assert not weak, "\n".join(f"{where}: {at.start[:60]!r} + {at.unit[:60]!r} * n" for where, at in weak)


@pytest.mark.parametrize(
    "slow",
    [
        r"\s+$",
        r"\s*\(",
        r"\([^)]*\)",
        r"(?:a+)+b",
        r"(?:<!--.*?-->)*<html",
        r"\bfrom .* to \d",
    ],
)
def test_a_slow_pattern_would_be_noticed(slow: str) -> None:
    assert _weak_point(Used("here", re.compile(slow)))


@pytest.mark.parametrize(
    "quick", [r"\s", r"(?<!\s)\s+$", r"(?<!\d)\d+(?:px|em)", r"\([^()]*\)", r"(?<!a)(?:a++)++b"]
)
def test_a_quick_pattern_is_left_alone(quick: str) -> None:
    assert _weak_point(Used("here", re.compile(quick))) is None

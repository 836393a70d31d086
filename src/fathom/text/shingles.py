"""How much of their wording two texts share: copies are one voice, whoever prints them.

A text is the set of its runs of five words; of Korean, Chinese and Japanese, of five characters, because
their spaces are a matter of taste. Of a long text the runs with the smallest hashes stand for all (a bottom-k
sketch), so that a signature stays small. Does not know what a text says.
"""

import re
import unicodedata
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_WIDTH = 5
_MOST = 1024  # the error of a likeness is then about 0.013
_SAME = 0.8
_BY_CHARACTER = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
_UNIT = re.compile(rf"[{_BY_CHARACTER}]|[^\W_{_BY_CHARACTER}]+")
_BASE = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, eq=False)
class Signature:
    """What is kept of a text to compare it by: hashes in rising order, and how many there were."""

    hashes: NDArray[np.uint64]
    count: int


def signature(text: str) -> Signature:
    """The signature of a text; the same on every machine and in every process."""
    units = _UNIT.findall(unicodedata.normalize("NFKC", text).casefold())
    if not units:
        return Signature(np.empty(0, np.uint64), 0)
    known = {unit: crc32(unit.encode("utf-8", "replace")) for unit in set(units)}
    numbers = np.array([known[unit] for unit in units], np.uint64)
    width = min(_WIDTH, len(numbers))
    hashes = np.zeros(len(numbers) - width + 1, np.uint64)
    for at in range(width):
        hashes = hashes * _BASE + numbers[at : at + len(hashes)]
    found = np.unique(_mixed(hashes))
    return Signature(found[:_MOST], len(found))


def likeness(a: Signature, b: Signature) -> float:
    """The share of runs that two texts have in common, 0 to 1; a text without words is like nothing."""
    if not a.count or not b.count:
        return 0.0
    both, counts = np.unique(np.concatenate((a.hashes, b.hashes)), return_counts=True)
    is_whole = a.count <= _MOST and b.count <= _MOST
    seen = counts if is_whole else counts[: min(_MOST, len(both))]
    return float((seen == 2).sum() / len(seen))


def same_text(a: Signature, b: Signature) -> bool:
    """Whether two texts are one text, give or take a menu and a date."""
    return likeness(a, b) >= _SAME


def _mixed(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hashes spread evenly, so that the smallest of them are a fair sample."""
    for factor, shift in zip(_MIX, (30, 27), strict=True):
        hashes = (hashes ^ (hashes >> np.uint64(shift))) * factor
    return hashes ^ (hashes >> np.uint64(31))


_SKETCH = 48


def sketch(text: str) -> str:
    """A signature short enough to travel with a page: its smallest hashes, eight letters each."""
    return "".join(f"{int(value) >> 32:08x}" for value in signature(text).hashes[:_SKETCH])


def is_copy(a: str, b: str) -> bool:
    """Whether two sketches are of one text, as far as they tell."""
    left, right = _hashes(a), _hashes(b)
    if not left or not right:
        return False
    smallest = sorted(left | right)[: max(len(left), len(right))]
    return sum(h in left and h in right for h in smallest) / len(smallest) >= _SAME


def _hashes(sketched: str) -> set[str]:
    return {sketched[at : at + 8] for at in range(0, len(sketched), 8)}

"""Load word lists, and find markers: small words that change a claim ("may", "only", "all", "not").

The words are in `lexicon/markers.toml`. Markers are compared by kind, so that an English quote and a Korean
statement can be compared. A difference is a suspicion, not an error.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

_NEVER = r"(?!)"
_ENGLISH = re.compile(r"[a-z]{2}")
_PURPOSE = re.compile(r"\bso that [^.;]{0,60}?\b(?:could|can|may|might)\b")


@dataclass(frozen=True)
class Marker:
    """One kind of marker, and which differences between statement and evidence are suspicious."""

    kind: str
    english: re.Pattern[str]
    korean: re.Pattern[str]
    is_kept: bool  # a marker of the quote must be in the statement
    needs_source: bool  # a marker of the statement must be in the evidence
    is_strong: bool  # and in the quote itself: elsewhere on the page is not enough
    answers: frozenset[str]  # kinds that can replace it

    def find_in(self, low: str, has_english: bool = True) -> re.Match[str] | None:
        """Return the first marker in a text in lower case, if any; in each language only where it is used."""
        found = self.english.search(low) if has_english else None
        return found or (None if low.isascii() else self.korean.search(low))


@cache
def load_table(name: str) -> dict[str, Any]:
    """Return a word list of the lexicon."""
    return tomllib.loads(files("fathom.evidence").joinpath(f"lexicon/{name}.toml").read_text("utf-8"))


@cache
def load_markers() -> tuple[Marker, ...]:
    """Return every kind of marker in the lexicon."""
    table = load_table("markers")
    return tuple(
        Marker(
            kind,
            re.compile(entry.get("en", _NEVER)),
            re.compile(entry.get("ko", _NEVER)),
            entry.get("keep", False),
            entry.get("add", False),
            entry.get("strong", False),
            frozenset({kind, *entry.get("or", [])}),
        )
        for kind, entry in table.items()
    )


@lru_cache(maxsize=1024)
def find_markers(text: str, kinds: frozenset[str] | None = None) -> dict[str, str]:
    """Return the kinds of markers in a text, all or some of them, each with its first word."""
    low = _PURPOSE.sub(" ", text.lower().replace("_", " "))  # "_not_" is an emphasized "not"
    has_english = _ENGLISH.search(low) is not None
    markers = (marker for marker in load_markers() if kinds is None or marker.kind in kinds)
    found = ((marker.kind, marker.find_in(low, has_english)) for marker in markers)
    return {kind: match.group().strip() for kind, match in found if match}


@cache
def load_phrase_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `lexicon/phrases.toml`, over lower-case text."""
    return re.compile(load_table("phrases")[name])


# Dimension and size in base units of every unit, by its name in lower case.
UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _size, *_names in map(str.split, load_table("units")["units"].strip().splitlines()):
    for _name in _names:
        UNITS.setdefault(_name, (_dimension, float(_size)))


def is_same_measure(left: str, right: str) -> bool:
    """Tell whether two dimensions are comparable; no dimension fits any."""
    if left == right or not left or not right:
        return True
    return {left, right} <= {"degree", "celsius"} or {left, right} <= {"degree", "fahrenheit"}

"""Markers: small words that change what a sentence claims ("may", "only", "because", "all", "not").

The words are in `lexicon/markers.toml`. Works by kind and not by word, so that an English quote and a Korean
statement can be compared. Does not know meaning: a difference is something to look at, not an error.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Marker:
    """One kind of marker, and which differences between statement and evidence it makes suspicious."""

    kind: str
    pattern: re.Pattern[str]
    is_kept: bool  # the quote's must be in the statement
    needs_source: bool  # the statement's must be in the evidence
    answers: frozenset[str]  # kinds that stand for it


def _load_table(name: str) -> dict[str, Any]:
    return tomllib.loads(files("fathom.evidence").joinpath(f"lexicon/{name}.toml").read_text("utf-8"))


@cache
def load_markers() -> tuple[Marker, ...]:
    """Return every kind of marker in the lexicon."""
    table = _load_table("markers")
    return tuple(
        Marker(
            kind,
            re.compile("|".join(filter(None, (entry.get("en"), entry.get("ko"))))),
            entry.get("keep", False),
            entry.get("add", False),
            frozenset({kind, *entry.get("or", [])}),
        )
        for kind, entry in table.items()
    )


@lru_cache(maxsize=8192)
def find_markers(text: str) -> dict[str, str]:
    """Return the kinds of markers in a text, each with the first word that shows it."""
    low = text.lower().replace("_", " ")  # "_not_" is a stressed "not"
    found = ((marker.kind, marker.pattern.search(low)) for marker in load_markers())
    return {kind: match.group().strip() for kind, match in found if match}


@cache
def load_phrase_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of `lexicon/phrases.toml`, over lower-case text."""
    return re.compile(_load_table("phrases")[name])


@cache
def load_opposites() -> dict[str, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return the pairs of opposites in `lexicon/poles.toml`, over lower-case text."""
    table = _load_table("poles")
    return {name: (re.compile(pair["one"]), re.compile(pair["other"])) for name, pair in table.items()}

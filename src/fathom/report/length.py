"""How long a report should be, and how that is spread over its parts.

Does not know who writes. Words are counted by spaces, in Korean too.
"""

from collections.abc import Mapping, Sequence

from fathom.state import EffortKind, Heading

_WORDS: Mapping[EffortKind, Mapping[str, int]] = {
    "fact": {"short": 80, "standard": 150, "long": 300},
    "comparison": {"short": 600, "standard": 1100, "long": 1600},
    "survey": {"short": 900, "standard": 1500, "long": 3000},
}
_WORDS_A_CLAIM = 55  # more than this about one claim is padding
_SHORTEST_PART = 60
_SHARES = {"high": 1.5, "medium": 1.0, "low": 0.6}
_WORDS_A_SENTENCE = 20
_SENTENCES_A_GROUP = 16


def word_target(length: str | None, kind: EffortKind, claims: int) -> int:
    """Return the words a report aims at: as set, or by the kind of question and what the evidence carries."""
    if length and length.isdigit():
        return int(length)
    wanted = _WORDS[kind][length or "standard"]
    return min(wanted, max(_WORDS["fact"]["standard"], _WORDS_A_CLAIM * claims))


def word_shares(words: int, headings: Sequence[Heading]) -> dict[str, int]:
    """Return the words of each part, by its claims and its priority."""
    weights = {h.id: _SHARES[h.priority] * (2 + min(len(h.claims), 12)) for h in headings}
    total = sum(weights.values()) or 1.0
    return {
        name: max(_SHORTEST_PART, 10 * round(words * weight / total / 10)) for name, weight in weights.items()
    }


def group_headings(headings: Sequence[Heading], words: Mapping[str, int]) -> list[list[Heading]]:
    """Return the parts in groups that are checked together, of about 16 sentences or more each."""
    groups: list[list[Heading]] = []
    size = 0.0
    for heading in headings:
        if not groups or size >= _SENTENCES_A_GROUP:
            groups.append([])
            size = 0.0
        groups[-1].append(heading)
        size += words[heading.id] / _WORDS_A_SENTENCE
    if len(groups) > 1 and size < _SENTENCES_A_GROUP:
        last = groups.pop()
        groups[-1] += last
    return groups

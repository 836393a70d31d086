"""The third tier: everything a run knows, searched on demand.

Does not know prompts. By words and their rarity, in any language; nothing is ever forgotten here.
"""

from collections.abc import Sequence

from fathom.state import Claim
from fathom.text.ranking import bm25


def recalled(claims: Sequence[Claim], words: Sequence[str], most: int) -> list[Claim]:
    """The claims that best fit any of the words, best first; none that has nothing in common with them."""
    scores = closeness(claims, words)
    ranked = sorted(range(len(claims)), key=lambda n: (-scores[n], claims[n].id))
    return [claims[n] for n in ranked[:most] if scores[n] > 0]


def closeness(claims: Sequence[Claim], words: Sequence[str]) -> list[float]:
    """How close each claim is to what it is closest to, from 0 to 1."""
    if not claims or not words:
        return [0.0] * len(claims)
    rows = bm25(list(words), [claim.statement for claim in claims])
    tops = [max(row) or 1.0 for row in rows]
    return [max(row[n] / top for row, top in zip(rows, tops, strict=True)) for n in range(len(claims))]

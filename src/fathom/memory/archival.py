"""The third tier: everything a run knows, searched on demand.

Does not know prompts. By words and their rarity, in any language; nothing is ever forgotten here.
"""

from collections.abc import Iterable, Sequence

from fathom.state import Claim
from fathom.text.ranking import bm25, likeness, terms

_SAME = 0.8


def recalled(
    claims: Sequence[Claim], words: Sequence[str], most: int, beside: Sequence[Claim] = ()
) -> list[Claim]:
    """The claims that best fit any of the words, best first, each thing once; none that has nothing in common
    with them, or that says what stands `beside` them already."""
    scores = closeness(claims, words)
    ranked = sorted(range(len(claims)), key=lambda n: (-scores[n], claims[n].id))
    return each_once((claims[n] for n in ranked if scores[n] > 0), most, beside)


def each_once(ranked: Iterable[Claim], most: int, beside: Sequence[Claim] = ()) -> list[Claim]:
    """The first claims, without those that say nearly what one before them or `beside` them says."""
    chosen: list[Claim] = []
    bags = [terms(claim.statement) for claim in beside]
    for claim in ranked:
        if len(chosen) == most:
            break
        words = terms(claim.statement)
        # What shares fewer words than that with each of them is like none of them.
        shared = max(map(len, map(words.__and__, bags)), default=0)
        if shared < _SAME * len(words) or all(likeness(words, bag) < _SAME for bag in bags):
            chosen.append(claim)
            bags.append(words)
    return chosen


def closeness(claims: Sequence[Claim], words: Sequence[str]) -> list[float]:
    """How close each claim is to what it is closest to, from 0 to 1."""
    if not claims or not words:
        return [0.0] * len(claims)
    rows = bm25(list(words), [claim.statement for claim in claims])
    tops = [max(row) or 1.0 for row in rows]
    return [max(row[n] / top for row, top in zip(rows, tops, strict=True)) for n in range(len(claims))]

"""Findings under short keys, as models see them, and the way back.

Does not know prompts. A model never sees an address or a hash, and a key it was not given means nothing.
"""

from collections.abc import Mapping, Sequence

from fathom.llm.port import Point
from fathom.text.fitting import fitting_entries

MOST_CLAIMS = 80
CLAIM_TOKENS = 2_500

Keyed = Mapping[str, Point]


def keyed(points: Sequence[Point]) -> dict[str, Point]:
    """The strongest findings under short keys."""
    lines = {f"E{n}": point.finding.statement for n, point in enumerate(points[:MOST_CLAIMS], 1)}
    return dict(zip(fitting_entries(lines, CLAIM_TOKENS), points, strict=False))


def weight(point: Point) -> str:
    """What a writer should know of a finding: how sure it is, how many say it, a primary source or not."""
    primary = ", a primary source among them" if point.finding.is_primary else ""
    return f"{point.finding.tag}, independent sources: {len(point.finding.voices)}{primary}"


def ids_of(keys: Sequence[str], points: Keyed) -> list[str]:
    """The claims that keys stand for."""
    return [i for key in keys if (k := key.strip().strip("[]")) in points for i in points[k].ids]

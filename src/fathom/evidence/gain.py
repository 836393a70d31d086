"""What looking brought, measured: new findings a query and a dollar.

Does not know what a finding is or when to stop. Smoothed over rounds, so that one lucky or unlucky round does
not decide alone.
"""

from fathom.state import Gain

_WEIGHT = 0.5  # of the round that has just ended; each one before weighs half as much as the next


def measured(known: int, queries: int, usd: float, before: Gain | None = None) -> Gain:
    """The gain of a round that asked so many queries, cost so much, and ended with so many findings known."""
    new = max(0, known - (before.known if before else 0))
    per_query = new / queries if queries else 0.0
    per_usd = new / usd if usd > 0 else None
    return Gain(
        known=known,
        new=new,
        queries=queries,
        usd=max(0.0, usd),
        per_query=per_query,
        per_usd=per_usd,
        # A round that asked nothing, because a thread knew something already, says nothing of queries.
        smoothed_per_query=_smoothed(
            per_query, before.smoothed_per_query if before and before.queries else None
        )
        or 0.0,
        smoothed_per_usd=_smoothed(per_usd, before.smoothed_per_usd if before else None),
    )


def _smoothed(now: float | None, before: float | None) -> float | None:
    if now is None or before is None:
        return before if now is None else now
    return _WEIGHT * now + (1 - _WEIGHT) * before

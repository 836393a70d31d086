"""What a round brought, for the judgement: gain, and the best of what is new.

Does not know scores or rules.
"""

from collections.abc import Sequence

from fathom.evidence.gain import measured
from fathom.state import Claim, Finding, Gain, Judgement, Query

_MOST_FOUND = 5


def gain_of(
    findings: Sequence[Finding], asked: Sequence[Query], spent_usd: float, before: Sequence[Judgement]
) -> Gain:
    """The gain of the round after these judgements."""
    last = before[-1] if before else None
    queries = sum(query.round == len(before) + 1 for query in asked)
    usd = spent_usd - (last.spent_usd if last else 0.0)
    return measured(len(findings), queries, usd, last.gain if last else None)


def best_new(claims: Sequence[Claim], before: Sequence[Judgement]) -> list[str]:
    """The ids of the best claims that were not there a round ago."""
    new = claims[before[-1].claims :] if before else claims
    return [claim.id for claim in sorted(new, key=lambda c: -c.relevance)[:_MOST_FOUND]]

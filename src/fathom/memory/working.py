"""The first tier: the last ten rounds, in a few lines each: what was asked, found and judged.

Does not know prompts. The two best findings of each round make the twenty latest learnings.
"""

from collections.abc import Sequence

from fathom.state import Claim, Judgement, Query
from fathom.text.fitting import shortened

ROUNDS = 10
_FOUND = 2
_QUERIES = 5
_CHARS = 120


def last_rounds(
    judgements: Sequence[Judgement], asked: Sequence[Query], claims: Sequence[Claim]
) -> list[str]:
    """One line for what is long past, one for each of the last rounds."""
    known = {claim.id: claim for claim in claims}
    recent = judgements[-ROUNDS:]
    lines = [_line(judgement, asked, known) for judgement in recent]
    earlier = judgements[: -len(recent)] if recent else []
    if earlier:
        queries = sum(query.round <= earlier[-1].round for query in asked)
        lines.insert(0, f"Rounds 1 to {earlier[-1].round}: {queries} queries, {earlier[-1].claims} claims.")
    return lines


def _line(judgement: Judgement, asked: Sequence[Query], claims: dict[str, Claim]) -> str:
    queries = [shortened(q.text, _CHARS) for q in asked if q.round == judgement.round][:_QUERIES]
    found = [shortened(claims[c].statement, _CHARS) for c in judgement.found[:_FOUND] if c in claims]
    words = [
        f"Round {judgement.round}: asked “{'”, “'.join(queries)}”" if queries else f"Round {judgement.round}",
        f"{judgement.new_claims} new claims, score {judgement.overall:.2f}",
        f"found: {' | '.join(found)}" if found else "found nothing new",
    ]
    return "; ".join(words)

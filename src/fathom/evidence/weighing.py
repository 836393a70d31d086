"""Claims weighed against each other: what they find together, and where they disagree.

Does not know minds: it hands out the pairs that rules cannot decide, and takes rulings back.
"""

from collections.abc import Sequence

from fathom.minds.port import Point
from fathom.state import Claim, Finding


def points_of(claims: Sequence[Claim], findings: Sequence[Finding]) -> list[Point]:
    """The claims gathered under their findings, in the findings' order; a claim of none stands alone."""
    given = {claim.id: claim for claim in claims}
    points = []
    for finding in findings:
        own = [given.pop(claim_id) for claim_id in finding.claims if claim_id in given]
        if own:
            points.append(Point(finding, own))
    return points + [Point(_alone(claim), [claim]) for claim in given.values()]


def _alone(claim: Claim) -> Finding:
    return Finding(
        id=claim.id,
        statement=claim.statement,
        question=claim.question,
        claims=[claim.id],
        voices=[claim.quotes[0].page],
        confidence=0.6,
        tag="UNCERTAIN",
    )

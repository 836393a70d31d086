"""A round for a person to read: the last findings, what to ask next, and a few sentences.

Does not know who shows them: a review, an event, a page of the research folder.
"""

from collections.abc import Sequence

from fathom.report.words import counted
from fathom.state import Finding, Judgement

_FINDINGS = 5
_SUGGESTED = 3


def key_findings(findings: Sequence[Finding]) -> list[Finding]:
    """The last five, as they are known now."""
    return list(findings[-_FINDINGS:])


def suggested(judgement: Judgement) -> list[str]:
    """The three best queries for what is missing."""
    return [gap.suggested_query for gap in judgement.gaps[:_SUGGESTED]]


def summary(judgement: Judgement, findings: Sequence[Finding]) -> str:
    """Where a run stands after a round, in a few sentences."""
    new = judgement.new_claims
    pages = counted(judgement.pages, "page")
    words = [
        f"Round {judgement.round}: {counted(judgement.claims, 'claim')} of {pages} read, {new} of them new,"
        f" tell {counted(len(findings), 'thing')} apart.",
        f"Good evidence answers {judgement.coverage:.0%} of the sub-questions;"
        f" the score is {judgement.overall:.2f}.",
    ]
    disputed = sum(finding.tag == "CONTRADICTED" for finding in findings)
    if disputed:
        words.append(f"Sources disagree about {counted(disputed, 'thing')}.")
    if judgement.gaps:
        words.append(f"Most is missing here: {judgement.gaps[0].description.rstrip('.')}.")
    if judgement.stop:
        words.append(f"That is enough: {judgement.stop} ({judgement.because}).")
    return " ".join(words)

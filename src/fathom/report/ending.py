"""How a report ends: complete, partial, unsure, failed or extracts, and what speaks against trusting it.

Does not know how anything came about. The first rule that speaks gives the status; doubts are told
whatever it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.state import Claim, Failure, Finding, Judgement, Section, Status, SubQuestion

Doubt = Literal["open", "thin", "weak"]
_WEAK = ("CONTRADICTED", "UNCERTAIN")


@dataclass(frozen=True)
class Outcome:
    """What a report rests on when it is published."""

    judgement: Judgement
    sections: Sequence[Section]  # as written: one whose sentences were all dropped is still there
    questions: Sequence[SubQuestion]
    used: Sequence[Claim]  # the claims its supported sentences name
    findings: Sequence[Finding]  # what those claims say, weighed
    failures: Sequence[Failure]
    known: Sequence[Claim] = ()  # all claims, also those the report does not use
    is_extracts: bool = False  # nobody wrote or judged anything


def status_of(outcome: Outcome) -> Status:
    """Failed without support for anything, partial after a failure, unsure with a doubt, else complete.

    Passages that nobody has judged are extracts, and never complete or unsure.
    """
    if not outcome.used:
        return "failed"
    if is_partial(outcome):
        return "partial"
    if outcome.is_extracts:
        return "extracts"
    return "unsure" if doubts(outcome) else "complete"


def is_partial(outcome: Outcome) -> bool:
    """A page that cannot be read is told; a model or an engine that failed, a section that is gone or the
    money or the time that ran out leave the report without something it should have."""
    return (
        outcome.judgement.stop in {"budget used up", "time used up"}
        or any(section.is_quoted or not section.sentences for section in outcome.sections)
        or bool(failures_that_matter(outcome.failures))
    )


def doubts(outcome: Outcome) -> list[Doubt]:
    """Why the answer may not hold, most important first."""
    rules: dict[Doubt, bool] = {
        "open": any(gap.importance == "high" for gap in outcome.judgement.gaps),
        "thin": _is_thin(outcome),
        "weak": 2 * sum(f.tag in _WEAK for f in outcome.findings) > len(outcome.findings),
    }
    return [name for name, speaks in rules.items() if speaks]


def _is_thin(outcome: Outcome) -> bool:
    """Fewer than half of the sub-questions have good evidence in the report."""
    answered = {claim.question for claim in outcome.used if claim.relevance >= ANSWERED_FROM}
    return 2 * sum(question.id in answered for question in outcome.questions) < len(outcome.questions)


def failures_that_matter(failures: Sequence[Failure]) -> list[Failure]:
    """The failures that leave a report without something it should have."""
    return [f for f in failures if f.where in {"model", "analysis"} or f.where.startswith("search")]

"""From what a mind says a page says to claims that hold.

Does not know minds: it gets drafts and verdicts, and decides.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from fathom.evidence.facts import missing_facts
from fathom.evidence.grounding import GroundedPage
from fathom.minds.port import Draft, Evidence
from fathom.state import Claim, Dropped, Page, Quote, SubQuestion, Verdict, short_hash
from fathom.text.normal import folded, one_line

KEEP_FROM = 0.7
_CONTEXT_CHARS = 300
_SAME = 0.95


@dataclass(frozen=True)
class GroundedDraft:
    """A draft whose quote was found in the page."""

    draft: Draft
    quote: Quote
    evidence: Evidence


def grounded(
    drafts: Sequence[Draft], page: Page, text: str, questions: Sequence[SubQuestion]
) -> list[GroundedDraft]:
    """The drafts whose quotes stand in the page and carry their numbers and names."""
    known = {q.id for q in questions}
    lookup = GroundedPage(page.sha, text)
    kept: dict[str, GroundedDraft] = {}
    for draft in drafts:
        quote = lookup.find(draft.quote)
        if quote is None or draft.question not in known or missing_facts(draft.statement, [quote.text]):
            continue
        around = text[max(0, quote.start - _CONTEXT_CHARS) : quote.end + _CONTEXT_CHARS]
        evidence = Evidence(draft.statement, one_line(quote.text), one_line(around))
        kept.setdefault(folded(draft.statement).text, GroundedDraft(draft, quote, evidence))
    return list(kept.values())


def self_evident(grounded_draft: GroundedDraft) -> bool:
    """Whether the statement is its quote, or nearly: then there is nothing left to verify."""
    said = folded(grounded_draft.draft.statement).text.rstrip(".")
    quoted = folded(grounded_draft.quote.text).text.rstrip(".")
    return said == quoted or SequenceMatcher(None, said, quoted, autojunk=False).ratio() >= _SAME


def as_claims(
    drafts: Sequence[Draft], kept: Sequence[GroundedDraft], verdicts: Sequence[Verdict], page: Page
) -> tuple[list[Claim], list[Dropped]]:
    """The claims that hold, and how many drafts did not and why. `verdicts` are for the doubtful ones."""
    remaining = iter(verdicts)
    claims: list[Claim] = []
    refused: Counter[str] = Counter()
    # By what they say: a draft that came twice is one draft.
    unfounded = {folded(d.statement).text for d in drafts} - {folded(k.draft.statement).text for k in kept}
    if unfounded:
        refused["the quote is not in the page, or does not carry the statement"] = len(unfounded)
    for item in kept:
        verdict = _QUOTED if self_evident(item) else next(remaining)
        if verdict.score < KEEP_FROM:
            refused["verification found the statement says more than its quote"] += 1
            continue
        claims.append(
            Claim(
                id=short_hash(page.sha, item.draft.question, item.draft.statement),
                statement=one_line(item.draft.statement),
                question=item.draft.question,
                quotes=[item.quote],
                verdict=verdict,
                relevance=max(0.0, min(1.0, item.draft.relevance)),
            )
        )
    return claims, [Dropped(page=page.sha, count=n, why=why) for why, n in refused.items()]


_QUOTED = Verdict(
    is_explicit=True,
    is_same_scope=True,
    is_not_overstated=True,
    score=1.0,
    reason="the statement is its quote",
)

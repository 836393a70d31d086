"""From what a mind says a page says to claims that hold.

Does not know minds: it gets drafts and verdicts, and decides.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from fathom.evidence.carrying import uncarried_by_kind
from fathom.evidence.grounding import GroundedPage
from fathom.evidence.words import parsed
from fathom.llm.port import Draft, Evidence
from fathom.state import Claim, Page, Quote, Rejected, SubQuestion, Verdict, short_hash
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
    is_self_evident: bool  # the statement is its quote, or nearly: then there is nothing left to verify


def grounded(
    drafts: Sequence[Draft], page: Page, text: str, questions: Sequence[SubQuestion]
) -> tuple[list[GroundedDraft], list[Rejected]]:
    """The drafts whose quotes are in the page and carry them, as code sees it; how many do not, and why.

    A quote is kept with the rest of its sentence: what was left out of it may be what changes it.
    """
    known = {q.id for q in questions}
    lookup = GroundedPage(page.sha, text)
    kept: dict[str, GroundedDraft] = {}
    refused: dict[str, str] = {}
    for draft in drafts:
        said = folded(draft.statement).text
        cited = lookup.find(draft.quote)
        quote = lookup.in_full(cited) if cited else None
        why = _why_not(draft, quote, known)
        if quote is None or why:
            refused.setdefault(said, why)
            continue
        around = text[max(0, quote.start - _CONTEXT_CHARS) : quote.end + _CONTEXT_CHARS]
        evidence = Evidence(draft.statement, one_line(quote.text), one_line(around))
        if said not in kept:
            kept[said] = GroundedDraft(draft, quote, evidence, _is_self_evident(draft.statement, quote.text))
    # By what they say: a draft that came twice, once with a quote that holds, is one draft that is kept.
    counts = Counter(why for said, why in refused.items() if said not in kept)
    return list(kept.values()), [Rejected(page=page.sha, count=n, why=why) for why, n in counts.items()]


def _why_not(draft: Draft, quote: Quote | None, known: set[str]) -> str:
    """Why a draft is refused before anybody is asked; empty when it is not."""
    if quote is None:
        return "the quote is not in the page"
    if draft.question not in known:
        return "it answers no sub-question"
    found = uncarried_by_kind(draft.statement, [quote.text])
    return f"the quote does not carry the statement: {next(iter(found))}" if found else ""


def _is_self_evident(statement: str, quote: str) -> bool:
    said, quoted = folded(statement).text.rstrip("."), folded(quote).text.rstrip(".")
    if said == quoted:
        return True
    # From quick to slow, each an upper bound of the next; a matcher counts every letter before it can tell.
    needed = _SAME * (len(said) + len(quoted)) / 2
    if min(len(said), len(quoted)) < needed or (Counter(said) & Counter(quoted)).total() < needed:
        return False
    is_near = SequenceMatcher(None, said, quoted, autojunk=False).ratio() >= _SAME
    return is_near and parsed(said).keys <= parsed(quoted).keys


def as_claims(
    kept: Sequence[GroundedDraft], verdicts: Sequence[Verdict], page: Page
) -> tuple[list[Claim], list[Rejected]]:
    """The claims that hold, and how many did not and why. `verdicts` are for the doubtful ones."""
    remaining = iter(verdicts)
    claims: list[Claim] = []
    refused: Counter[str] = Counter()
    for item in kept:
        verdict = _QUOTED if item.is_self_evident else next(remaining)
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
    return claims, [Rejected(page=page.sha, count=n, why=why) for why, n in refused.items()]


_QUOTED = Verdict(
    is_explicit=True,
    is_same_scope=True,
    is_not_overstated=True,
    score=1.0,
    reason="the statement is its quote",
)

"""Refused claims on their second way: what a model is shown of them, and what becomes of its answer.

Does not know models.
"""

from fathom.evidence.claims import ground_draft
from fathom.evidence.context import describe_context
from fathom.evidence.grounding import GroundedPage
from fathom.llm.port import Draft, Refusal
from fathom.state import ClaimDraft, Page
from fathom.text.normal import folded, one_line
from fathom.text.passages import passages
from fathom.text.ranking import bm25

_AROUND_CHARS = 400


def refusal_of(draft: ClaimDraft, page: Page, text: str) -> Refusal:
    """Return a refused claim with the reason and the passage that it, or something like it, stands in."""
    if draft.quotes:
        context = describe_context(draft.quotes, page, text, _AROUND_CHARS)
    else:
        found = list(passages(text))
        scores = bm25([draft.statement], found)[0]
        context = found[max(range(len(found)), key=lambda n: scores[n])] if found else ""
    quoted = "\n".join(one_line(quote.text) for quote in draft.quotes)
    return Refusal(draft.statement, quoted, context, draft.objection)


def ground_restated(old: ClaimDraft, new: Draft | None, page: Page, text: str) -> ClaimDraft:
    """Return the claim as it was restated, or the old one with its objection if that mends nothing."""
    if new is None or not new.statement.strip():
        return old
    quotes = [new.quote, *new.more_quotes] if new.quote else [quote.text for quote in old.quotes]
    if not quotes:
        return old
    draft = Draft(new.statement, quotes[0], old.question, old.relevance, quotes[1:], new.resolved)
    anew = ground_draft(draft, GroundedPage(page.sha, text), page, text)
    is_same = folded(anew.statement).text == folded(old.statement).text and anew.quotes == old.quotes
    if anew.objection or is_same:
        return old
    return anew

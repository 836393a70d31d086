"""Turn a model's statements about a page into claims and drafts, and compare claims with a page that changed.

Code alone refuses only certain errors: a quote that is not in the page, an unknown sub-question, and a figure
or date that does not follow from quotes and context. Everything else is a note for the verifier. Of a page
that changed, a quote is unchanged, changed or gone; claims whose quotes are still there stay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Literal

from fathom.evidence.checks.derivation import Passage, find_underived, is_on_page
from fathom.evidence.checks.suspicions import MOST_NOTES, find_suspicions
from fathom.evidence.controls import is_falsehood
from fathom.evidence.grounding import QuoteFinder, build_passage, describe_context, is_verbatim
from fathom.evidence.support import find_unsupported
from fathom.state import Claim, ClaimDraft, Control, Page, Quote, Rejected, SubQuestion, Verdict, short_hash
from fathom.state.model_io import ExtractedStatement, RefusedClaim
from fathom.text.normalization import fold_text, one_line, shorten_line
from fathom.text.ranking import bm25, jaccard_similarity, terms
from fathom.text.sentences import split_passages, split_sentences

KEEP_FROM = 0.7
NOT_IN_PAGE = "the quote is not in the page"
NO_QUESTION = "it answers no sub-question"
NOT_DERIVABLE = "a figure or date is not in the source"
REFUSED_BY_VERIFIER = "the verifier refused it"
_MOST_QUOTES = 3
_SAME = 0.95
_VERBATIM_VERDICT = Verdict(
    is_explicit=True,
    is_same_scope=True,
    is_not_overstated=True,
    score=1.0,
    reason="the statement is its quote",
)


@dataclass(frozen=True)
class GroundedDrafts:
    """A page's drafts, sorted before verification.

    `claims` repeat their quotes. `drafts` go to the verifier; those with an objection are retried once.
    `controls` are the reader's that code accepts.
    """

    claims: list[Claim] = field(default_factory=list)
    drafts: list[ClaimDraft] = field(default_factory=list)
    controls: list[Control] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)


def ground_drafts(
    drafts: Sequence[ExtractedStatement], page: Page, text: str, questions: Sequence[SubQuestion]
) -> GroundedDrafts:
    """Look up the quotes of a page's drafts, and decide what code alone can decide.

    A quote is extended to its whole sentence, since the rest may change its meaning. Of drafts that say the
    same, the first valid one counts.
    """
    lookup, known = QuoteFinder(page.sha, text), {q.id for q in questions}
    by_statement: dict[str, ClaimDraft] = {}
    unasked: dict[str, ExtractedStatement] = {}
    for draft in [draft for draft in drafts if draft.kind == "claim"]:
        said = f"{draft.question}\n{fold_text(draft.statement).text}"
        if draft.question not in known:
            unasked.setdefault(said, draft)
        elif said not in by_statement or by_statement[said].objection:
            by_statement[said] = ground_draft(draft, lookup, page, text)
    plain = {
        said: draft for said, draft in by_statement.items() if not draft.objection and is_self_evident(draft)
    }
    rest = [draft for said, draft in by_statement.items() if said not in plain]
    controls = [_ground_control(d, lookup, page, text) for d in drafts if rest and d.kind != "claim"]
    stated = {said.partition("\n")[2] for said in by_statement}
    count = sum(said.partition("\n")[2] not in stated for said in unasked)
    return GroundedDrafts(
        [make_claim(draft, _VERBATIM_VERDICT) for draft in plain.values()],
        rest,
        [*filter(None, controls)],
        [Rejected(page=page.sha, count=count, why=NO_QUESTION)] if count else [],
    )


def ground_draft(draft: ExtractedStatement, lookup: QuoteFinder, page: Page, text: str) -> ClaimDraft:
    """Return a draft with its quotes as the page has them, or with an objection."""
    quotes = find_quotes(draft, lookup)
    found = ClaimDraft(
        id=short_hash(page.sha, draft.question, draft.statement),
        page=page.sha,
        statement=one_line(draft.statement),
        question=draft.question,
        relevance=max(0.0, min(1.0, draft.relevance)),
        quotes=quotes,
        resolved=one_line(draft.resolved),
    )
    if not quotes:
        missing_quote = next((q for q in _quotes_of(draft) if not lookup.find_parts(q)), draft.quote)
        objection = f"this quote is not in the source: “{one_line(missing_quote)}”"
        return found.model_copy(update={"why": NOT_IN_PAGE, "objection": objection})
    if is_self_evident(found):
        return found
    passage = build_passage(quotes, page, text)
    missing = find_underived(draft.statement, passage)
    if wrong := [fact for fact in missing if not is_on_page(fact, text)]:
        objection = f"not in the source, and not to be derived from it: {', '.join(wrong)}"
        return found.model_copy(update={"why": NOT_DERIVABLE, "objection": objection})
    far = [f"'{fact}' is elsewhere on the page, not near the quote" for fact in missing]
    notes = [*far, *_describe_suspicions(found.statement, passage)]
    return found.model_copy(update={"notes": notes[:MOST_NOTES]})


def find_quotes(draft: ExtractedStatement, lookup: QuoteFinder) -> list[Quote]:
    """Return the page's own words for a draft's quotes, each once; none if one of them is missing."""
    found: dict[tuple[int, int], Quote] = {}
    for words in _quotes_of(draft):
        parts = lookup.find_parts(words)
        if not parts:
            return []
        for part in parts:
            whole = lookup.extend_to_sentence(part)
            found[whole.start, whole.end] = whole
    return list(found.values())


def _quotes_of(draft: ExtractedStatement) -> list[str]:
    return [draft.quote, *draft.more_quotes][:_MOST_QUOTES]


def make_claim(draft: ClaimDraft, verdict: Verdict) -> Claim:
    """Make a claim from a verified draft."""
    return Claim(
        id=draft.id,
        statement=draft.statement,
        question=draft.question,
        quotes=draft.quotes,
        verdict=verdict,
        relevance=draft.relevance,
        resolved=draft.resolved,
    )


def make_rejection(draft: ClaimDraft) -> Rejected:
    """Make the record of a draft that stays refused."""
    return Rejected(
        page=draft.page, count=1, why=draft.why, statement=draft.statement, reason=draft.objection
    )


def is_self_evident(draft: ClaimDraft) -> bool:
    """Tell whether the statement is nearly verbatim from its quote, so that nothing is left to verify."""
    if len(draft.quotes) != 1:
        return False
    said, quoted = (fold_text(text).text.rstrip(".") for text in (draft.statement, draft.quotes[0].text))
    if said == quoted or is_verbatim(draft.statement, [draft.quotes[0].text]):
        return True
    matcher = SequenceMatcher(None, said, quoted, autojunk=False)
    # From quick to slow: each is an upper bound of the next.
    ratios = (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio)
    return all(ratio() >= _SAME for ratio in ratios) and not find_unsupported(
        draft.statement, [draft.quotes[0].text]
    )


def list_notes(control: Control, page: Page, text: str) -> list[str]:
    """Return what code notices about a control, as notes for the verifier."""
    return _describe_suspicions(control.statement, build_passage(control.quotes, page, text))


def _describe_suspicions(statement: str, passage: Passage) -> list[str]:
    return [suspicion.note for suspicion in find_suspicions(statement, passage)]


def _ground_control(draft: ExtractedStatement, lookup: QuoteFinder, page: Page, text: str) -> Control | None:
    grounded = ground_draft(replace(draft, question=""), lookup, page, text)
    if not grounded.quotes:
        return None
    if draft.kind == "falsehood":
        context = build_passage(grounded.quotes, page, text).everything
        is_sound = is_falsehood(draft.statement, draft.original, draft.changed, context)
    else:
        is_sound = not grounded.objection and not is_self_evident(grounded)
    if not is_sound:
        return None
    return Control(
        id=short_hash(draft.kind, page.sha, grounded.statement),
        page=page.sha,
        statement=grounded.statement,
        quotes=grounded.quotes,
        is_true=draft.kind == "paraphrase",
        kind="paraphrase" if draft.kind == "paraphrase" else "wording",
    )


_REFUSED_CHARS = 400


def make_refusal(draft: ClaimDraft, page: Page, text: str) -> RefusedClaim:
    """Return a refused claim with its reason and the passage it, or something similar, is in."""
    if draft.quotes:
        context = describe_context(draft.quotes, page, text, _REFUSED_CHARS)
    else:
        found = list(split_passages(text))
        scores = bm25([draft.statement], found)[0]
        context = found[max(range(len(found)), key=lambda n: scores[n])] if found else ""
    quoted = "\n".join(one_line(quote.text) for quote in draft.quotes)
    return RefusedClaim(draft.statement, quoted, context, draft.objection)


def ground_retry(old: ClaimDraft, new: ExtractedStatement | None, page: Page, text: str) -> ClaimDraft:
    """Return the restated claim, or the old one with its objection if the new one is no better."""
    if new is None or not new.statement.strip():
        return old
    quotes = [new.quote, *new.more_quotes] if new.quote else [quote.text for quote in old.quotes]
    if not quotes:
        return old
    draft = ExtractedStatement(
        new.statement, quotes[0], old.question, old.relevance, quotes[1:], new.resolved
    )
    anew = ground_draft(draft, QuoteFinder(page.sha, text), page, text)
    is_same = fold_text(anew.statement).text == fold_text(old.statement).text and anew.quotes == old.quotes
    if anew.objection or is_same:
        return old
    return anew


QuoteState = Literal["supported", "changed", "gone"]
_SHOWN_CHARS = 160
_MIN_SHARED = 0.3


@dataclass(frozen=True)
class QuoteStatus:
    """The status of a quote, and the reason if it changed."""

    standing: QuoteState
    why: str = ""
    lost: tuple[str, ...] = ()  # the sentences of the quote that are no longer there, if others are
    kept: tuple[str, ...] = ()


SUPPORTED = QuoteStatus("supported")


def worst_status(fates: Iterable[QuoteStatus]) -> QuoteStatus:
    """Return one status for all: "changed" before "gone" before unchanged."""
    found = list(fates)
    order: tuple[QuoteState, ...] = ("changed", "gone", "supported")
    return min(found, key=lambda fate: order.index(fate.standing), default=SUPPORTED)


def check_stored_quote(quote: Quote, text: str | None) -> QuoteStatus:
    """Compare a quote with the stored text of its page, exact to the character."""
    name = quote.page[:12]
    if text is None:
        return QuoteStatus("gone", f"the text of page {name} is no longer in the database")
    if sha256(text.encode("utf-8", "replace")).hexdigest() != quote.page:
        return QuoteStatus("changed", f"the stored text of page {name} is not the text that was read")
    if quote.start < 0 or text[quote.start : quote.end] != quote.text or not quote.text.strip():
        return QuoteStatus(
            "changed", f"page {name} does not have these words there: {_shorten_quote(quote.text)}"
        )
    return SUPPORTED


class LivePage:
    """The current text of a page."""

    def __init__(self, sha: str, text: str) -> None:
        self._text = text
        self._page = QuoteFinder(sha, text)

    def find(self, words: str) -> Quote | None:
        """Return the words at their current place, as they are; None if they are gone."""
        found = self._page.find(words)
        return found if found and _fold_words(found.text) == _fold_words(words) else None

    def fate(self, quote: Quote) -> QuoteStatus:
        """Return the quote's status; if it is gone, with its first lost sentence and the nearest text."""
        if self.find(quote.text):
            return SUPPORTED
        sentences = [span.text for span in split_sentences(quote.text)]
        all_lost = [text for text in sentences if self.find(text) is None]
        lost = all_lost[0] if all_lost else quote.text
        nearest = self._page.find(lost)
        words = nearest.text if nearest else _find_nearest_sentence(lost, self._text)
        now = f"now says: {_shorten_quote(words)}" if words else "says nothing like it any more"
        kept = tuple(text for text in sentences if text not in all_lost)
        why = f"{_shorten_quote(lost)} is no longer there; the page {now}"
        return QuoteStatus("changed", why, tuple(all_lost) if kept else (), kept)


def _find_nearest_sentence(words: str, text: str) -> str:
    """Return the sentence that shares most words, if enough."""
    wanted = terms(words)
    rated = [(jaccard_similarity(wanted, terms(span.text)), span.text) for span in split_sentences(text)]
    most, best = max(rated, key=lambda pair: pair[0], default=(0.0, ""))
    return best if most >= _MIN_SHARED else ""


def _shorten_quote(text: str) -> str:
    return f"“{shorten_line(text, _SHOWN_CHARS)}”"


_SUCCEEDS = 0.8
_MOST_SENTENCES = 3


def update_claims(
    known: Sequence[Claim], drawn: Sequence[Claim], before: str, page: Page, text: str
) -> list[Claim]:
    """Return the claims of a changed page: those whose quotes are still there, then new ones.

    Earlier claims keep their ids, so that sections written from them can stay. A lost quotation is replaced
    by its successor. A drawn claim is new only if its words were not in the page `before`, or were part of a
    lost claim.
    """
    now = LivePage(page.sha, text)
    moved = [_relocate(claim, now) for claim in known]
    kept = [claim for claim in moved if claim]
    gone = [claim for claim, found in zip(known, moved, strict=True) if found is None]
    followed = list(filter(None, (_find_successor(claim, page, text) for claim in gone)))
    then = LivePage("", before) if before and known else None
    lost = [_fold_words(quote.text) for claim in gone for quote in claim.quotes]
    new = [
        claim
        for claim in drawn
        if not (then and all(then.find(quote.text) for quote in claim.quotes))
        or _is_part_of_lost(claim, lost)
    ]
    return _drop_repeats([*kept, *followed, *new])


def _relocate(claim: Claim, now: LivePage) -> Claim | None:
    """Return the claim with its quotes at their current places; None if one is gone."""
    quotes = [found for quote in claim.quotes if (found := now.find(quote.text))]
    return claim.model_copy(update={"quotes": quotes}) if len(quotes) == len(claim.quotes) else None


def _find_successor(claim: Claim, page: Page, text: str) -> Claim | None:
    """Return the quotation that replaced a lost one, if any."""
    said = claim.quotes[0].text
    if len(claim.quotes) != 1 or _fold_words(claim.statement) != _fold_words(said):
        return None
    spans = split_sentences(text)
    size = min(len(split_sentences(said)) or 1, _MOST_SENTENCES)
    places = [(spans[n].start, spans[n + size - 1].end) for n in range(len(spans) - size + 1)]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(_fold_words(said))
    best, place = _SUCCEEDS, None
    for start, end in places:
        matcher.set_seq1(_fold_words(text[start:end]))
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, place = matcher.ratio(), (start, end)
    if place is None:
        return None
    words = text[place[0] : place[1]]
    statement = one_line(words)
    return claim.model_copy(
        update={
            "id": short_hash(page.sha, claim.question, statement),
            "statement": statement,
            "quotes": [Quote(page=page.sha, start=place[0], end=place[1], text=words)],
        }
    )


def _is_part_of_lost(claim: Claim, lost: Sequence[str]) -> bool:
    """Tell whether it repeats a part of a lost claim that the page still has."""
    return all(any(_fold_words(quote.text) in words for words in lost) for quote in claim.quotes)


def _drop_repeats(claims: Sequence[Claim]) -> list[Claim]:
    """Keep the first of claims with the same quotes for the same sub-question."""
    kept: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        kept.setdefault((claim.question, *(_fold_words(quote.text) for quote in claim.quotes)), claim)
    return list(kept.values())


def _fold_words(text: str) -> str:
    return fold_text(text).text.strip(" .…!?。！？\"'")

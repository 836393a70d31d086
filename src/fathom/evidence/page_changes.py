"""Compare quotes and claims with a page's current text: unchanged, changed or gone."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Literal

from fathom.evidence.grounding import QuoteFinder
from fathom.state import Claim, Page, Quote, short_hash
from fathom.text.normalization import fold_text, one_line, shorten_line
from fathom.text.ranking import terms
from fathom.text.sentences import split_sentences

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

    def find(self, quote: Quote) -> Quote | None:
        """Return the quote at its current place, word for word; None if it is gone."""
        return self._find(quote.text)

    def _find(self, text: str) -> Quote | None:
        found = self._page.find(text)
        return found if found and _fold_quote(found.text) == _fold_quote(text) else None

    def fate(self, quote: Quote) -> QuoteStatus:
        """Return the quote's status; if it is gone, with its first lost sentence and the nearest text."""
        if self.find(quote):
            return SUPPORTED
        sentences = [span.text for span in split_sentences(quote.text)]
        all_lost = [text for text in sentences if self._find(text) is None]
        lost = all_lost[0] if all_lost else quote.text
        nearest = self._page.find(lost)
        words = nearest.text if nearest else _find_nearest_sentence(lost, self._text)
        now = (
            f"the page now says: {_shorten_quote(words)}"
            if words
            else "the page says nothing like it any more"
        )
        kept = tuple(text for text in sentences if text not in all_lost)
        why = f"{_shorten_quote(lost)} is no longer there; {now}"
        return QuoteStatus("changed", why, tuple(all_lost) if kept else (), kept)


def _find_nearest_sentence(words: str, text: str) -> str:
    """Return the sentence that shares most words, if enough."""
    wanted = terms(words)
    best, most = "", 0.0
    for span in split_sentences(text):
        has = terms(span.text)
        shared = len(wanted & has) / (len(wanted | has) or 1)
        if shared > most:
            best, most = span.text, shared
    return best if most >= _MIN_SHARED else ""


def _fold_quote(text: str) -> str:
    return fold_text(text).text.strip(" .…!?。！？\"'")


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
    followed = [claim for claim in (_find_successor(claim, page, text) for claim in gone) if claim]
    then = LivePage("", before) if before and known else None
    lost = [_fold_words(quote.text) for claim in gone for quote in claim.quotes]
    new = [
        claim
        for claim in drawn
        if not (then and all(then.find(quote) for quote in claim.quotes)) or _is_part_of_lost(claim, lost)
    ]
    return _drop_repeats([*kept, *followed, *new])


def _relocate(claim: Claim, now: LivePage) -> Claim | None:
    """Return the claim with its quotes at their current places; None if one is gone."""
    found = [now.find(quote) for quote in claim.quotes]
    quotes: list[Quote] = [quote for quote in found if quote]
    return claim.model_copy(update={"quotes": quotes}) if len(quotes) == len(found) else None


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
    return fold_text(text).text.strip(" .…")

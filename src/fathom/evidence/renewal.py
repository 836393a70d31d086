"""What becomes of claims when the page they were drawn from is read again and says something else.

Does not know how pages are read or claims are drawn.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

from fathom.evidence.standing import LivePage
from fathom.state import Claim, Page, Quote, short_hash
from fathom.text.normal import folded, one_line
from fathom.text.sentences import sentences

_SUCCEEDS = 0.8
_MOST_SENTENCES = 3


def renewed(
    known: Sequence[Claim], drawn: Sequence[Claim], before: str, page: Page, text: str
) -> list[Claim]:
    """The claims of a changed page: those whose words still stand there, then those that are new.

    An earlier claim keeps its name, so that what was written from it can be kept. One that was a quotation
    is followed by what stands in its place now. A drawn claim is new when its words were not in the page
    `before`, or were part of what is gone: what was there and not used then is no news.
    """
    now = LivePage(page.sha, text)
    moved = [_moved(claim, now) for claim in known]
    kept = [claim for claim in moved if claim]
    gone = [claim for claim, found in zip(known, moved, strict=True) if found is None]
    followed = [claim for claim in (_successor(claim, page, text) for claim in gone) if claim]
    then = LivePage("", before) if before and known else None
    lost = [_words(quote.text) for claim in gone for quote in claim.quotes]
    new = [
        claim
        for claim in drawn
        if not (then and all(then.find(quote) for quote in claim.quotes)) or _is_part(claim, lost)
    ]
    return _told_once([*kept, *followed, *new])


def _moved(claim: Claim, now: LivePage) -> Claim | None:
    """The claim with its quotes where they stand now; None when one is not there any more."""
    found = [now.find(quote) for quote in claim.quotes]
    quotes: list[Quote] = [quote for quote in found if quote]
    return claim.model_copy(update={"quotes": quotes}) if len(quotes) == len(found) else None


def _successor(claim: Claim, page: Page, text: str) -> Claim | None:
    """What a page says now in the place of a quotation that is gone: a quotation again, so it holds."""
    said = claim.quotes[0].text
    if len(claim.quotes) != 1 or _words(claim.statement) != _words(said):
        return None
    spans = sentences(text)
    size = min(len(sentences(said)) or 1, _MOST_SENTENCES)
    places = [(spans[n].start, spans[n + size - 1].end) for n in range(len(spans) - size + 1)]
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(_words(said))
    best, place = _SUCCEEDS, None
    for start, end in places:
        matcher.set_seq1(_words(text[start:end]))
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


def _is_part(claim: Claim, lost: Sequence[str]) -> bool:
    """Whether it says a part of what is gone, which the page still says."""
    return all(any(_words(quote.text) in words for words in lost) for quote in claim.quotes)


def _told_once(claims: Sequence[Claim]) -> list[Claim]:
    """Of claims from the same words for the same sub-question, the first."""
    told: dict[tuple[str, ...], Claim] = {}
    for claim in claims:
        told.setdefault((claim.question, *(_words(quote.text) for quote in claim.quotes)), claim)
    return list(told.values())


def _words(text: str) -> str:
    return folded(text).text.strip(" .…")

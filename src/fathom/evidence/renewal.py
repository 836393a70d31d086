"""What becomes of claims when the page they were drawn from is read again and says something else.

Does not know how pages are read or claims are drawn.
"""

from collections.abc import Sequence

from fathom.evidence.standing import LivePage
from fathom.state import Claim, Page, Quote
from fathom.text.normal import folded


def renewed(
    known: Sequence[Claim], drawn: Sequence[Claim], before: str, page: Page, text: str
) -> list[Claim]:
    """The claims of a changed page: those whose words still stand there, then those that are new.

    An earlier claim keeps its name, so that what was written from it can be kept too. A drawn claim is new
    only when its words were not in the page `before`: what was there and not used then is no news.
    """
    now = LivePage(page.sha, text)
    kept = [claim for claim in (_moved(claim, now) for claim in known) if claim]
    told = {_words(quote.text) for claim in kept for quote in claim.quotes}
    then = LivePage("", before) if before and known else None
    new = [
        claim
        for claim in drawn
        if not all(_words(quote.text) in told for quote in claim.quotes)
        and not (then and all(then.find(quote) for quote in claim.quotes))
    ]
    return [*kept, *new]


def _moved(claim: Claim, now: LivePage) -> Claim | None:
    """The claim with its quotes where they stand now; None when one is not there any more."""
    found = [now.find(quote) for quote in claim.quotes]
    quotes: list[Quote] = [quote for quote in found if quote]
    return claim.model_copy(update={"quotes": quotes}) if len(quotes) == len(found) else None


def _words(text: str) -> str:
    return folded(text).text.strip(" .…")

"""What became of a quote: it still stands in its page, the page says something else, or the page is gone.

Does not know where a page's text comes from: a database, a file, a server.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from fathom.evidence.grounding import GroundedPage
from fathom.state import Quote
from fathom.text.normal import folded, one_line
from fathom.text.ranking import terms
from fathom.text.sentences import sentences

Standing = Literal["supported", "changed", "gone"]
_SHOWN_CHARS = 160
_MIN_SHARED = 0.3


@dataclass(frozen=True)
class Fate:
    """How something stands today, and why it does not stand as it did."""

    standing: Standing
    why: str = ""


SUPPORTED = Fate("supported")


def worst(fates: Iterable[Fate]) -> Fate:
    """One fate for all: what changed comes before what is gone, and either before what holds."""
    found = list(fates)
    order: tuple[Standing, ...] = ("changed", "gone", "supported")
    return min(found, key=lambda fate: order.index(fate.standing), default=SUPPORTED)


def stored_fate(quote: Quote, text: str | None) -> Fate:
    """How a quote stands in the stored text of its page, to the character."""
    name = quote.page[:12]
    if text is None:
        return Fate("gone", f"the text of page {name} is no longer in the database")
    if sha256(text.encode("utf-8", "replace")).hexdigest() != quote.page:
        return Fate("changed", f"the stored text of page {name} is not the text that was read")
    if quote.start < 0 or text[quote.start : quote.end] != quote.text or not quote.text.strip():
        return Fate("changed", f"page {name} does not have these words there: {_shown(quote.text)}")
    return SUPPORTED


class LivePage:
    """The text a page has today."""

    def __init__(self, sha: str, text: str) -> None:
        self._text = text
        self._page = GroundedPage(sha, text)

    def find(self, quote: Quote) -> Quote | None:
        """The quote where it stands today, word for word; None when it is not there."""
        return self._find(quote.text)

    def _find(self, text: str) -> Quote | None:
        found = self._page.find(text)
        return found if found and _words(found.text) == _words(text) else None

    def fate(self, quote: Quote) -> Fate:
        """How the quote stands; if it is not there, its first sentence that is lost and the nearest words."""
        if self.find(quote):
            return SUPPORTED
        told = (span.text for span in sentences(quote.text))
        lost = next((text for text in told if self._find(text) is None), quote.text)
        nearest = self._page.find(lost)
        words = nearest.text if nearest else _nearest(lost, self._text)
        now = f"the page now says: {_shown(words)}" if words else "the page says nothing like it any more"
        return Fate("changed", f"{_shown(lost)} is no longer there; {now}")


def _nearest(words: str, text: str) -> str:
    """The sentence that has most of the words, if it has enough of them."""
    wanted = terms(words)
    best, most = "", 0.0
    for span in sentences(text):
        has = terms(span.text)
        shared = len(wanted & has) / (len(wanted | has) or 1)
        if shared > most:
            best, most = span.text, shared
    return best if most >= _MIN_SHARED else ""


def _words(text: str) -> str:
    return folded(text).text.strip(" .…!?。！？\"'")


def _shown(text: str) -> str:
    line = one_line(text)
    return f"“{line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + '…'}”"

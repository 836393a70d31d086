"""What was read, cut down to what bears on the question: short pages whole, long ones around their quotes.

Does not know who wants it. Bounded however long a run has become.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fathom.errors import ProviderError
from fathom.state import Claim, Page

MOST_PAGES = 48
_WHOLE_CHARS = 1600
_OPENING_CHARS = 300
_AROUND_CHARS = 200


@dataclass(frozen=True)
class Excerpt:
    """The telling part of one page."""

    page: str
    title: str
    text: str


async def excerpts(
    pages: Sequence[Page], claims: Sequence[Claim], get: Callable[[str], Awaitable[str]]
) -> list[Excerpt]:
    """One excerpt a text, in the order they were read; of very many pages those with the best claims."""
    places: dict[str, list[tuple[int, int]]] = {}
    worth: dict[str, float] = {}
    for claim in claims:
        for quote in claim.quotes:
            places.setdefault(quote.page, []).append((quote.start, quote.end))
            worth[quote.page] = max(worth.get(quote.page, 0.0), claim.relevance)
    titles = {page.sha: page.title for page in reversed(pages)}
    order = list(dict.fromkeys(page.sha for page in pages))
    best = set(sorted(order, key=lambda sha: -worth.get(sha, 0.0))[:MOST_PAGES])
    found = []
    for sha in order:
        if sha in best:
            try:
                text = await get(sha)
            except ProviderError:
                continue  # a text that is gone leads nowhere; what was quoted from it stays
            found.append(Excerpt(sha, titles[sha], around(text, places.get(sha, []))))
    return found


def around(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text if it is short; else its opening and what stands around the spans, as much as a short one."""
    if len(text) <= _WHOLE_CHARS:
        return text
    pieces, end = [text[:_OPENING_CHARS]], _OPENING_CHARS
    room = _WHOLE_CHARS - _OPENING_CHARS
    for start, stop in sorted(spans):
        first, last = max(end, start - _AROUND_CHARS), min(len(text), stop + _AROUND_CHARS)
        if last > first and room > 0:
            pieces.append(text[first:last][:room])
            room -= last - first
            end = last
    return "\n".join(pieces)

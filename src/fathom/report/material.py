"""What a part of the report is written from: its pages by name, with the passages around their quotes.

Does not know models. Passages are merged where they meet and bounded, so that a page that is quoted often is
not shown often.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fathom.errors import ProviderError
from fathom.evidence.context import windows
from fathom.state import Claim, Page, Quote

_AROUND_CHARS = 250
_MOST_CHARS = 2_400  # of one page
_MOST_CHARS_TOGETHER = 12_000
_GAP = "\n[…]\n"


@dataclass(frozen=True)
class SourceText:
    """A page that is written from: who says it and when, and the passages around its quotes."""

    page: str  # its hash
    title: str
    publisher: str = ""
    author: str = ""
    published: str = ""
    passages: str = ""


async def source_texts(
    claims: Sequence[Claim], pages: Sequence[Page], get: Callable[[str], Awaitable[str]]
) -> list[SourceText]:
    """Return the pages that the claims quote, in the order of the claims; one whose text is gone has none."""
    by_sha = {page.sha: page for page in reversed(pages)}
    quotes: dict[str, list[Quote]] = {}
    for quote in (quote for claim in claims for quote in claim.quotes):
        if quote.page in by_sha:
            quotes.setdefault(quote.page, []).append(quote)
    found: list[SourceText] = []
    room = _MOST_CHARS_TOGETHER
    for sha, own in quotes.items():
        try:
            text = await get(sha)
        except ProviderError:
            text = ""
        passages = _passages(own, text)[: min(room, _MOST_CHARS)] if text else ""
        room -= len(passages)
        found.append(_source(by_sha[sha], passages))
    return found


def today_of(pages: Sequence[Page]) -> str:
    """Return the day of the latest reading: "today" for whoever writes, the same when a run goes on."""
    return max((page.fetched[:10] for page in pages), default="")


def _passages(quotes: Sequence[Quote], text: str) -> str:
    parts = (text[start:end].strip() for start, end in windows(quotes, text, _AROUND_CHARS))
    return _GAP.join(part for part in parts if part)


def _source(page: Page, passages: str) -> SourceText:
    return SourceText(
        page=page.sha,
        title=page.title,
        publisher=page.publisher or "",
        author=page.author or "",
        published=(page.published or "")[:10],
        passages=passages,
    )

"""The evidence of a claim: its quotes with their context on the page.

The context is the page's title and date, the headings above, and the text around a quote. Statements are
checked against this, not against the bare quote.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

from fathom.errors import ProviderError
from fathom.evidence.checks.derivation import Passage
from fathom.state import Claim, Page, Quote
from fathom.state.model_io import PageExcerpt

AROUND_CHARS = 400
SHOWN_CHARS = 160  # for a verifier, who sees the excerpts of a page together
_SLACK_CHARS = 120  # more, where a shown excerpt would end within a sentence
_SENTENCE_END = re.compile(r"[.!?。]\s|\n")
STRETCH_GAP = "\n[…]\n"
_HEADING = re.compile(r"^(`{3,})$.*?^\1$|^(#{1,6}) (.+?)$", re.MULTILINE | re.DOTALL)


def heading_path(text: str, position: int) -> list[str]:
    """Return the headings above a position, outermost first."""
    above: list[tuple[int, str]] = []
    for found in _HEADING.finditer(text, 0, position):
        if found.group(1):
            continue  # in code, "#" starts a comment
        level = len(found.group(2))
        above = [*(heading for heading in above if heading[0] < level), (level, found.group(3).strip())]
    return [words for _, words in above]


def find_windows(
    quotes: Iterable[Quote], text: str, around_chars: int = AROUND_CHARS, slack_chars: int = 0
) -> list[tuple[int, int]]:
    """Return the spans around a page's quotes, merged where they overlap, in order.

    With slack they are widened to whole sentences, if these end near enough.
    """
    merged: list[tuple[int, int]] = []
    for quote in sorted(quotes, key=lambda q: q.start):
        start, end = max(0, quote.start - around_chars), min(len(text), quote.end + around_chars)
        if slack_chars and around_chars:
            before = [m.end() for m in _SENTENCE_END.finditer(text, max(0, start - slack_chars), start)]
            after = _SENTENCE_END.search(text, max(quote.end, end - 2), end + slack_chars)
            start, end = (before[-1] if before else start), (after.start() + 1 if after else end)
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def build_passage(quotes: Sequence[Quote], page: Page, text: str) -> Passage:
    """Return quotes of one page with their context."""
    paths = dict.fromkeys(" > ".join(heading_path(text, quote.start)) for quote in quotes)
    return Passage(
        quotes=tuple(quote.text for quote in quotes),
        title=page.title,
        headings="\n".join(path for path in paths if path),
        date=page.published or "",
        around=STRETCH_GAP.join(text[start:end] for start, end in find_windows(quotes, text)),
    )


def describe_context(quotes: Sequence[Quote], page: Page, text: str, around_chars: int = SHOWN_CHARS) -> str:
    """Render a page's text around some quotes for a model: each excerpt once, under its headings."""
    facts = " · ".join(filter(None, [page.title, page.publisher, page.author, page.published]))
    parts = []
    for start, end in find_windows(quotes, text, around_chars, _SLACK_CHARS):
        path = " > ".join(heading_path(text, start))
        parts.append(f"[{path}] {text[start:end].strip()}" if path else text[start:end].strip())
    return STRETCH_GAP.join([facts, *parts])


async def load_passages(
    claims: Sequence[Claim], pages: Sequence[Page], get: Callable[[str], Awaitable[str]]
) -> dict[str, Passage]:
    """Load the evidence of each claim by id; bare quotes if a page's text is gone."""
    by_sha = {page.sha: page for page in reversed(pages)}
    texts: dict[str, str] = {}
    found: dict[str, Passage] = {}
    for claim in claims:
        parts = []
        for sha in dict.fromkeys(quote.page for quote in claim.quotes):
            quotes = [quote for quote in claim.quotes if quote.page == sha]
            try:
                texts[sha] = texts[sha] if sha in texts else await get(sha)
                parts.append(build_passage(quotes, by_sha[sha], texts[sha]))
            except (ProviderError, KeyError):
                parts.append(Passage(quotes=tuple(quote.text for quote in quotes)))
        found[claim.id] = join_passages(parts)
    return found


async def load_page_texts(claims: Sequence[Claim], get: Callable[[str], Awaitable[str]]) -> dict[str, str]:
    """Load the texts of the quoted pages by hash, without those that are gone."""
    texts: dict[str, str] = {}
    for sha in dict.fromkeys(quote.page for claim in claims for quote in claim.quotes):
        try:
            texts[sha] = await get(sha)
        except ProviderError:
            continue
    return texts


def join_passages(parts: Sequence[Passage]) -> Passage:
    """Join passages, for a sentence with several claims."""
    if len(parts) == 1:
        return parts[0]
    return Passage(
        quotes=tuple(quote for part in parts for quote in part.quotes),
        title="\n".join(dict.fromkeys(part.title for part in parts if part.title)),
        headings="\n".join(dict.fromkeys(part.headings for part in parts if part.headings)),
        date="\n".join(dict.fromkeys(part.date for part in parts if part.date)),
        around=STRETCH_GAP.join(part.around for part in parts if part.around),
    )


MOST_PAGES = 48
_WHOLE_CHARS = 1600
_OPENING_CHARS = 300
_AROUND_CHARS = 200


async def load_excerpts(
    pages: Sequence[Page], claims: Sequence[Claim], get: Callable[[str], Awaitable[str]]
) -> list[PageExcerpt]:
    """Load one excerpt per text, in reading order; of very many pages those with the best claims."""
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
                continue  # a text that is gone has no links; its quotes stay
            found.append(PageExcerpt(sha, titles[sha], cut_around(text, places.get(sha, []))))
    return found


def cut_around(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Return a short text whole; else its beginning and the text around the spans, equally short."""
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

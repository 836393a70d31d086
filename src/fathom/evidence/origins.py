"""Where a page gives a statement to another source and links it: that source is the statement's origin.

The words are in `lexicon/attribution.toml`. Certain cases only: a phrase like "according to" and a link
beside it in one sentence, a line "Source: …" under what it is the source of, a footnote's mark, or a sentence
that points to the source right after one that names it. Does not fetch anything, and does not know who speaks
the truth.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from fathom.reading.protocol import Link
from fathom.state import Claim, ClaimDraft, Origin, Page, Quote
from fathom.text.sentences import SentenceSpan, split_sentences

_MOST = 60
_NEAR_CHARS = 120  # between the words that attribute and the link
_VERB_CHARS = 40
_WORDS_CHARS = 80
_MOST_GOING_ON = 2  # further sentences that go on with the same source
_LONGEST = 600  # of a sentence


def find_origins(text: str, links: Sequence[Link]) -> list[Origin]:
    """Return what a page attributes to pages it links, with the part of the text that each stands behind."""
    spans = split_sentences(text) if links else []
    starts = [span.start for span in spans]
    by_sentence: dict[int, list[Link]] = {}
    for link in links:
        place = bisect_right(starts, link.start) - 1
        if place >= 0 and link.start <= spans[place].end:
            by_sentence.setdefault(place, []).append(link)
    found: dict[tuple[str, int], Origin] = {}
    for place, here in sorted(by_sentence.items()):
        for origin in _find_in_sentence(text, spans, place, here):
            found.setdefault((origin.address, origin.start), origin)
    return list(found.values())[:_MOST]


def find_origin(quote: Quote, page: Page) -> Origin | None:
    """Return the source that the page names for the words of a quote, if it names one."""
    behind = [origin for origin in page.origins if _covers(origin, quote)]
    return min(behind, key=lambda origin: (origin.end - origin.start, origin.start), default=None)


def keep_used_origins(page: Page, claims: Sequence[Claim | ClaimDraft]) -> Page:
    """Return the page with only those origins that a claim's quote stands on: the state stays small."""
    quotes = [quote for claim in claims for quote in claim.quotes if quote.page == page.sha]
    used = [origin for origin in page.origins if any(_covers(origin, quote) for quote in quotes)]
    return page if len(used) == len(page.origins) else page.model_copy(update={"origins": used})


def _covers(origin: Origin, quote: Quote) -> bool:
    """Whether at least half of a quote stands in what the origin stands behind."""
    shared = min(origin.end, quote.end) - max(origin.start, quote.start)
    return 2 * shared >= quote.end - quote.start


def _find_in_sentence(
    text: str, spans: Sequence[SentenceSpan], place: int, links: Sequence[Link]
) -> list[Origin]:
    span = spans[place]
    low = span.text.lower()[:_LONGEST]
    if line := _pattern("line").search(low):
        start = _find_block_start(text, span.start)
        return [_make_origin(link, line.group(), start, span.end) for link in links]
    if beside := _find_nearest_link(low, span.start, links):
        link, words = beside
        return [_make_origin(link, words, span.start, _find_attribution_end(text, spans, place))]
    before = spans[place - 1] if place else None
    is_together = before is not None and "\n" not in text[before.end : span.start]
    named = _pattern("named").search(before.text.lower()) if before and is_together else None
    if before and named and _pattern("pointer").search(low):
        return [_make_origin(link, named.group(), before.start, span.end) for link in links[:1]]
    return [_make_origin(link, link.words, span.start, span.end) for link in links if _is_mark(link)]


def _find_nearest_link(low: str, start: int, links: Sequence[Link]) -> tuple[Link, str] | None:
    """The link that stands nearest to words that attribute, if one is near enough."""
    best: tuple[int, Link, str] | None = None
    for kind, most in (("named", _NEAR_CHARS), ("said", _VERB_CHARS)):
        for words in _pattern(kind).finditer(low):
            for link in links:
                begin, end = link.start - start, link.end - start
                apart = max(0, words.start() - end, begin - words.end())
                # What a source "found" stands after it: a link behind the verb is about something else.
                is_near = apart <= most and (kind == "named" or begin <= words.end())
                if is_near and not _is_mark(link) and (best is None or apart < best[0]):
                    best = apart, link, words.group()
        if best:
            return best[1:]
    return None


def _find_attribution_end(text: str, spans: Sequence[SentenceSpan], place: int) -> int:
    """Where the attributed words end: with the sentence, or with those that go on with the same source."""
    end = spans[place].end
    for span in spans[place + 1 : place + 1 + _MOST_GOING_ON]:
        if "\n" in text[end : span.start] or not _pattern("more").search(span.text.lower()[:_LONGEST]):
            break
        end = span.end
    return end


def _find_block_start(text: str, start: int) -> int:
    """Where the paragraph, list or table begins that stands right above."""
    line = text.rfind("\n", 0, start) + 1
    if text[line:start].strip():
        return line  # the line names the source within its own paragraph
    above = text[:line].rstrip()
    return text.rfind("\n\n", 0, len(above)) + 2 if "\n\n" in above else 0


def _is_mark(link: Link) -> bool:
    return _pattern("mark").search(link.words.lower()) is not None


def _make_origin(link: Link, words: str, start: int, end: int) -> Origin:
    return Origin(address=link.address, words=" ".join(words.split())[:_WORDS_CHARS], start=start, end=end)


@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return _patterns()[kind]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    table = tomllib.loads(files("fathom.evidence").joinpath("lexicon/attribution.toml").read_text("utf-8"))
    return {kind: re.compile("|".join(entry.values())) for kind, entry in table.items()}

"""Find the origin of a statement: the source that a page attributes it to and links.

The phrases are in `lexicon/attribution.toml`. Only certain cases count: a phrase like "according to" with a
link in the same sentence, a line "Source: …" below, a footnote mark, or a sentence that refers to the source
right after one that names it.
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
_NEAR_CHARS = 120  # between the attributing phrase and the link
_VERB_CHARS = 40
_WORDS_CHARS = 80
_MOST_GOING_ON = 2  # further sentences from the same source
_LONGEST = 600  # of a sentence


def find_origins(text: str, links: Sequence[Link]) -> list[Origin]:
    """Return what a page attributes to pages it links, with the attributed spans."""
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
    """Return the source that the page names for a quote, if any."""
    behind = [origin for origin in page.origins if _covers(origin, quote)]
    return min(behind, key=lambda origin: (origin.end - origin.start, origin.start), default=None)


def keep_used_origins(page: Page, claims: Sequence[Claim | ClaimDraft]) -> Page:
    """Keep only the origins of quoted text, so that the state stays small."""
    quotes = [quote for claim in claims for quote in claim.quotes if quote.page == page.sha]
    used = [origin for origin in page.origins if any(_covers(origin, quote) for quote in quotes)]
    return page if len(used) == len(page.origins) else page.model_copy(update={"origins": used})


def _covers(origin: Origin, quote: Quote) -> bool:
    """Tell whether at least half of a quote is in the attributed span."""
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
    """Return the link nearest to the attributing phrase, if near enough."""
    best: tuple[int, Link, str] | None = None
    for kind, most in (("named", _NEAR_CHARS), ("said", _VERB_CHARS)):
        for words in _pattern(kind).finditer(low):
            for link in links:
                begin, end = link.start - start, link.end - start
                apart = max(0, words.start() - end, begin - words.end())
                # What a source "found" follows it: a link after the verb is about something else.
                is_near = apart <= most and (kind == "named" or begin <= words.end())
                if is_near and not _is_mark(link) and (best is None or apart < best[0]):
                    best = apart, link, words.group()
        if best:
            return best[1:]
    return None


def _find_attribution_end(text: str, spans: Sequence[SentenceSpan], place: int) -> int:
    """Return where the attributed text ends: with its sentence, or with those that continue it."""
    end = spans[place].end
    for span in spans[place + 1 : place + 1 + _MOST_GOING_ON]:
        if "\n" in text[end : span.start] or not _pattern("more").search(span.text.lower()[:_LONGEST]):
            break
        end = span.end
    return end


def _find_block_start(text: str, start: int) -> int:
    """Return where the paragraph, list or table right above starts."""
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

"""Perspectives from the structure of pages (STORM): the topics that others made chapters of."""

import asyncio
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fathom.errors import ProviderError
from fathom.reading.protocol import Reader
from fathom.state import Failure, Hit
from fathom.state.model_io import PlanInput
from fathom.text.normalization import one_line
from fathom.text.ranking import terms

_HEADING = re.compile(r"^(#{1,4})\s+(.{1,90})$", re.MULTILINE)

_USUAL_HEADING = re.compile(
    r"^(?:contents?|table of contents|references?|see also|external links|notes?|further reading|sources?"
    r"|bibliography"
    r"|introduction|abstract|overview|summary|conclusions?|about(?: us)?|contact|menu|navigation|share"
    r"|comments?|related.*"
    r"|목차|참고\s*문헌|각주|같이\s*보기|외부\s*링크|서론|결론|개요|요약|출처|관련.*|머리말|맺음말)$",
    re.IGNORECASE,
)

_NUMBERED = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|제?\d+[장절])\s+")
_MAX_PAGE_HEADINGS = 12
_MAX_PERSPECTIVES = 5
_MAX_HEADING_CHARS = 80


@dataclass(frozen=True)
class PageStructure:
    """A page's title and chapter headings."""

    title: str
    headings: list[str]


def find_headings(text: str) -> list[str]:
    """Return a page's headings in order, without its title and headings that every page has."""
    found = [(marks, _clean(heading)) for marks, heading in _HEADING.findall(text)]
    chapters = found[1:] if found and found[0][0] == "#" else found
    headings = [heading for _, heading in chapters if heading and not _USUAL_HEADING.match(heading)]
    return list(dict.fromkeys(headings))[:_MAX_PAGE_HEADINGS]


def read_structure(title: str, text: str) -> PageStructure:
    """Return the structure of a page."""
    return PageStructure(one_line(title)[:_MAX_HEADING_CHARS], find_headings(text))


def describe_structure(page: PageStructure) -> str:
    """Return a page's structure in one line; "" if it has none."""
    return f"{page.title}: {' | '.join(page.headings)}" if page.headings else ""


def derive_perspectives(question: str, pages: Sequence[PageStructure], hits: Sequence[Hit]) -> list[str]:
    """Derive perspectives without a model: headings shared by several pages first; else titles."""
    counts = Counter(frozenset(terms(heading)) for page in pages for heading in page.headings)
    ranked = sorted(
        (-counts[frozenset(terms(heading))], place, heading)
        for page in pages
        for place, heading in enumerate(page.headings)
    )
    named = [heading for *_, heading in ranked] or [_clean(hit.title) for hit in hits]
    return distinct_perspectives(named, terms(question))


def distinct_perspectives(named: Sequence[str], asked: set[str] | None = None) -> list[str]:
    """Return a few perspectives that differ from each other and from the question."""
    kept: list[str] = []
    seen: list[set[str]] = []
    for name in (one_line(name)[:_MAX_HEADING_CHARS] for name in named):
        words = terms(name)
        is_new = words and not words <= (asked or set()) and all(not words <= other for other in seen)
        if is_new and len(kept) < _MAX_PERSPECTIVES:
            kept.append(name)
            seen.append(words)
    return kept


def _clean(heading: str) -> str:
    return _NUMBERED.sub("", one_line(heading.strip("#* ")))


_MAX_STRUCTURES = 3
_STRUCTURE_TIMEOUT_S = 8.0


async def add_page_structure(
    brief: PlanInput, hits: Sequence[Hit], reader: Reader
) -> tuple[PlanInput, list[Failure]]:
    """Add scouted hits and, unless it is a fact question, the structure of the best pages to the input."""
    if brief.effort and brief.effort.kind == "fact":
        return replace(brief, scouted=hits), []
    few = hits[:_MAX_STRUCTURES]
    read = await asyncio.gather(*(_fetch_structure(hit, reader) for hit in few))
    found = [one for one in read if isinstance(one, PageStructure)]
    grounded = replace(
        brief,
        scouted=hits,
        outlines=[line for one in found if (line := describe_structure(one))],
        perspectives=derive_perspectives(brief.question, found, hits),
    )
    return grounded, [one for one in read if isinstance(one, Failure)]


async def _fetch_structure(hit: Hit, reader: Reader) -> PageStructure | Failure | None:
    """Fetch a page's headings; a slow page is skipped so that the plan does not wait."""
    try:
        async with asyncio.timeout(_STRUCTURE_TIMEOUT_S):
            document = await reader(hit)
    except ProviderError as error:
        return error.failure("reading", hit.address)
    except TimeoutError:
        return None
    return read_structure(document.title or hit.title, document.text)

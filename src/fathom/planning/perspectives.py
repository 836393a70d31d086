"""Points of view from the structure of pages (STORM): what others who wrote about it made chapters of.

Does not know who read the pages, or what is asked from a perspective.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fathom.state import Hit
from fathom.text.normal import one_line
from fathom.text.ranking import terms

_HEADING = re.compile(r"^(#{1,4})\s+(.{1,90})$", re.MULTILINE)
_EMPTY = re.compile(
    r"^(?:contents?|table of contents|references?|see also|external links|notes?|further reading|sources?"
    r"|bibliography"
    r"|introduction|abstract|overview|summary|conclusions?|about(?: us)?|contact|menu|navigation|share"
    r"|comments?|related.*"
    r"|목차|참고\s*문헌|각주|같이\s*보기|외부\s*링크|서론|결론|개요|요약|출처|관련.*|머리말|맺음말)$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(?:\d+(?:\.\d+)*[.)]?|[IVX]+\.|제?\d+[장절])\s+")
_A_PAGE = 12
_MOST = 5
_LONGEST = 80


@dataclass(frozen=True)
class Structure:
    """A page's title and its chapters."""

    title: str
    headings: list[str]


def headings(text: str) -> list[str]:
    """What a page has chapters about, in order; its title and what every page has are left out."""
    found = [(marks, _clean(heading)) for marks, heading in _HEADING.findall(text)]
    chapters = found[1:] if found and found[0][0] == "#" else found
    told = [heading for _, heading in chapters if heading and not _EMPTY.match(heading)]
    return list(dict.fromkeys(told))[:_A_PAGE]


def structure(title: str, text: str) -> Structure:
    """What is kept of a page to plan with."""
    return Structure(one_line(title)[:_LONGEST], headings(text))


def outline(page: Structure) -> str:
    """A page's structure in one line; empty when it has none."""
    return f"{page.title}: {' | '.join(page.headings)}" if page.headings else ""


def from_structure(question: str, pages: Sequence[Structure], hits: Sequence[Hit]) -> list[str]:
    """Perspectives without a mind: headings that several pages share first, then by place; else titles."""
    counts = Counter(frozenset(terms(heading)) for page in pages for heading in page.headings)
    ranked = sorted(
        (-counts[frozenset(terms(heading))], place, heading)
        for page in pages
        for place, heading in enumerate(page.headings)
    )
    named = [heading for *_, heading in ranked] or [_clean(hit.title) for hit in hits]
    return distinct(named, terms(question))


def distinct(named: Sequence[str], asked: set[str] | None = None) -> list[str]:
    """A few perspectives that differ from each other and say more than the question."""
    kept: list[str] = []
    seen: list[set[str]] = []
    for name in (one_line(name)[:_LONGEST] for name in named):
        words = terms(name)
        is_new = words and not words <= (asked or set()) and all(not words <= other for other in seen)
        if is_new and len(kept) < _MOST:
            kept.append(name)
            seen.append(words)
    return kept


def _clean(heading: str) -> str:
    return _NUMBERED.sub("", one_line(heading.strip("#* ")))

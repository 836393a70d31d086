"""What the evidence lacks, in sentences for whoever writes: so that limits stand where they matter.

Code and the judge found these; no source says them. Does not know models.
"""

from collections.abc import Iterator

from fathom.evidence.scoring import drop_repeats
from fathom.evidence.sources import find_owner
from fathom.state import Contradiction, Page, Writing
from fathom.text.normalization import shorten_line

_MOST_DISPUTES = 3
_MOST_LIMITS = 8
_LEAST_GAPS = 3

_TITLE_CHARS = 80


def describe_limits(state: Writing) -> list[str]:
    """Return who the sources are, what nobody answers, what sources disagree about; each once, and few."""
    quoted = {quote.page for claim in state["claims"] for quote in claim.quotes}
    pages = list({page.sha: page for page in state.get("pages", []) if page.sha in quoted}.values())
    fixed = list(_source_limits(pages))
    disputes = list(_dispute_limits(state))
    room = max(_LEAST_GAPS, _MOST_LIMITS - len(fixed) - len(disputes))
    return [*fixed, *_gap_limits(state)[:room], *disputes]


def _source_limits(pages: list[Page]) -> Iterator[str]:
    if not pages:
        return
    named = "; ".join(_name_source(page) for page in pages)
    yield f"All evidence is from these sources, and no other was read: {named}."
    if len(pages) > 1 and len({find_owner(page) for page in pages}) == 1:
        yield "All sources have the same publisher; nobody independent of it was read."


def _name_source(page: Page) -> str:
    about = ", ".join(word for word in (page.publisher or "", (page.published or "undated")[:10]) if word)
    return f"{shorten_line(page.title, _TITLE_CHARS)} ({about})"


def _gap_limits(state: Writing) -> list[str]:
    """What is open, the judge's gaps first; what parts lack often says the same."""
    points = dict(_open_points(state))
    return [points[one] for one in drop_repeats(list(points), state.get("question", ""))]


def _open_points(state: Writing) -> Iterator[tuple[str, str]]:
    """Each point as it was given, and as the writer reads it."""
    judgements = state.get("judgements", [])
    gaps = judgements[-1].gaps if judgements else []
    headings = state["outline"].headings if "outline" in state else []
    lacking = {heading.lacks for heading in headings}  # a thin part is a gap as well
    for gap in (gap for gap in gaps if gap.description not in lacking):
        why = "what was found was refused" if gap.is_rejected else "nothing was found"
        yield gap.description, f"Not answered ({why}): {shorten_line(gap.description)}"
    for heading in headings:
        if heading.lacks:
            yield heading.lacks, f"About “{heading.title}”: {shorten_line(heading.lacks)}"


def _dispute_limits(state: Writing) -> Iterator[str]:
    titles = {page.sha: page.title for page in state.get("pages", [])}
    told = [entry for entry in state.get("contradictions", []) if not entry.is_slight]
    for entry in told[:_MOST_DISPUTES]:
        yield _describe_dispute(entry, titles)


def _describe_dispute(entry: Contradiction, titles: dict[str, str]) -> str:
    sides = " against ".join(
        f"“{shorten_line(side.value)}” ({shorten_line(titles.get(side.pages[0], ''), _TITLE_CHARS)})"
        for side in entry.sides
        if side.pages
    )
    verb = "disagree" if entry.is_certain else "may disagree"
    return f"Sources {verb} about {shorten_line(entry.about)}: {sides}."

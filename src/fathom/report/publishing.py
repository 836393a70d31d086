"""From checked sections to a report: numbers for sources, a status, the text.

Does not know minds or the world; everything comes from the state.
"""

from bisect import bisect_right
from collections.abc import Sequence

from fathom.report import markdown
from fathom.report.words import words_for
from fathom.state import (
    Citation,
    Claim,
    Judgement,
    Loss,
    Page,
    Quote,
    Report,
    ResearchState,
    Section,
    Writing,
)
from fathom.text.normal import one_line


def published(state: Writing) -> Report:
    """The report of a run that found something."""
    claims = {claim.id: claim for claim in state["claims"]}
    order = [heading.id for heading in state["outline"].headings]
    sections = sorted(state["sections"], key=lambda s: order.index(s.id))
    citations, numbers = _numbered(sections, claims, state["pages"])
    judgement = state["judgements"][-1]
    lost = state.get("losses", [])
    status = "partial" if _is_partial(judgement, lost) else "complete"
    words = words_for(state["question"], state["knobs"].language)
    answered = {claim.question for claim in claims.values()}
    unanswered = [q.text for q in state.get("questions", []) if q.id not in answered]
    used = [claims[c] for c in numbers]
    blocks = [
        f"# {markdown.plain(state['outline'].title)}",
        markdown.summary(status, judgement, used, len(state["pages"]), words),
        *markdown.body(sections, numbers, words),
        *markdown.open_points(judgement.gaps, unanswered, words),
        *markdown.losses(lost, state.get("dropped", []), words),
        *markdown.sources(citations, words),
    ]
    return Report(
        title=state["outline"].title,
        status=status,
        sections=sections,
        citations=citations,
        markdown="\n\n".join(blocks) + "\n",
    )


def nothing_found(
    state: ResearchState, judgement: Judgement, lost: Sequence[Loss], language: str | None
) -> Report:
    """The honest report of a run that found nothing: no prose from zero evidence."""
    words = words_for(state["question"], language)
    title = one_line(state["question"])
    blocks = [
        f"# {markdown.plain(title)}",
        markdown.summary("failed", judgement, [], len(state.get("pages", [])), words),
        words.nothing,
        *markdown.searched(state.get("asked", []), words),
        *markdown.losses(lost, state.get("dropped", []), words),
    ]
    return Report(
        title=title, status="failed", sections=[], citations=[], markdown="\n\n".join(blocks) + "\n"
    )


def _is_partial(judgement: Judgement, lost: Sequence[Loss]) -> bool:
    """A page that cannot be read is told; a model or an engine that failed makes the report partial."""
    return judgement.stop == "budget used up" or any(
        loss.where in {"model", "analysis"} or loss.where.startswith("search") for loss in lost
    )


def _numbered(
    sections: Sequence[Section], claims: dict[str, Claim], pages: Sequence[Page]
) -> tuple[list[Citation], dict[str, list[int]]]:
    """A number for each page in order of appearance, and the numbers of each claim that is used."""
    by_sha = {page.sha: page for page in pages}
    quotes: dict[str, list[Quote]] = {}
    numbers: dict[str, list[int]] = {}
    places: dict[str, int] = {}
    for sentence in (s for section in sections for s in section.sentences if s.status == "supported"):
        for claim_id in sentence.claims:
            claim = claims[claim_id]
            # A quote of a page that was not read in this run cannot be cited: there is no number for it.
            read = [quote for quote in claim.quotes if quote.page in by_sha]
            for quote in read:
                places.setdefault(quote.page, len(places) + 1)
                if quote not in quotes.setdefault(quote.page, []):
                    quotes[quote.page].append(quote)
            numbers[claim_id] = [places[quote.page] for quote in read]
    citations = [_citation(places[sha], by_sha[sha], found) for sha, found in quotes.items()]
    return citations, numbers


def _citation(number: int, page: Page, quotes: list[Quote]) -> Citation:
    return Citation(
        number=number,
        page=page.sha,
        address=page.address,
        title=page.title,
        published=page.published,
        fetched=page.fetched,
        quotes=quotes,
        printed_pages=[bisect_right(page.starts, quote.start) for quote in quotes] if page.starts else [],
    )

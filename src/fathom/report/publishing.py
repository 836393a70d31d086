"""From checked sections to a report: numbers for sources, a status, the text.

Does not know minds or the world; everything comes from the state.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence

from fathom.report import changes, markdown, weights
from fathom.report.drafts import quoted_section
from fathom.report.ending import Outcome, doubts, status_of
from fathom.report.words import ENGLISH, words_for
from fathom.search.addresses import canonical
from fathom.state import (
    Citation,
    Claim,
    Failure,
    Heading,
    Judgement,
    Outline,
    Page,
    Quote,
    Rejected,
    Report,
    ResearchState,
    Section,
    Update,
    Writing,
)
from fathom.text.normal import one_line


def published(state: Writing, language: str | None = None) -> Report:
    """Return the report of a run that found something; without a language, in that of the question."""
    claims = {claim.id: claim for claim in state["claims"]}
    sections = supported_sections(state["outline"], state.get("sections", []), claims)
    disputes = weights.shown(state.get("contradictions", []), sections, claims)
    citations, numbers = _numbered(sections, claims, state["pages"], weights.disputed_claims(disputes))
    judgement = state["judgements"][-1]
    lost = state.get("failures", [])
    words = words_for(state["question"], language)
    answered = {claim.question for claim in claims.values()}
    unanswered = [q.text for q in state.get("questions", []) if q.id not in answered]
    used = [claims[c] for c, found in numbers.items() if found]
    told = {claim.id for claim in used}
    weighed = [finding for finding in state.get("findings", []) if told & set(finding.claims)]
    outcome = Outcome(judgement, sections, state.get("questions", []), used, weighed, lost)
    status = status_of(outcome)
    head = words.status(status, doubts(outcome))
    contested = weights.open_disputes(disputes, numbers, words)
    blocks = [
        f"# {markdown.plain(state['outline'].title)}",
        markdown.summary(head, judgement, used, len(state["pages"]), words),
        *changes.told(state.get("update") or changes.changed(state, sections), words),
        *(markdown.body(sections, numbers, words, contested) if used else [words.nothing]),
        *weights.disagreements(disputes, numbers, words),
        *weights.certainty(state.get("findings", []), state.get("questions", []), numbers, words),
        *markdown.open_points(judgement.gaps, unanswered, words),
        *markdown.failures(lost, state.get("rejected", []), sections, words),
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
    state: ResearchState,
    judgement: Judgement,
    lost: Sequence[Failure],
    language: str | None,
    update: Update | None = None,
) -> Report:
    """The honest report of a run that found nothing: no prose from zero evidence."""
    words = words_for(state["question"], language)
    title = one_line(state["question"])
    blocks = [
        f"# {markdown.plain(title)}",
        markdown.summary(words.failed, judgement, [], len(state.get("pages", [])), words),
        *changes.told(update or changes.changed(state, []), words),
        words.nothing,
        *markdown.searched(state.get("asked", []), words),
        *markdown.failures(lost, state.get("rejected", []), [], words),
    ]
    return Report(
        title=title, status="failed", sections=[], citations=[], markdown="\n\n".join(blocks) + "\n"
    )


def supported_sections(
    outline: Outline, sections: Sequence[Section], claims: Mapping[str, Claim]
) -> list[Section]:
    """The sections in the outline's order; when nothing in them is supported, quotes in their place."""
    written = {section.id: section for section in sections}
    found = [written[heading.id] for heading in outline.headings if heading.id in written]
    if any(sentence.status == "supported" for section in found for sentence in section.sentences):
        return found
    return [_quoted(heading, written.get(heading.id), claims) for heading in outline.headings]


def _quoted(heading: Heading, written: Section | None, claims: Mapping[str, Claim]) -> Section:
    quotes = quoted_section(heading, claims)
    if written is None:
        return quotes
    refused = [*written.rejected, *(s for s in written.sentences if s.status == "unsupported")]
    return quotes.model_copy(update={"rejected": refused, "is_quoted": True})


def refused_sentences(sections: Sequence[Section]) -> list[Rejected]:
    """How many sentences of each section were dropped, by what was wrong with them."""
    counts = Counter((section.id, s.fault or "unknown") for section in sections for s in section.rejected)
    return [
        Rejected(page="", section=section, count=count, why=ENGLISH.faults[fault])
        for (section, fault), count in counts.items()
    ]


def _numbered(
    sections: Sequence[Section], claims: dict[str, Claim], pages: Sequence[Page], more: Sequence[str]
) -> tuple[list[Citation], dict[str, list[int]]]:
    """A number for each page in order of appearance, and the numbers of each claim that is used.

    `more` are the claims that stand after the sections, in the table of disagreements.
    """
    by_sha = {page.sha: page for page in reversed(pages)}  # of a text at two addresses, the first
    one_place = {sha: canonical(page.address) for sha, page in by_sha.items()}
    quotes: dict[str, list[Quote]] = {}
    numbers: dict[str, list[int]] = {}
    places: dict[str, int] = {}
    told = [s for section in sections for s in section.sentences if s.status == "supported"]
    for claim_id in [c for sentence in told for c in sentence.claims] + [c for c in more if c in claims]:
        # A quote of a page that was not read in this run cannot be cited: there is no number for it.
        read = [quote for quote in claims[claim_id].quotes if quote.page in by_sha]
        for quote in read:
            place = one_place[quote.page]
            places.setdefault(place, len(places) + 1)
            if quote not in quotes.setdefault(place, []):
                quotes[place].append(quote)
        numbers[claim_id] = [places[one_place[quote.page]] for quote in read]
    citations = [_citation(places[place], by_sha, found) for place, found in quotes.items()]
    return citations, numbers


def _citation(number: int, pages: Mapping[str, Page], quotes: list[Quote]) -> Citation:
    page = pages[quotes[0].page]
    return Citation(
        number=number,
        page=page.sha,
        address=page.address,
        title=page.title,
        published=page.published,
        fetched=page.fetched,
        quotes=quotes,
        gone=any(pages[quote.page].gone for quote in quotes),
        printed_pages=[bisect_right(pages[q.page].starts, q.start) for q in quotes] if page.starts else [],
    )

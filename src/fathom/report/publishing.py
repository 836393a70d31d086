"""From checked sections to a report: numbers for sources, a status, the text.

Does not know models or the world; everything comes from the state.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from fathom.evidence.primary import is_primary, primary_pages
from fathom.report import weights
from fathom.report.certainty import certainty, describe_failures, describe_status
from fathom.report.changes import changed
from fathom.report.drafts import quoted_section
from fathom.report.editing import SUMMARY, has_summary, order_sections
from fathom.report.ending import Outcome, doubts, status_of
from fathom.report.extracts import render_report
from fathom.report.layout import Numbers, PreparedReport, ReportKind, claims_of, shown_sentences
from fathom.report.markdown import render_markdown
from fathom.report.passage_lines import are_extracts
from fathom.report.words import ENGLISH, Words, words_for
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
    Status,
    Update,
    Writing,
)
from fathom.text.normal import one_line

_ORDER = {"summary": 0, "body": 1, "conclusion": 2}


def published(
    state: Writing, language: str | None = None, *, has_quotes: bool = False, kind: ReportKind = "report"
) -> Report:
    """Return the report of a run that found something; without a language, in that of the question."""
    prepared = prepare(state, language, has_quotes=has_quotes, kind=kind)
    return prepared.as_report(render_report(prepared))


def prepare(
    state: Writing, language: str | None = None, *, has_quotes: bool = False, kind: ReportKind = "report"
) -> PreparedReport:
    """Everything the report says, ready to be rendered as Markdown or HTML."""
    claims = {claim.id: claim for claim in state["claims"]}
    sections = supported_sections(state["outline"], state.get("sections", []), claims)
    disputes = weights.bearing_disputes(state.get("contradictions", []), sections)
    citations, numbers = _numbered(sections, claims, state["pages"], weights.disputed_claims(disputes))
    words = words_for(state["question"], language)
    outcome = _outcome(state, sections, numbers)
    kind = "extracts" if are_extracts(sections) else kind
    status = status_of(replace(outcome, is_extracts=kind == "extracts"))
    return PreparedReport(
        title=state["outline"].title,
        status=status,
        kind=kind,
        words=words,
        sections=sections,
        citations=citations,
        claims=claims,
        numbers=numbers,
        disputes=weights.dispute_rows(disputes, numbers, words),
        open_disputes=weights.open_disputes(disputes, numbers, words),
        certainty=certainty(outcome, status, state.get("rejected", []), numbers, words, kind),
        update=state.get("update") or changed(state, sections),
        has_quotes=has_quotes,
    )


def _outcome(state: Writing | ResearchState, sections: Sequence[Section], numbers: Numbers) -> Outcome:
    """What the report rests on."""
    used = [claim for claim in state.get("claims", []) if numbers.get(claim.id)]
    told = {claim.id for claim in used}
    return Outcome(
        judgement=state["judgements"][-1],
        sections=sections,
        questions=state.get("questions", []),
        used=used,
        findings=[finding for finding in state.get("findings", []) if told & set(finding.claims)],
        failures=state.get("failures", []),
        known=state.get("claims", []),
    )


def describe_result(
    state: Writing | ResearchState,
    sections: Sequence[Section],
    status: Status,
    words: Words,
    kind: ReportKind = "report",
) -> str:
    """The status of a report of these sections and what speaks against it, for lists and screens."""
    claims = {claim.id: claim for claim in state.get("claims", [])}
    disputes = weights.bearing_disputes(state.get("contradictions", []), sections)
    _, numbers = _numbered(sections, claims, state.get("pages", []), weights.disputed_claims(disputes))
    return describe_status(status, doubts(_outcome(state, sections, numbers)), words, kind)


def nothing_found(
    state: ResearchState,
    judgement: Judgement,
    lost: Sequence[Failure],
    language: str | None,
    update: Update | None = None,
) -> Report:
    """The honest report of a run that found nothing: no prose from zero evidence."""
    prepared = prepare_nothing(state, judgement, lost, language, update)
    return prepared.as_report(render_markdown(prepared))


def prepare_nothing(
    state: ResearchState,
    judgement: Judgement,
    lost: Sequence[Failure],
    language: str | None,
    update: Update | None = None,
) -> PreparedReport:
    """What a run that found nothing tells: what was looked for, and what stood in the way."""
    words = words_for(state["question"], language)
    outcome = Outcome(judgement, [], [], [], [], lost)
    return PreparedReport(
        title=one_line(state["question"]),
        status="failed",
        kind="report",
        words=words,
        sections=[],
        citations=[],
        claims={},
        numbers={},
        disputes=[],
        open_disputes=[],
        certainty=[
            *(f"{clause}." for clause in describe_failures(lost, words)),
            *certainty(outcome, "failed", state.get("rejected", []), {}, words),
        ],
        update=update or changed(state, []),
        searched=[query.text for query in state.get("asked", [])],
    )


def supported_sections(
    outline: Outline, sections: Sequence[Section], claims: Mapping[str, Claim]
) -> list[Section]:
    """The summary, the sections in the outline's order, and the conclusion.

    When nothing in them is supported, quotes stand in their place. A summary of what the sections said before
    they were written again is left out.
    """
    written = {section.id: section for section in sections}
    found = order_sections(outline, sections)
    found += [written[SUMMARY]] if has_summary(sections, outline) else []
    ordered = sorted(found, key=lambda section: _ORDER[section.kind])
    if any(sentence.status == "supported" for section in found for sentence in section.sentences):
        return ordered
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
        Rejected(page="", section=section, count=count, why=ENGLISH.name("fault", fault))
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
    told = [s for section in sections for s in shown_sentences(section) if s.status == "supported"]
    named = [c for sentence in told for c in claims_of(sentence) if c in claims]
    for claim_id in named + [c for c in more if c in claims]:
        # A quote of a page that was not read in this run cannot be cited: there is no number for it.
        read = [quote for quote in claims[claim_id].quotes if quote.page in by_sha]
        for quote in read:
            place = one_place[quote.page]
            places.setdefault(place, len(places) + 1)
            if quote not in quotes.setdefault(place, []):
                quotes[place].append(quote)
        numbers[claim_id] = [places[one_place[quote.page]] for quote in read]
    primary = primary_pages(pages)
    citations = [_citation(places[place], by_sha, found, primary) for place, found in quotes.items()]
    return citations, numbers


def _citation(
    number: int, pages: Mapping[str, Page], quotes: list[Quote], primary: frozenset[str]
) -> Citation:
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
        publisher=page.publisher or "",
        printed_pages=[bisect_right(pages[q.page].starts, q.start) for q in quotes] if page.starts else [],
        is_primary=any(is_primary(quote, pages, primary) for quote in quotes),
    )

"""From checked sections to a report: numbers for sources, a status, the text.

Does not know models or the world; everything comes from the state.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from fathom.evidence.sources import find_primary_pages, is_primary
from fathom.http.urls import canonical_address
from fathom.report import certainty
from fathom.report.certainty import (
    ReportBasis,
    describe_certainty,
    describe_failures,
    describe_status,
    find_doubts,
    report_status,
)
from fathom.report.drafting import quote_section
from fathom.report.editing import SUMMARY_ID, has_summary, order_sections
from fathom.report.extracts import render_report
from fathom.report.formats.markdown import render_markdown
from fathom.report.layout import NumbersByClaim, PreparedReport, ReportKind, claims_behind, shown_sentences
from fathom.report.passages import are_extracts
from fathom.state import (
    Change,
    Citation,
    Claim,
    EarlierRun,
    Failure,
    Heading,
    Judgement,
    Outline,
    Page,
    Quote,
    Rejected,
    Report,
    ResearchState,
    RunUpdate,
    Section,
    Status,
    Writing,
)
from fathom.state.planning import ChangeKind
from fathom.text.messages import ENGLISH, Messages, messages_for
from fathom.text.normalization import one_line

_SHOWN_FIRST: tuple[ChangeKind, ...] = (
    "page changed", "page gone", "page back", "page new", "claim gone", "claim new",
    "section rewritten", "section new", "section gone", "section untouched",
)  # fmt: skip


def find_changes(state: Writing | ResearchState, sections: Iterable[Section]) -> RunUpdate | None:
    """What changed since the earlier run, in a report of these sections; None when there is none."""
    earlier = state.get("earlier")
    if earlier is None:
        return None
    found = [
        *_page_changes(earlier, state.get("pages", [])),
        *_claim_changes(earlier, state.get("claims", []), state.get("pages", [])),
        *_section_changes(earlier, [section for section in sections if section.sentences]),
    ]
    distinct = {(change.kind, change.what): change for change in found}.values()
    ordered = sorted(distinct, key=lambda change: _SHOWN_FIRST.index(change.kind))
    return RunUpdate(run=earlier.run, since=earlier.ended, changes=ordered)


def _page_changes(earlier: EarlierRun, pages: Iterable[Page]) -> Iterator[Change]:
    before = {page.address: page for page in earlier.pages}
    for page in pages:
        known = before.get(page.address)
        if known is None:
            yield Change(kind="page new", what=page.title)
        elif page.gone:  # told every time: while a page is gone, it is not true that nothing changed
            yield Change(kind="page gone", what=page.title, why=page.gone)
        elif page.sha != known.sha:
            yield Change(kind="page changed", what=page.title)
        elif known.gone:
            yield Change(kind="page back", what=page.title)


def _claim_changes(earlier: EarlierRun, claims: list[Claim], pages: Iterable[Page]) -> Iterator[Change]:
    titles = {page.sha: page.title for page in [*earlier.pages, *pages]}

    def told(kind: ChangeKind, claim: Claim) -> Change:
        return Change(kind=kind, what=claim.statement, why=titles.get(claim.quotes[0].page, ""))

    now, then = {claim.id for claim in claims}, {claim.id for claim in earlier.claims}
    yield from (told("claim gone", claim) for claim in earlier.claims if claim.id not in now)
    yield from (told("claim new", claim) for claim in claims if claim.id not in then)


def _section_changes(earlier: EarlierRun, sections: list[Section]) -> Iterator[Change]:
    before = {section.id: section for section in earlier.sections}
    for section in sections:
        known = before.get(section.id)
        if known is None:
            yield Change(kind="section new", what=_section_name(section))
        elif _section_content(known) == _section_content(section):
            yield Change(kind="section untouched", what=_section_name(section))
        else:
            yield Change(kind="section rewritten", what=_section_name(section))
    now = {section.id for section in sections}
    yield from (
        Change(kind="section gone", what=_section_name(s))
        for s in earlier.sections
        if s.sentences and s.id not in now
    )


def _section_content(section: Section) -> tuple[object, ...]:
    return section.title, section.sentences, section.blocks


def _section_name(section: Section) -> str:
    return section.title or section.kind


_OF_THE_DEMO = "/fathom/demo/"  # in the address of a document of ours: a report on it says so
_SECTION_ORDER = {"summary": 0, "body": 1, "conclusion": 2}


def publish_report(
    state: Writing, language: str | None = None, *, has_quotes: bool = False, kind: ReportKind = "report"
) -> Report:
    """Return the report of a run that found something; without a language, in that of the question."""
    prepared = prepare_report(state, language, has_quotes=has_quotes, kind=kind)
    return prepared.as_report(render_report(prepared))


def prepare_report(
    state: Writing, language: str | None = None, *, has_quotes: bool = False, kind: ReportKind = "report"
) -> PreparedReport:
    """Everything the report says, ready to be rendered as Markdown or HTML."""
    claims = {claim.id: claim for claim in state["claims"]}
    sections = supported_sections(state["outline"], state.get("sections", []), claims)
    disputes = certainty.relevant_disputes(state.get("contradictions", []), sections)
    citations, numbers = _number_sources(
        sections, claims, state["pages"], certainty.disputed_claims(disputes)
    )
    words = messages_for(state["question"], language)
    outcome = _basis_of_report(state, sections, numbers)
    outcome = replace(outcome, is_disputed=bool(certainty.open_disputes(disputes, numbers, words)))
    kind = "extracts" if are_extracts(sections) else kind
    status = report_status(replace(outcome, is_extracts=kind == "extracts"))
    return PreparedReport(
        title=state["outline"].title,
        status=status,
        kind=kind,
        words=words,
        sections=sections,
        citations=citations,
        claims=claims,
        numbers=numbers,
        disputes=certainty.dispute_rows(disputes, numbers, words),
        open_disputes=certainty.open_disputes(disputes, numbers, words),
        certainty=[
            *describe_certainty(outcome, status, state.get("rejected", []), numbers, words, kind),
            *([words("certainty.demo")] if any(_OF_THE_DEMO in one.address for one in citations) else []),
        ],
        update=state.get("update") or find_changes(state, sections),
        has_quotes=has_quotes,
    )


def _basis_of_report(
    state: Writing | ResearchState, sections: Sequence[Section], numbers: NumbersByClaim
) -> ReportBasis:
    """What the report rests on."""
    used = [claim for claim in state.get("claims", []) if numbers.get(claim.id)]
    told = {claim.id for claim in used}
    quoted = {quote.page for claim in used for quote in claim.quotes}
    return ReportBasis(
        judgement=state["judgements"][-1],
        sections=sections,
        questions=state.get("questions", []),
        used=used,
        findings=[finding for finding in state.get("findings", []) if told & set(finding.claims)],
        failures=state.get("failures", []),
        known=state.get("claims", []),
        retracted=[page.title for page in state.get("pages", []) if page.retracted and page.sha in quoted],
        question=state["question"],
        contradictions=state.get("contradictions", []),
    )


def describe_result(
    state: Writing | ResearchState,
    sections: Sequence[Section],
    status: Status,
    words: Messages,
    kind: ReportKind = "report",
) -> str:
    """The status of a report of these sections and what speaks against it, for lists and screens."""
    claims = {claim.id: claim for claim in state.get("claims", [])}
    disputes = certainty.relevant_disputes(state.get("contradictions", []), sections)
    _, numbers = _number_sources(
        sections, claims, state.get("pages", []), certainty.disputed_claims(disputes)
    )
    return describe_status(status, find_doubts(_basis_of_report(state, sections, numbers)), words, kind)


def publish_nothing_found(
    state: ResearchState,
    judgement: Judgement,
    lost: Sequence[Failure],
    language: str | None,
    update: RunUpdate | None = None,
) -> Report:
    """The honest report of a run that found nothing: no prose from zero evidence."""
    prepared = prepare_nothing_found(state, judgement, lost, language, update)
    return prepared.as_report(render_markdown(prepared))


def prepare_nothing_found(
    state: ResearchState,
    judgement: Judgement,
    lost: Sequence[Failure],
    language: str | None,
    update: RunUpdate | None = None,
) -> PreparedReport:
    """What a run that found nothing tells: what was looked for, and what stood in the way."""
    words = messages_for(state["question"], language)
    outcome = ReportBasis(judgement, [], [], [], [], lost)
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
            *describe_certainty(outcome, "failed", state.get("rejected", []), {}, words),
        ],
        update=update or find_changes(state, []),
        searched=list(dict.fromkeys(query.text for query in state.get("asked", []))),
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
    found += [written[SUMMARY_ID]] if has_summary(sections, outline) else []
    ordered = sorted(found, key=lambda section: _SECTION_ORDER[section.kind])
    if any(sentence.status == "supported" for section in found for sentence in section.sentences):
        return ordered
    return [_quote_part(heading, written.get(heading.id), claims) for heading in outline.headings]


def _quote_part(heading: Heading, written: Section | None, claims: Mapping[str, Claim]) -> Section:
    quotes = quote_section(heading, claims)
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


def _number_sources(
    sections: Sequence[Section], claims: dict[str, Claim], pages: Sequence[Page], more: Sequence[str]
) -> tuple[list[Citation], dict[str, list[int]]]:
    """A number for each page in order of appearance, and the numbers of each claim that is used.

    `more` are the claims that stand after the sections, in the table of disagreements.
    """
    by_sha = {page.sha: page for page in reversed(pages)}  # of a text at two addresses, the first
    one_place = {sha: canonical_address(page.address) for sha, page in by_sha.items()}
    quotes: dict[str, list[Quote]] = {}
    numbers: dict[str, list[int]] = {}
    places: dict[str, int] = {}
    told = [s for section in sections for s in shown_sentences(section) if s.status == "supported"]
    named = [c for sentence in told for c in claims_behind(sentence) if c in claims]
    for claim_id in named + [c for c in more if c in claims]:
        # A quote of a page that was not read in this run cannot be cited: there is no number for it.
        read = [quote for quote in claims[claim_id].quotes if quote.page in by_sha]
        for quote in read:
            place = one_place[quote.page]
            places.setdefault(place, len(places) + 1)
            if quote not in quotes.setdefault(place, []):
                quotes[place].append(quote)
        numbers[claim_id] = [places[one_place[quote.page]] for quote in read]
    primary = find_primary_pages(pages)
    citations = [_make_citation(places[place], by_sha, found, primary) for place, found in quotes.items()]
    return citations, numbers


def _make_citation(
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
        retracted=page.retracted,
        image=page.image,
    )

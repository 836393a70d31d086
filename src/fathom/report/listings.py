"""What a run knows, as pages for a person: outline, findings, hypotheses, sources, citations.

Does not know files or events: the state goes in, Markdown comes out, also while the run goes on. Words of
sources are shown as words, and the only addresses are those of pages that were read.
"""

from collections.abc import Mapping, Sequence

from fathom.report.bibliography import authors_of
from fathom.report.markdown import bracketed, named, plain, shortened
from fathom.report.words import Words, words_for
from fathom.state import Citation, Claim, Contradiction, Finding, Hypothesis, Page, RunState


def words_of(state: RunState) -> Words:
    """The words a run's report is framed with."""
    run_config = state.get("run_config")
    return words_for(state.get("question", ""), getattr(run_config, "language", None))


def findings(state: RunState) -> str:
    """Every finding under the part of the question it answers, the surest first, with its sources."""
    words = words_of(state)
    found = state.get("findings", [])
    asked = {question.id: question.text for question in state.get("questions", [])}
    claims = {claim.id: claim for claim in state.get("claims", [])}
    pages = {page.sha: page for page in state.get("pages", [])}
    blocks = [_title(words("folder.findings"), state)] + ([] if found else [words("folder.no_findings")])
    for topic in [*asked, ""]:
        here = [f for f in found if (f.question if f.question in asked else "") == topic]
        if here:
            surest = sorted(here, key=lambda finding: -finding.confidence)
            lines = [_finding(finding, claims, pages, words) for finding in surest]
            blocks += [f"## {plain(asked.get(topic, words('folder.other_findings')))}", "\n".join(lines)]
    if disputes := [_dispute(entry, words) for entry in state.get("contradictions", [])]:
        blocks += [f"## {words('report.disagree')}", "\n".join(disputes)]
    gaps = state["judgements"][-1].gaps if state.get("judgements") else []
    if gaps:
        blocks += [f"## {words('folder.missing')}", "\n".join(f"- {plain(gap.description)}" for gap in gaps)]
    return _page(blocks)


def outline(state: RunState) -> str:
    """The report as it takes form: its parts in reading order, with what each rests on and still lacks."""
    words = words_of(state)
    present = state.get("outline")
    claims = {claim.id: claim for claim in state.get("claims", [])}
    blocks = [_title(words("folder.outline"), state)]
    if present is None or not present.headings:
        return _page([*blocks, words("folder.no_outline")])
    blocks.append(f"**{plain(present.title)}**")
    for part in present.headings:
        lines = [f"- {words('folder.lacks')}: {plain(part.lacks)}"] if part.lacks else []
        lines += [f"- {plain(claims[c].statement)}" for c in part.claims if c in claims]
        blocks += [f"## {plain(part.title)}", plain(part.aim), "\n".join(lines)]
    return _page(blocks)


def hypotheses(state: RunState) -> str:
    """What may be true, with what speaks for and against it; the likeliest first."""
    words, known = words_of(state), state.get("hypotheses", [])
    claims = {claim.id: claim for claim in state.get("claims", [])}
    blocks = [_title(words("folder.hypotheses"), state)] + ([] if known else [words("folder.no_hypotheses")])
    for status, title in (("active", words("folder.active")), ("set aside", words("folder.set_aside"))):
        here = sorted((h for h in known if h.status == status), key=lambda h: -h.confidence)
        if here:
            blocks += [f"## {title}", *(_hypothesis(h, claims, words) for h in here)]
    return _page(blocks)


def sources(state: RunState) -> str:
    """Every page that was read, in the order it was, and what could not be."""
    words = words_of(state)
    read = state.get("pages", [])
    report = state.get("report")
    numbers = {c.page: c.number for c in report.citations} if report else {}
    drawn: dict[str, int] = {}
    for claim in state.get("claims", []):
        drawn[claim.quotes[0].page] = drawn.get(claim.quotes[0].page, 0) + 1
    lines = [
        _source(place, page, drawn.get(page.sha, 0), numbers.get(page.sha), words)
        for place, page in enumerate(read, 1)
    ]
    blocks = [_title(words("folder.sources"), state), "\n".join(lines) or words("folder.no_sources")]
    lost = [failure for failure in state.get("failures", []) if failure.where == "reading"]
    if lost:
        told = [f"- `{named(failure.what)}`: {plain(failure.why)}" for failure in lost]
        blocks += [f"## {words('folder.unread')}", "\n".join(told)]
    return _page(blocks)


def citations(state: RunState) -> str:
    """The numbered list of the report with the words it uses; before there is one, of its claims."""
    words = words_of(state)
    report = state.get("report")
    pages = {page.sha: page for page in state.get("pages", [])}
    blocks = [_title(words("folder.citations"), state)]
    if report is not None:
        blocks += [_citation(c, pages.get(c.page), words) for c in report.citations]
    else:
        shas = cited_pages(state)
        blocks += [words("folder.not_yet")] if shas else []
        blocks += ["\n".join(f"{n}. {_reference(pages[sha], words)}" for n, sha in enumerate(shas, 1))]
    return _page(blocks if any(blocks[1:]) else [*blocks, words("folder.no_citations")])


def cited_pages(state: RunState) -> list[str]:
    """The hashes of the pages a report cites, or will have to choose from, in the order of their numbers."""
    if report := state.get("report"):
        return [citation.page for citation in report.citations]
    read = {page.sha for page in state.get("pages", [])}
    said = [quote.page for claim in state.get("claims", []) for quote in claim.quotes]
    return [sha for sha in dict.fromkeys(said) if sha in read]


def link(page: Page) -> str:
    """A page's title and the address it was read at."""
    return f"{plain(page.title or page.address)} {bracketed(page.address)}"


def _finding(finding: Finding, claims: Mapping[str, Claim], pages: Mapping[str, Page], words: Words) -> str:
    shas = dict.fromkeys(q.page for c in finding.claims if c in claims for q in claims[c].quotes)
    tag = words.name("tag", finding.tag)
    lines = [f"- **{tag}** ({finding.confidence:.2f}) {plain(finding.statement)}"]
    return "\n".join([*lines, *(f"  - {link(pages[sha])}" for sha in shas if sha in pages)])


def _dispute(entry: Contradiction, words: Words) -> str:
    sides = [f"“{plain(shortened(side.value))}”" for side in entry.sides]
    settled = words("disagree.open")
    if entry.settled_by and entry.favoured is not None:
        rule = words.name("settlement", entry.settled_by)
        settled = f"{sides[entry.favoured]} ({rule})"
    return f"- {plain(entry.about)}: {' / '.join(sides)}: {settled}"


def _hypothesis(hypothesis: Hypothesis, claims: Mapping[str, Claim], words: Words) -> str:
    born = words("folder.since_round", born=hypothesis.born, touched=hypothesis.touched)
    lines = [f"- **{hypothesis.confidence:.2f}** {plain(hypothesis.statement)} ({born})"]
    for word, speaking in (
        (words("folder.speaks_for"), hypothesis.supporting),
        (words("folder.speaks_against"), hypothesis.contradicting),
    ):
        lines += [f"  - {word}: {plain(claims[c].statement)}" for c in speaking if c in claims]
    return "\n".join(lines)


def _source(place: int, page: Page, claims: int, number: int | None, words: Words) -> str:
    about = [words("folder.claims_drawn", count=claims)]
    about += [words("folder.cited_as", number=number)] if number else []
    return f"{place}. {_reference(page, words)}\n   - {', '.join(about)}"


def _reference(page: Page, words: Words) -> str:
    parts = [words("folder.by", names=plain(", ".join(names)))] if (names := authors_of(page.author)) else []
    parts += [words("report.published_on", date=page.published[:10])] if page.published else []
    parts += [f"DOI {plain(page.doi)}"] if page.doi else []
    parts += [words("folder.cited_by", count=page.cited_by)] if page.cited_by is not None else []
    parts += [words("report.read_on", date=page.fetched[:10])]
    return f"{link(page)} ({', '.join(parts)})"


def _citation(citation: Citation, page: Page | None, words: Words) -> str:
    if page is None:
        return f"{citation.number}. {plain(citation.title)} {bracketed(citation.address)}"
    quotes = "\n".join(f"   > {plain(shortened(used.text))}\n" for used in citation.quotes)
    return f"{citation.number}. {_reference(page, words)}\n{quotes}".rstrip("\n")


def _title(name: str, state: RunState) -> str:
    return f"# {name}: {plain(state.get('question', ''))}"


def _page(blocks: Sequence[str]) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"

"""What a run knows, as pages for a person: outline, findings, hypotheses, sources, citations.

Does not know files or events: the state goes in, Markdown comes out, also while the run goes on. Words of
sources are shown as words, and the only addresses are those of pages that were read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from fathom.errors import ProviderError
from fathom.evidence.corroboration import group_knowledge
from fathom.evidence.grounding import heading_path
from fathom.report.bibliography import split_authors
from fathom.report.formats.markdown import (
    bracket_address,
    escape_markdown,
    name_address,
    shorten_text,
    source_reference,
)
from fathom.report.layout import claims_behind, shown_sentences
from fathom.state import Citation, Claim, Contradiction, Finding, Hypothesis, Page, Quote, Report, RunState
from fathom.text.messages import Messages, messages_for


def messages_of(state: RunState) -> Messages:
    """The words a run's report is framed with."""
    run_config = state.get("run_config")
    return messages_for(state.get("question", ""), getattr(run_config, "language", None))


def is_by_words(state: RunState) -> bool:
    """Whether no model judged what was found: passages share words with the question, and that is all."""
    judgements = state.get("judgements", [])
    return bool(judgements) and judgements[-1].is_by_words


def render_findings(state: RunState) -> str:
    """Every finding under the part of the question it answers: confirmed, uncertain, disproven.

    Without a model these are passages, and nobody has judged how sure they are.
    """
    words = messages_of(state)
    is_judged = not is_by_words(state)
    found = state.get("findings", [])
    asked = {question.id: question.text for question in state.get("questions", [])}
    claims = {claim.id: claim for claim in state.get("claims", [])}
    pages = {page.sha: page for page in state.get("pages", [])}
    blocks = [_page_title(words("folder.findings"), state)] + ([] if found else [words("folder.no_findings")])
    for topic in [*asked, ""]:
        here = [f for f in found if (f.question if f.question in asked else "") == topic]
        if here:
            blocks.append(f"## {escape_markdown(asked.get(topic, words('folder.other_findings')))}")
            groups = group_knowledge(here, state.get("contradictions", [])) if is_judged else {"": here}
            for group, own in groups.items():
                surest = sorted(own, key=lambda finding: -finding.confidence)
                lines = [_render_finding(finding, claims, pages, words, is_judged) for finding in surest]
                title = [f"### {words(f'folder.{group}')}"] if group else []
                blocks += [*title, "\n".join(lines)] if lines else []
    if disputes := [_render_dispute(entry, words) for entry in state.get("contradictions", [])]:
        blocks += [f"## {words('report.disagree')}", "\n".join(disputes)]
    gaps = state["judgements"][-1].gaps if state.get("judgements") else []
    if gaps:
        blocks += [
            f"## {words('folder.missing')}",
            "\n".join(f"- {escape_markdown(gap.description)}" for gap in gaps),
        ]
    return _join_blocks(blocks)


def render_outline(state: RunState) -> str:
    """The report as it takes form: its parts in reading order, with what each rests on and still lacks."""
    words = messages_of(state)
    present = state.get("outline")
    claims = {claim.id: claim for claim in state.get("claims", [])}
    blocks = [_page_title(words("folder.outline"), state)]
    if present is None or not present.headings:
        return _join_blocks([*blocks, words("folder.no_outline")])
    blocks.append(f"**{escape_markdown(present.title)}**")
    for part in present.headings:
        lines = [f"- {words('folder.lacks')}: {escape_markdown(part.lacks)}"] if part.lacks else []
        lines += [f"- {escape_markdown(claims[c].statement)}" for c in part.claims if c in claims]
        blocks += [f"## {escape_markdown(part.title)}", escape_markdown(part.aim), "\n".join(lines)]
    return _join_blocks(blocks)


def render_hypotheses(state: RunState) -> str:
    """What may be true, with what speaks for and against it; the likeliest first."""
    words, known = messages_of(state), state.get("hypotheses", [])
    claims = {claim.id: claim for claim in state.get("claims", [])}
    none = "folder.hypotheses_need_model" if is_by_words(state) else "folder.no_hypotheses"
    blocks = [_page_title(words("folder.hypotheses"), state)] + ([] if known else [words(none)])
    for status, title in (("active", words("folder.active")), ("set aside", words("folder.set_aside"))):
        here = sorted((h for h in known if h.status == status), key=lambda h: -h.confidence)
        if here:
            blocks += [f"## {title}", *(_render_hypothesis(h, claims, words) for h in here)]
    return _join_blocks(blocks)


def render_sources(state: RunState) -> str:
    """Every page that was read, in the order it was, and what could not be."""
    words = messages_of(state)
    read = state.get("pages", [])
    report = state.get("report")
    numbers = {c.page: c.number for c in report.citations} if report else {}
    drawn: dict[str, int] = {}
    for claim in state.get("claims", []):
        drawn[claim.quotes[0].page] = drawn.get(claim.quotes[0].page, 0) + 1
    lines = [
        _render_source(place, page, drawn.get(page.sha, 0), numbers.get(page.sha), words)
        for place, page in enumerate(read, 1)
    ]
    blocks = [_page_title(words("folder.sources"), state), "\n".join(lines) or words("folder.no_sources")]
    lost = [failure for failure in state.get("failures", []) if failure.where == "reading"]
    if lost:
        told = [
            f"- `{name_address(failure.what)}`: {escape_markdown(words.why_failed(failure))}"
            for failure in lost
        ]
        blocks += [f"## {words('folder.unread')}", "\n".join(told)]
    return _join_blocks(blocks)


def render_citations(state: RunState) -> str:
    """The numbered list of the report with the words it uses; before there is one, of its claims."""
    words = messages_of(state)
    report = state.get("report")
    pages = {page.sha: page for page in state.get("pages", [])}
    blocks = [_page_title(words("folder.citations"), state)]
    if report is not None:
        blocks += [_render_citation(c, pages.get(c.page), words) for c in report.citations]
    else:
        shas = cited_pages(state)
        blocks += [words("folder.not_yet")] if shas else []
        blocks += ["\n".join(f"{n}. {_render_reference(pages[sha], words)}" for n, sha in enumerate(shas, 1))]
    return _join_blocks(blocks if any(blocks[1:]) else [*blocks, words("folder.no_citations")])


def cited_pages(state: RunState) -> list[str]:
    """The hashes of the pages a report cites, or will have to choose from, in the order of their numbers."""
    if report := state.get("report"):
        return [citation.page for citation in report.citations]
    read = {page.sha for page in state.get("pages", [])}
    said = [quote.page for claim in state.get("claims", []) for quote in claim.quotes]
    return [sha for sha in dict.fromkeys(said) if sha in read]


def link_to_page(page: Page) -> str:
    """A page's title and the address it was read at."""
    return f"{escape_markdown(page.title or page.address)} {bracket_address(page.address)}"


def _render_finding(
    finding: Finding,
    claims: Mapping[str, Claim],
    pages: Mapping[str, Page],
    words: Messages,
    is_judged: bool,
) -> str:
    shas = dict.fromkeys(q.page for c in finding.claims if c in claims for q in claims[c].quotes)
    tag = f"**{words.name('tag', finding.tag)}** ({finding.confidence:.2f}) " if is_judged else ""
    lines = [f"- {tag}{escape_markdown(finding.statement)}"]
    return "\n".join([*lines, *(f"  - {link_to_page(pages[sha])}" for sha in shas if sha in pages)])


def _render_dispute(entry: Contradiction, words: Messages) -> str:
    sides = [f"“{escape_markdown(shorten_text(side.value))}”" for side in entry.sides]
    settled = words("disagree.open" if entry.is_certain else "disagree.perhaps")
    if entry.settled_by and entry.favoured is not None:
        rule = words.name("settlement", entry.settled_by)
        settled = f"{sides[entry.favoured]} ({rule})"
    return f"- {escape_markdown(entry.about)}: {' / '.join(sides)}: {settled}"


def _render_hypothesis(hypothesis: Hypothesis, claims: Mapping[str, Claim], words: Messages) -> str:
    born = words("folder.since_round", born=hypothesis.born, touched=hypothesis.touched)
    statement = f"{hypothesis.id}. {escape_markdown(hypothesis.statement)}"
    lines = [f"- **{hypothesis.confidence:.2f}** {statement} ({born})"]
    for word, speaking in (
        (words("folder.speaks_for"), hypothesis.supporting),
        (words("folder.speaks_against"), hypothesis.contradicting),
    ):
        lines += [f"  - {word}: {escape_markdown(claims[c].statement)}" for c in speaking if c in claims]
    return "\n".join(lines)


def _render_source(place: int, page: Page, claims: int, number: int | None, words: Messages) -> str:
    about = [words("folder.claims_drawn", count=claims)]
    about += [words("folder.cited_as", number=number)] if number else []
    return f"{place}. {_render_reference(page, words)}\n   - {', '.join(about)}"


def _render_reference(page: Page, words: Messages) -> str:
    parts = (
        [words("folder.by", names=escape_markdown(", ".join(names)))]
        if (names := split_authors(page.author))
        else []
    )
    parts += [words("report.published_on", date=page.published[:10])] if page.published else []
    parts += [f"DOI {escape_markdown(page.doi)}"] if page.doi else []
    parts += [words("folder.cited_by", count=page.cited_by)] if page.cited_by is not None else []
    parts += [words("report.read_on", date=page.fetched[:10])]
    parts += [f"**{words('report.retracted', who=page.retracted)}**"] if page.retracted else []
    parts += [escape_markdown(page.linked)] if page.linked else []
    parts += [f"{words('report.image')} {name_address(page.image)}"] if page.image else []
    return f"{link_to_page(page)} ({', '.join(parts)})"


def _render_citation(citation: Citation, page: Page | None, words: Messages) -> str:
    if page is None:
        return f"{citation.number}. {escape_markdown(citation.title)} {bracket_address(citation.address)}"
    quotes = "\n".join(f"   > {escape_markdown(shorten_text(used.text))}\n" for used in citation.quotes)
    return f"{citation.number}. {_render_reference(page, words)}\n{quotes}".rstrip("\n")


def _page_title(name: str, state: RunState) -> str:
    return f"# {name}: {escape_markdown(state.get('question', ''))}"


def _join_blocks(blocks: Sequence[str]) -> str:
    return "\n\n".join(block for block in blocks if block) + "\n"


_FOR_CHARS = 120


class QuotedPageTexts(Protocol):
    """Where the texts of pages are kept."""

    async def get(self, sha: str) -> str:
        """The text of a page."""


async def render_quotes(state: RunState, texts: QuotedPageTexts) -> str:
    """The page; before there is a report, it says so."""
    words, report = messages_of(state), state.get("report")
    blocks = [f"# {words('folder.quotes')}: {escape_markdown(state.get('question', ''))}"]
    if report is None or not report.citations:
        return "\n\n".join([*blocks, words("folder.no_citations")]) + "\n"
    used = _used_for(report, state)
    for citation in report.citations:
        text = {sha: await _text_or_empty(texts, sha) for sha in {quote.page for quote in citation.quotes}}
        blocks += _quotes_of_citation(citation, text, used, words)
    return "\n\n".join(blocks) + "\n"


async def _text_or_empty(texts: QuotedPageTexts, sha: str) -> str:
    try:
        return await texts.get(sha)
    except ProviderError:
        return ""


def _used_for(report: Report, state: RunState) -> dict[tuple[str, int, int], list[str]]:
    """The sentences each quote is cited for."""
    claims = {claim.id: claim for claim in state.get("claims", [])}
    found: dict[tuple[str, int, int], list[str]] = {}
    for section in report.sections:
        for sentence in shown_sentences(section):
            if sentence.status == "supported":
                for quote in (q for c in claims_behind(sentence) if c in claims for q in claims[c].quotes):
                    found.setdefault((quote.page, quote.start, quote.end), []).append(sentence.text)
    return found


def _quotes_of_citation(
    citation: Citation,
    texts: Mapping[str, str],
    used: Mapping[tuple[str, int, int], list[str]],
    words: Messages,
) -> Iterator[str]:
    yield f"## [{citation.number}] {escape_markdown(citation.title)}"
    read = words("report.read_on", date=citation.fetched[:10])
    sha = words("folder.hash", sha=citation.page)
    yield f"{source_reference(citation, words)} {bracket_address(citation.address)} ({read}; {sha})"
    printed = citation.printed_pages or [0] * len(citation.quotes)
    for quote, number in zip(citation.quotes, printed, strict=True):
        yield _render_quote(quote, number, texts[quote.page], words)
        cited_for = dict.fromkeys(used.get((quote.page, quote.start, quote.end), []))
        if cited_for:
            shown = (
                f"- {words('folder.used_for', text=escape_markdown(shorten_text(t, _FOR_CHARS)))}"
                for t in cited_for
            )
            yield "\n".join(shown)


def _render_quote(quote: Quote, number: int, text: str, words: Messages) -> str:
    lines = [f"> {escape_markdown(line)}".rstrip() for line in quote.text.strip().splitlines()]
    place = [escape_markdown(" › ".join(heading_path(text, quote.start)))] if text else []
    place += [words("report.on_page", number=number)] if number else []
    place.append(words("folder.letters", start=quote.start, end=quote.end))
    return "\n".join([*lines, ">", f"> — {', '.join(part for part in place if part)}"])

"""Every citation of a report with the words it rests on, where they stand, and what they are cited for.

Does not know files. The headings above a quote come from the page's stored text; a text that is gone leaves
them out.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

from fathom.errors import ProviderError
from fathom.evidence.context import heading_path
from fathom.report.layout import claims_of, shown_sentences
from fathom.report.listings import words_of
from fathom.report.markdown import bracketed, plain, reference, shortened
from fathom.report.words import Words
from fathom.state import Citation, Quote, Report, RunState

_FOR_CHARS = 120


class PageTexts(Protocol):
    """Where the texts of pages are kept."""

    async def get(self, sha: str) -> str:
        """The text of a page."""


async def quotes_page(state: RunState, texts: PageTexts) -> str:
    """The page; before there is a report, it says so."""
    words, report = words_of(state), state.get("report")
    blocks = [f"# {words('folder.quotes')}: {plain(state.get('question', ''))}"]
    if report is None or not report.citations:
        return "\n\n".join([*blocks, words("folder.no_citations")]) + "\n"
    used = _used_for(report, state)
    for citation in report.citations:
        text = {sha: await _text(texts, sha) for sha in {quote.page for quote in citation.quotes}}
        blocks += _citation(citation, text, used, words)
    return "\n\n".join(blocks) + "\n"


async def _text(texts: PageTexts, sha: str) -> str:
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
                for quote in (q for c in claims_of(sentence) if c in claims for q in claims[c].quotes):
                    found.setdefault((quote.page, quote.start, quote.end), []).append(sentence.text)
    return found


def _citation(
    citation: Citation,
    texts: Mapping[str, str],
    used: Mapping[tuple[str, int, int], list[str]],
    words: Words,
) -> Iterator[str]:
    yield f"## [{citation.number}] {plain(citation.title)}"
    read = words("report.read_on", date=citation.fetched[:10])
    sha = words("folder.hash", sha=citation.page)
    yield f"{reference(citation, words)} {bracketed(citation.address)} ({read}; {sha})"
    printed = citation.printed_pages or [0] * len(citation.quotes)
    for quote, number in zip(citation.quotes, printed, strict=True):
        yield _quote(quote, number, texts[quote.page], words)
        cited_for = dict.fromkeys(used.get((quote.page, quote.start, quote.end), []))
        if cited_for:
            shown = (f"- {words('folder.used_for', text=plain(shortened(t, _FOR_CHARS)))}" for t in cited_for)
            yield "\n".join(shown)


def _quote(quote: Quote, number: int, text: str, words: Words) -> str:
    lines = [f"> {plain(line)}".rstrip() for line in quote.text.strip().splitlines()]
    place = [plain(" › ".join(heading_path(text, quote.start)))] if text else []
    place += [words("report.on_page", number=number)] if number else []
    place.append(words("folder.letters", start=quote.start, end=quote.end))
    return "\n".join([*lines, ">", f"> — {', '.join(part for part in place if part)}"])

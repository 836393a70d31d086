"""The text of a report made again from its ledger, to find what a hand has changed in it.

Does not know pages or quotes. Only the version that wrote a report can be expected to write it again:
what another wrote is accounted for line by line (`verify`).
"""

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from typing import cast

from fathom.report.certainty import dispute_rows, disputed_claims, open_disputes, relevant_disputes
from fathom.report.extracts import render_report
from fathom.report.formats.markdown import render_extract, render_sentence
from fathom.report.layout import PreparedReport, claims_behind, shown_sentences
from fathom.report.ledger import Ledger
from fathom.report.publish import describe_result, prepare_nothing_found, prepare_report
from fathom.state import Block, Report, Status, Writing
from fathom.text.messages import Messages, messages_for
from fathom.text.normalization import one_line, shorten_line

_SHOWN_CHARS = 120


def prepare_again(ledger: Ledger) -> PreparedReport:
    """Everything the report says, from a ledger that has a judgement."""
    if ledger.outline is None:
        state = {"question": ledger.question, "asked": ledger.asked, "pages": ledger.sources}
        return prepare_nothing_found(
            {**state, "rejected": ledger.rejected},  # type: ignore[typeddict-item]
            ledger.judgements[-1],
            ledger.errors,
            ledger.settings.language,
            ledger.update,
        )
    return prepare_report(
        ledger_as_state(ledger), ledger.settings.language, has_quotes=ledger.settings.quotes, kind=ledger.kind
    )


def prepare_any(ledger: Ledger) -> PreparedReport:
    """Everything the report says, with its own numbers of sources, also of a ledger that lacks something."""
    if ledger.judgements and _has_all_evidence(ledger):
        made = prepare_again(ledger)
        if [(c.number, c.address) for c in made.citations] == [
            (c.number, c.address) for c in ledger.citations
        ]:
            return made
    return _as_written(ledger)


def _as_written(ledger: Ledger) -> PreparedReport:
    """The sections and citations as they stand; what only a judgement can tell is left out."""
    words = messages_for(ledger.question, ledger.settings.language)
    numbers = {
        claim.id: [c.number for q in claim.quotes for c in ledger.citations if q in c.quotes]
        for claim in ledger.claims
    }
    disputes = relevant_disputes(ledger.contradictions, ledger.sections)
    return PreparedReport(
        title=ledger.outline.title if ledger.outline else one_line(ledger.question),
        status=cast(Status, ledger.status),
        kind=ledger.kind,
        words=words,
        sections=ledger.sections,
        citations=ledger.citations,
        claims={claim.id: claim for claim in ledger.claims},
        numbers=numbers,
        disputes=dispute_rows(disputes, numbers, words),
        open_disputes=open_disputes(disputes, numbers, words),
        certainty=[],
        update=ledger.update,
        has_quotes=ledger.settings.quotes,
    )


def rerender_report(ledger: Ledger) -> Report | None:
    """The report as this version makes it from the ledger; None when too much is missing."""
    if not ledger.judgements or not _has_all_evidence(ledger):
        return None
    prepared = prepare_again(ledger)
    return prepared.as_report(render_report(prepared))


def _has_all_evidence(ledger: Ledger) -> bool:
    """Whether every claim and every heading that the report needs is in the ledger."""
    if ledger.outline is None:
        return True
    known = {claim.id for claim in ledger.claims}
    headings = {heading.id for heading in ledger.outline.headings}
    named = {c for section in ledger.sections for one in section.sentences for c in claims_behind(one)}
    named.update(disputed_claims(ledger.contradictions))
    parts = {section.id for section in ledger.sections if section.kind == "body"}
    return named <= known and parts <= headings


def describe_ledger(ledger: Ledger, words: Messages) -> str:
    """The status of a report and what speaks against it, in a few words."""
    status = cast(Status, ledger.status)
    if ledger.outline is None or not ledger.judgements:
        return words.name("status", status)
    return describe_result(ledger_as_state(ledger), ledger.sections, status, words, ledger.kind)


def is_own_version(ledger: Ledger) -> bool:
    """Whether this version of Fathom says it wrote the report, and must be able to write it again."""
    return ledger.fathom == version("fathom-research")


def ledger_as_state(ledger: Ledger) -> Writing:
    """Everything a report is made of, as it was when it was made."""
    assert ledger.outline is not None
    update: Writing = {"update": ledger.update} if ledger.update else {}
    return {
        **update,
        "question": ledger.question,
        "questions": ledger.questions,
        "pages": ledger.sources,
        "claims": ledger.claims,
        "rejected": [d for d in ledger.rejected if not d.section],  # sentences are counted from the sections
        "judgements": ledger.judgements,
        "findings": ledger.findings,
        "contradictions": ledger.contradictions,
        "outline": ledger.outline,
        "sections": ledger.sections,
        "failures": ledger.errors,
    }


def render_sentences(report: PreparedReport) -> Iterator[tuple[str, int, str]]:
    """Each sentence a reader sees, marks and all: its section's id, its place there, its words."""
    for section in report.sections:
        seen = shown_sentences(section)
        blocks = section.blocks or [Block()]
        for place, sentence in enumerate(section.sentences):
            if not any(sentence is one for one in seen):
                continue
            kind = blocks[min(sentence.block, len(blocks) - 1)].kind
            if kind == "extract":
                yield section.id, place, render_extract(sentence)
            else:
                words = render_sentence(sentence, report)
                yield section.id, place, words.replace("|", "\\|") if kind == "table" else words


def text_differences(made: str, found: str, name: str) -> list[str]:
    """What stands in one text and not in the other, line by line; `found` is called by its name."""
    expected, present = _lines(made), _lines(found)
    if expected == present:
        return []
    added = Counter(present) - Counter(expected)
    missing = Counter(expected) - Counter(present)
    told = [f"{name} says what the ledger does not: {shorten_line(line, _SHOWN_CHARS)}" for line in added]
    shown = [shorten_line(line, _SHOWN_CHARS) for line in missing]
    told += [f"{name} leaves out what the ledger says: {line}" for line in shown]
    return told or [f"{name} has its lines in another order than the ledger."]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]

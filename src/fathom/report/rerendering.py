"""The text of a report made again from its ledger, to find what a hand has changed in it.

Does not know pages or quotes. Only the version that wrote a report can be expected to write it again:
what another wrote is accounted for line by line (`unaccounted`).
"""

from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version

from fathom.report.ledger import Ledger
from fathom.report.markdown import plain
from fathom.report.publishing import nothing_found, published
from fathom.report.weights import disputed_claims
from fathom.state import Report, Writing
from fathom.text.normal import one_line

_SHOWN_CHARS = 120


def rerendered(ledger: Ledger) -> Report | None:
    """The report as this version makes it from the ledger; None when too much is missing."""
    if not ledger.judgements:
        return None
    if ledger.outline is None:
        state = {"question": ledger.question, "asked": ledger.asked, "pages": ledger.sources}
        return nothing_found(
            {**state, "rejected": ledger.rejected},  # type: ignore[typeddict-item]
            ledger.judgements[-1],
            ledger.errors,
            ledger.settings.language,
            ledger.update,
        )
    known = {claim.id for claim in ledger.claims}
    headings = {heading.id for heading in ledger.outline.headings}
    named = {c for section in ledger.sections for sentence in section.sentences for c in sentence.claims}
    named.update(disputed_claims(ledger.contradictions))
    if not named <= known or not {section.id for section in ledger.sections} <= headings:
        return None
    return published(writing_of(ledger), ledger.settings.language)


def is_ours(ledger: Ledger) -> bool:
    """Whether this version of Fathom says it wrote the report, and must be able to write it again."""
    return ledger.fathom == version("fathom-research")


def writing_of(ledger: Ledger) -> Writing:
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


def pieces(report: Report) -> Iterator[tuple[str, int, str]]:
    """Each sentence as the report has it, marks and all: its section's id, its place there, its words."""
    at = 0
    for section in report.sections:
        starts: list[int] = []
        for sentence in section.sentences:
            at = max(at, report.markdown.find(plain(sentence.text), at))
            starts.append(at)
            at += len(plain(sentence.text))
        for place, start in enumerate(starts):
            line_end = report.markdown.find("\n", start)
            following = starts[place + 1] if place + 1 < len(starts) else line_end
            yield section.id, place, report.markdown[start : min(following, line_end)].strip()


def differences(made: str, found: str, name: str) -> list[str]:
    """What stands in one text and not in the other, line by line; `found` is called by its name."""
    expected, present = _lines(made), _lines(found)
    if expected == present:
        return []
    added = Counter(present) - Counter(expected)
    missing = Counter(expected) - Counter(present)
    told = [f"{name} says what the ledger does not: {_shown(line)}" for line in added]
    told += [f"{name} leaves out what the ledger says: {_shown(line)}" for line in missing]
    return told or [f"{name} has its lines in another order than the ledger."]


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def _shown(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _SHOWN_CHARS else line[: _SHOWN_CHARS - 1] + "…"

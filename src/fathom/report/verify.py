"""What stands in a report and comes from nothing in its ledger, whichever version wrote it.

Does not know how a report is made. A line is accounted for when nothing is left of it after the words of the
ledger that may stand there, and the fixed words of a report, are taken away.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from fathom.evidence.calculation import find_calculation_fault
from fathom.evidence.checks.derivation import Passage, find_underived
from fathom.evidence.claims import SUPPORTED, QuoteState, QuoteStatus, worst_status
from fathom.evidence.grounding import join_passages
from fathom.evidence.support import find_contradicting_quote, is_connective
from fathom.report.certainty import disputed_claims
from fathom.report.drafting import cell_statement
from fathom.report.formats.markdown import QUOTE_CHARS, escape_markdown, name_address, shorten_text
from fathom.report.layout import claims_behind, shown_sentences
from fathom.report.ledger import Ledger
from fathom.report.rerender import (
    is_own_version,
    prepare_again,
    render_sentences,
    rerender_report,
    text_differences,
)
from fathom.state import SCOUT, Claim, Quote, Report, Section, Sentence, SentenceKind, Status
from fathom.text.messages import ENGLISH, KOREAN, format_count
from fathom.text.normalization import fold_text, one_line, shorten_line
from fathom.text.ranking import terms

_LETTER = r"[^\W\d_]"

_PHRASE_BREAK = re.compile(r"\{\w+\}|[.;:,()]")

_SHOWN_CHARS = 120


def find_misstatements(ledger: Ledger) -> Iterator[str]:
    """What the ledger says of itself in two places, and not the same."""
    first = [query.text for query in ledger.asked if query.id == SCOUT]
    if first and ledger.question not in first:
        yield f"The question is not the one that was researched: {one_line(first[0])[:_SHOWN_CHARS]}"
    if ledger.is_partial not in (None, ledger.status == "partial"):
        yield "Whether the report is partial is not what its status says."
    if ledger.metadata is None or not ledger.judgements:
        return
    last = ledger.judgements[-1]
    known = {
        "rounds": last.round,
        "queries": len(ledger.asked),
        "sources": len(ledger.sources),
        "claims": len(ledger.claims),
        "score": last.overall,
        "stop": last.stop or "",
        "because": last.because,
    }
    for name, value in known.items():
        if (given := getattr(ledger.metadata, name)) != value:
            told = one_line(str(given))[:_SHOWN_CHARS]
            yield f"The metadata give {name} as {told}; the ledger has {one_line(str(value))}."


def find_unaccounted_lines(ledger: Ledger, made: Report | None) -> Iterator[str]:
    """Lines of the report that neither a report made again has, nor the ledger accounts for."""
    expected = {line.strip() for line in made.markdown.splitlines()} if made else set()
    body = _matcher(_section_texts(ledger.sections) | _fixed_marks())
    summaries = [section for section in ledger.sections if not section.title]
    rest = _matcher(_fixed_phrases() | set(_ledger_texts(ledger)) | _section_texts(summaries))
    headings = {escape_markdown(section.title) for section in ledger.sections}
    is_body = False
    for line in (line.strip() for line in ledger.report.splitlines()):
        if line.startswith("## "):
            is_body = line[3:] in headings
            is_known = is_body or _is_known(line, rest)
        else:
            is_known = _is_known(line, body) if is_body else line in expected or _is_known(line, rest)
        if not is_known:
            yield _describe_line(line)
    if not _says_status(ledger, made):
        yield f"The report does not say that it is {one_line(ledger.status)[:40]}."


def _says_status(ledger: Ledger, made: Report | None) -> bool:
    """Whether the status is the one the ledger gives, or the one in the status line of earlier versions."""
    if ledger.status not in get_args(Status):
        return False
    place = get_args(Status).index(ledger.status)
    names = [words.earlier[place] for words in (ENGLISH, KOREAN)]
    if any(f"\n*{name}" in ledger.report for name in names):
        return True
    return made is not None and made.status == ledger.status and "\n*" not in ledger.report


def _section_texts(sections: Iterable[Section]) -> set[str]:
    """Everything that may stand in sections: sentences, whole or cut into lines, sub-headings, columns."""
    said: set[str] = set()
    for section in sections:
        for sentence in section.sentences:
            said.add(escape_markdown(sentence.text))
            said.update(escape_markdown(line) for line in sentence.text.splitlines())
        for block in section.blocks:
            said.update(escape_markdown(words) for words in (block.title, *block.columns))
    return said


def _is_known(line: str, known: re.Pattern[str]) -> bool:
    """Whether only marks and numbers are left of a line after what is known."""
    return not re.search(_LETTER, known.sub(" ", line))


def _matcher(texts: Iterable[str]) -> re.Pattern[str]:
    """Any of the texts, the longest first, and never inside a word."""
    worded = sorted({text for text in texts if re.search(_LETTER, text)}, key=len, reverse=True)
    return re.compile(rf"(?<!{_LETTER})(?:{'|'.join(map(re.escape, worded)) or '(?!)'})(?!{_LETTER})")


def _describe_line(line: str) -> str:
    return f"The report says what the ledger does not: {shorten_line(line, _SHOWN_CHARS)}"


def _fixed_phrases() -> set[str]:
    """The fixed words of a report in every language, without what is filled into them."""
    spoken = [phrase for words in (ENGLISH, KOREAN) for phrase in (*words.phrases.values(), *words.earlier)]
    return {part.strip(" []“”") for words in spoken for part in _PHRASE_BREAK.split(words)}


def _fixed_marks() -> set[str]:
    names = ("unsupported", "nothing", "disputed", "extracts")
    spoken = (ENGLISH, KOREAN)
    said = {words(f"report.{name}") for words in spoken for name in names}
    return said | {mark for words in spoken for mark in words.earlier_marks}


def _ledger_texts(ledger: Ledger) -> Iterator[str]:
    """Whatever the ledger says outside its sentences, as a report would show it."""
    for text in _strings(ledger.model_dump(exclude={"report", "sections"})):
        yield from (escape_markdown(text), name_address(text), one_line(text))
        if len(text) > QUOTE_CHARS:
            yield shorten_text(escape_markdown(text))
            yield escape_markdown(shorten_text(text))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)


NOT_COMPARED = "Made by another version of Fathom; its text could not be made again and compared."

TOO_LITTLE = "The ledger leaves out too much for the report to be made again and compared."


@dataclass(frozen=True)
class VerifiedSentence:
    """One sentence that claims support, and how it stands."""

    section: str
    text: str
    standing: QuoteState
    why: str
    kind: SentenceKind = "fact"

    @property
    def label(self) -> str:
        """How it stands in one word: an inference that holds is called what it is."""
        return "inference" if self.kind == "inference" and self.standing == "supported" else self.standing


@dataclass(frozen=True)
class Verification:
    """What checking a report again found; `marked` sentences never claimed support."""

    sentences: list[VerifiedSentence]
    marked: int
    faults: list[str]
    notes: list[str] = field(default_factory=list)  # what could not be checked, and is no fault

    @property
    def is_sound(self) -> bool:
        """Whether every sentence holds and nothing else is wrong."""
        return not self.faults and all(checked.standing == "supported" for checked in self.sentences)

    def count(self, label: str) -> int:
        """How many sentences stand so."""
        return sum(checked.label == label for checked in self.sentences)

    @property
    def summary(self) -> str:
        """One line."""
        inferred = self.count("inference")
        counts = [f"{self.count(label)} {label}" for label in ("supported", "changed", "gone")]
        counts[1:1] = [format_count(inferred, "inference")] if inferred else []
        return f"{format_count(len(self.sentences), 'sentence')}: {', '.join(counts)}."


def cited_quotes(ledger: Ledger) -> list[Quote]:
    """Every quote that a sentence or a row of the table of disagreements stands on, once."""
    claims = {claim.id: claim for claim in ledger.claims}
    sentences = (s for section in ledger.sections for s in section.sentences if s.status == "supported")
    names = [*(name for s in sentences for name in claims_behind(s)), *disputed_claims(ledger.contradictions)]
    found = (quote for name in names if name in claims for quote in claims[name].quotes)
    return list({quote.model_dump_json(): quote for quote in found}.values())


def verify_report(
    ledger: Ledger,
    fate: Callable[[Quote], QuoteStatus],
    beside: str | None = None,
    evidence: Mapping[str, Passage] | None = None,
) -> Verification:
    """Check every sentence as code alone can: its quotes, its figures and dates, its calculation.

    `beside` is the text of the report.md that lies beside the ledger; `evidence` is that of each claim, where
    the texts of the pages are known. Whether the words follow from the quotes was decided by a model, and is
    not decided again.
    """
    claims = {claim.id: claim for claim in ledger.claims}
    listed = {page.sha for page in ledger.sources}
    known = {**_bare_evidence(ledger), **(evidence or {})}
    made = rerender_report(ledger)
    # What another version wrote may be worded otherwise, and is then read line by line.
    report = (
        made
        if made and (is_own_version(ledger) or not text_differences(made.markdown, ledger.report, ""))
        else None
    )
    sentences = render_sentences(prepare_again(ledger)) if report else ()
    shown = {(section, place): words for section, place, words in sentences}

    def judged(section: Section, place: int, sentence: Sentence) -> VerifiedSentence:
        words = shown.get((section.id, place), escape_markdown(sentence.text))
        is_shown = words in ledger.report
        found = (
            [QuoteStatus("changed", "the report does not say it so, with these numbers")]
            if not is_shown
            else []
        )
        if sentence.status == "supported":
            found += _fates(sentence, claims, listed, fate)
            found += [QuoteStatus("changed", why) for why in _code_faults(sentence, section, claims, known)]
        elif sentence.status == "connective" and not _only_connects(sentence):
            found.append(QuoteStatus("changed", "it states something and names no claim"))
        final = worst_status(found)
        return VerifiedSentence(section.title, sentence.text, final.standing, final.why, sentence.kind)

    everything = [
        (s.status, judged(section, place, s))
        for section in ledger.sections
        for place, s in enumerate(section.sentences)
        if any(s is one for one in shown_sentences(section))
    ]
    faults = [*_ledger_faults(ledger), *find_misstatements(ledger), *_misquoted_sides(ledger, claims, fate)]
    notes: list[str] = []
    if report:
        faults += _remake_differences(report, ledger)
    elif is_own_version(ledger):
        faults.append(TOO_LITTLE)
    else:
        faults += find_unaccounted_lines(ledger, made)
        (faults if faults else notes).append(NOT_COMPARED)
    if beside is not None:
        faults += text_differences(ledger.report, beside, "report.md")
    # What connects, or is marked as without support, counts only when something is wrong with it.
    counted = [c for status, c in everything if status == "supported" or c.standing != "supported"]
    return Verification(counted, sum(status == "unsupported" for status, _ in everything), faults, notes)


def _remake_differences(report: Report, ledger: Ledger) -> Iterator[str]:
    """Where the report that was made again is another than the one that was found."""
    yield from text_differences(report.markdown, ledger.report, "The report")
    if report.citations != ledger.citations:
        yield "The list of citations is not the one that the claims give."
    if report.status != ledger.status:
        yield f"The status is given as {one_line(ledger.status)[:40]}; the ledger makes it {report.status}."


def _fates(
    sentence: Sentence, claims: dict[str, Claim], listed: set[str], fate: Callable[[Quote], QuoteStatus]
) -> Iterator[QuoteStatus]:
    """Everything that speaks for or against one sentence."""
    unknown = [name for name in claims_behind(sentence) if name not in claims]
    if unknown or not sentence.claims:
        yield QuoteStatus("changed", f"its claim {(unknown or ['?'])[0]} is not in the ledger")
    quotes = [quote for name in claims_behind(sentence) if name in claims for quote in claims[name].quotes]
    for quote in quotes:
        if quote.page not in listed:
            yield QuoteStatus("changed", f"page {quote.page[:12]} is not among the sources")
        status = fate(quote)
        yield SUPPORTED if _rests_on_the_rest(sentence.text, status) else status
    yield SUPPORTED


def _rests_on_the_rest(said: str, status: QuoteStatus) -> bool:
    """Whether a sentence stands on those sentences of a long quote that are still in the page."""
    if not status.lost:
        return False
    wanted = terms(said)
    there, gone = (terms(" ".join(texts)) & wanted for texts in (status.kept, status.lost))
    is_nearer = len(there) > len(gone) and not gone - there
    return is_nearer and not find_underived(said, Passage(quotes=status.kept))


def _bare_evidence(ledger: Ledger) -> dict[str, Passage]:
    """The evidence of each claim as far as the ledger has it: quotes, titles and dates."""
    pages = {page.sha: page for page in ledger.sources}
    found = {}
    for claim in ledger.claims:
        known = [pages[quote.page] for quote in claim.quotes if quote.page in pages]
        found[claim.id] = Passage(
            quotes=tuple(quote.text for quote in claim.quotes),
            title="\n".join(page.title for page in known),
            date=next((page.published for page in known if page.published), ""),
        )
    return found


def _code_faults(
    sentence: Sentence, section: Section, claims: Mapping[str, Claim], evidence: Mapping[str, Passage]
) -> Iterator[str]:
    """What code alone finds wrong: a figure or date from nowhere, a wrong calculation, a claim that says
    otherwise."""
    own = {name: evidence[name] for name in claims_behind(sentence) if name in evidence}
    if not own:
        return
    if sentence.calculation:
        statement = cell_statement(sentence, section)
        if wrong := find_calculation_fault(statement, sentence.calculation, own):
            yield f"its calculation does not hold: {wrong}"
    elif strange := find_underived(sentence.text, join_passages([*own.values()])):
        yield f"its evidence does not give {', '.join(strange)}"
    if sentence.kind == "fact":
        cited = [claims[name] for name in sentence.claims if name in claims]
        found = {
            c.id: find_contradicting_quote(sentence.text, [quote.text for quote in c.quotes]) for c in cited
        }
        # A sentence that every claim seems to oppose tells several sides; its figures were looked up above.
        if not all(found.values()):
            yield from (f"its claim {name} says otherwise: {why}" for name, why in found.items() if why)


def _only_connects(sentence: Sentence) -> bool:
    """Whether it needs no source: a row's label, an empty cell, a link, what the evidence lacks."""
    if sentence.row is not None and (not sentence.column or not any(map(str.isalnum, sentence.text))):
        return True
    if sentence.kind == "limit":
        return bool(sentence.limits) and not find_underived(sentence.text, Passage(tuple(sentence.limits)))
    if sentence.kind == "link":
        return not find_underived(sentence.text, Passage(quotes=()))
    return is_connective(sentence.text)


def _ledger_faults(ledger: Ledger) -> Iterator[str]:
    """What is wrong with the ledger itself."""
    for what, names in (
        ("claims", [claim.id for claim in ledger.claims]),
        ("sections", [section.id for section in ledger.sections]),
        ("sources", [page.address for page in ledger.sources]),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            yield f"Two {what} have the same name: {twice[0][:80]}"


def _misquoted_sides(
    ledger: Ledger, claims: dict[str, Claim], fate: Callable[[Quote], QuoteStatus]
) -> Iterator[str]:
    """Sides of a disagreement whose words are not, or no longer, those of their sources."""
    for side in (side for entry in ledger.contradictions for side in entry.sides):
        quotes = [quote for name in side.claims if name in claims for quote in claims[name].quotes]
        value = fold_text(side.value).text.strip(" .…")
        told = f"The side “{one_line(side.value)[:120]}” of a disagreement"
        if not any(value in fold_text(quote.text).text for quote in quotes):
            yield f"{told} is not in the words of its quotes."
        elif (worst_of := worst_status(fate(quote) for quote in quotes)).standing != "supported":
            yield f"{told} is {worst_of.standing}: {worst_of.why}"

"""Whether a report still holds, sentence by sentence.

Does not know where pages are kept or read: it is told the fate of every quote.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from fathom.evidence.calculation import calculation_faults
from fathom.evidence.carrying import contradicted
from fathom.evidence.connective import is_connective
from fathom.evidence.context import joined_passages
from fathom.evidence.derivation import Passage, underived
from fathom.evidence.standing import SUPPORTED, Fate, Standing, worst
from fathom.report.drafts import cell_statement
from fathom.report.layout import claims_of, shown_sentences
from fathom.report.ledger import Ledger
from fathom.report.markdown import plain
from fathom.report.rerendering import differences, is_ours, prepare_again, render_sentences, rerendered
from fathom.report.unaccounted import misstated, unaccounted
from fathom.report.weights import disputed_claims
from fathom.report.words import counted
from fathom.state import Claim, Quote, Report, Section, Sentence, SentenceKind
from fathom.text.normal import folded, one_line

NOT_COMPARED = "Made by another version of Fathom; its text could not be made again and compared."
TOO_LITTLE = "The ledger leaves out too much for the report to be made again and compared."


@dataclass(frozen=True)
class Checked:
    """One sentence that claims support, and how it stands."""

    section: str
    text: str
    standing: Standing
    why: str
    kind: SentenceKind = "fact"

    @property
    def label(self) -> str:
        """How it stands in one word: an inference that holds is called what it is."""
        return "inference" if self.kind == "inference" and self.standing == "supported" else self.standing


@dataclass(frozen=True)
class Verification:
    """What checking a report again found; `marked` sentences never claimed support."""

    sentences: list[Checked]
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
        counts[1:1] = [counted(inferred, "inference")] if inferred else []
        return f"{counted(len(self.sentences), 'sentence')}: {', '.join(counts)}."


def cited(ledger: Ledger) -> list[Quote]:
    """Every quote that a sentence or a row of the table of disagreements stands on, once."""
    claims = {claim.id: claim for claim in ledger.claims}
    sentences = (s for section in ledger.sections for s in section.sentences if s.status == "supported")
    names = [*(name for s in sentences for name in claims_of(s)), *disputed_claims(ledger.contradictions)]
    found = (quote for name in names if name in claims for quote in claims[name].quotes)
    return list({quote.model_dump_json(): quote for quote in found}.values())


def verified(
    ledger: Ledger,
    fate: Callable[[Quote], Fate],
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
    made = rerendered(ledger)
    # What another version wrote may be worded otherwise, and is then read line by line.
    report = made if made and (is_ours(ledger) or not differences(made.markdown, ledger.report, "")) else None
    sentences = render_sentences(prepare_again(ledger)) if report else ()
    shown = {(section, place): words for section, place, words in sentences}

    def judged(section: Section, place: int, sentence: Sentence) -> Checked:
        words = shown.get((section.id, place), plain(sentence.text))
        is_shown = words in ledger.report
        found = [Fate("changed", "the report does not say it so, with these numbers")] if not is_shown else []
        if sentence.status == "supported":
            found += _fates(sentence, claims, listed, fate)
            found += [Fate("changed", why) for why in _code_faults(sentence, section, claims, known)]
        elif sentence.status == "connective" and not _only_connects(sentence):
            found.append(Fate("changed", "it states something and names no claim"))
        final = worst(found)
        return Checked(section.title, sentence.text, final.standing, final.why, sentence.kind)

    everything = [
        (s.status, judged(section, place, s))
        for section in ledger.sections
        for place, s in enumerate(section.sentences)
        if any(s is one for one in shown_sentences(section))
    ]
    faults = [*_faults(ledger), *misstated(ledger), *_misquoted(ledger, claims, fate)]
    notes: list[str] = []
    if report:
        faults += _remade(report, ledger)
    elif is_ours(ledger):
        faults.append(TOO_LITTLE)
    else:
        faults += unaccounted(ledger, made)
        (faults if faults else notes).append(NOT_COMPARED)
    if beside is not None:
        faults += differences(ledger.report, beside, "report.md")
    # What connects, or is marked as without support, counts only when something is wrong with it.
    counted = [c for status, c in everything if status == "supported" or c.standing != "supported"]
    return Verification(counted, sum(status == "unsupported" for status, _ in everything), faults, notes)


def _remade(report: Report, ledger: Ledger) -> Iterator[str]:
    """Where the report that was made again is another than the one that was found."""
    yield from differences(report.markdown, ledger.report, "The report")
    if report.citations != ledger.citations:
        yield "The list of citations is not the one that the claims give."
    if report.status != ledger.status:
        yield f"The status is given as {one_line(ledger.status)[:40]}; the ledger makes it {report.status}."


def _fates(
    sentence: Sentence, claims: dict[str, Claim], listed: set[str], fate: Callable[[Quote], Fate]
) -> Iterator[Fate]:
    """Everything that speaks for or against one sentence."""
    unknown = [name for name in claims_of(sentence) if name not in claims]
    if unknown or not sentence.claims:
        yield Fate("changed", f"its claim {(unknown or ['?'])[0]} is not in the ledger")
    quotes = [quote for name in claims_of(sentence) if name in claims for quote in claims[name].quotes]
    for quote in quotes:
        if quote.page not in listed:
            yield Fate("changed", f"page {quote.page[:12]} is not among the sources")
        yield fate(quote)
    yield SUPPORTED


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
    own = {name: evidence[name] for name in claims_of(sentence) if name in evidence}
    if not own:
        return
    if sentence.calculation:
        statement = cell_statement(sentence, section)
        if wrong := calculation_faults(statement, sentence.calculation, own):
            yield f"its calculation does not hold: {wrong}"
    elif strange := underived(sentence.text, joined_passages([*own.values()])):
        yield f"its evidence does not give {', '.join(strange)}"
    if sentence.kind == "fact":
        cited = [claims[name] for name in sentence.claims if name in claims]
        found = {c.id: contradicted(sentence.text, [quote.text for quote in c.quotes]) for c in cited}
        # A sentence that every claim seems to oppose tells several sides; its figures were looked up above.
        if not all(found.values()):
            yield from (f"its claim {name} says otherwise: {why}" for name, why in found.items() if why)


def _only_connects(sentence: Sentence) -> bool:
    """Whether it states nothing: the label of a row, an empty cell, a link between sentences."""
    if sentence.row is not None and (not sentence.column or not any(map(str.isalnum, sentence.text))):
        return True
    if sentence.kind == "link":
        return not underived(sentence.text, Passage(quotes=()))
    return is_connective(sentence.text)


def _faults(ledger: Ledger) -> Iterator[str]:
    """What is wrong with the ledger itself."""
    for what, names in (
        ("claims", [claim.id for claim in ledger.claims]),
        ("sections", [section.id for section in ledger.sections]),
        ("sources", [page.address for page in ledger.sources]),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            yield f"Two {what} have the same name: {twice[0][:80]}"


def _misquoted(ledger: Ledger, claims: dict[str, Claim], fate: Callable[[Quote], Fate]) -> Iterator[str]:
    """Sides of a disagreement whose words are not, or no longer, those of their sources."""
    for side in (side for entry in ledger.contradictions for side in entry.sides):
        quotes = [quote for name in side.claims if name in claims for quote in claims[name].quotes]
        value = folded(side.value).text.strip(" .…")
        told = f"The side “{one_line(side.value)[:120]}” of a disagreement"
        if not any(value in folded(quote.text).text for quote in quotes):
            yield f"{told} is not in the words of its quotes."
        elif (worst_of := worst(fate(quote) for quote in quotes)).standing != "supported":
            yield f"{told} is {worst_of.standing}: {worst_of.why}"

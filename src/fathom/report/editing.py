"""What an editor wants of a checked draft, turned into sentences to check, and applied as far as they hold.

Does not know models. Citations are frozen: a changed sentence keeps its claims, a sentence of the summary
inherits those of the sentences it rests on. What does not hold falls back to what was checked before.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fathom.evidence.checks.derivation import is_same_figure
from fathom.evidence.checks.figures import find_figures
from fathom.report.drafting import (
    ClaimsById,
    PassagesByClaim,
    captioned_statement,
    check_by_code,
    check_item,
    needs_no_check,
    redraft_sentence,
)
from fathom.report.passages import are_extracts, is_extract
from fathom.report.titles import is_sound_title, is_usable_title
from fathom.state import Block, Claim, Edit, Outline, Section, Sentence, SentenceKind, short_hash
from fathom.state.model_io import SentenceToCheck
from fathom.text.messages import KOREAN, messages_for
from fathom.text.normalization import one_line
from fathom.text.sentences import DEPENDENT_OPENING

SUMMARY_ID = "summary"
_MOST_SUMMARY = 8
_MOST_CONCLUSIONS = 14
_FALLBACK_SENTENCES = 3
_SUMMING = ("summary", "plainer")
_LISTED_FROM = 4  # sentences: from so many on, a summary is its answer and a list
_ENOUGH = 2  # sentences of a summary that answer without one that failed
_LEAD = re.compile(r"([^\W\d_][^:.;`*\[\]]{0,40}):\s+(?=\S)")  # "Cost: …"


@dataclass(frozen=True)
class EditCandidate:
    """A sentence that an editor wants, what is checked of it, and the number it belongs to."""

    use: Literal["summary", "plainer", "change", "link"]
    number: int
    sentence: Sentence
    section: Section
    rests_on: Sequence[Sentence] = ()
    grounds: Sequence[str] = ()  # those sentences as a checker reads them, cells with their row and column

    def item(self, evidence: PassagesByClaim) -> SentenceToCheck:
        """Return it as its checker sees it."""
        item = check_item(self.sentence, self.section, evidence)
        return replace(item, rests_on=self.grounds)

    def needs_check(self, claims: ClaimsById) -> bool:
        """Whether a model has to look at it: not at what was checked word for word."""
        if any(one.text == self.sentence.text and one.kind == self.sentence.kind for one in self.rests_on):
            return False
        return not needs_no_check(self.sentence, self.section, claims)


def order_sections(outline: Outline, sections: Sequence[Section]) -> list[Section]:
    """Return the written parts in the outline's order, without the summary."""
    written = {section.id: section for section in sections}
    return [written[heading.id] for heading in outline.headings if heading.id in written]


def summary_basis(sections: Sequence[Section]) -> str:
    """Return a short name for all that a summary is written from."""
    return short_hash(*(part for section in sections for part in (section.id, section.basis)))


def has_summary(sections: Sequence[Section], outline: Outline) -> bool:
    """Whether there is a summary of exactly these parts."""
    summary = next((section for section in sections if section.id == SUMMARY_ID), None)
    return summary is not None and summary.basis == summary_basis(order_sections(outline, sections))


def is_summary_due(sections: Sequence[Section], outline: Outline) -> bool:
    """Whether the parts were written by a model and are not summed up as they are now."""
    return _is_written(order_sections(outline, sections)) and not has_summary(sections, outline)


def _is_written(sections: Sequence[Section]) -> bool:
    """Whether there is more than extracts and lists of statements, which need no summary."""
    return any(section.blocks for section in sections) and not are_extracts(sections)


def make_candidates(
    edit: Edit, sections: Sequence[Section], claims: ClaimsById, evidence: PassagesByClaim
) -> list[EditCandidate]:
    """Return the sentences that the editor wants, with their claims, as far as code lets them pass."""
    places = _sentences_by_number(sections)
    wanted = [
        *_summary_candidates(edit, places, claims, evidence),
        *_change_candidates(edit, places, claims, evidence),
    ]
    for one in edit.links:
        if one.number in places and _is_editable(*places[one.number]):
            given = Sentence(text=one.text, claims=[], status="connective", kind="link")
            section, before = places[one.number]
            link = redraft_sentence(given, claims).model_copy(update={"block": before.block})
            wanted.append(EditCandidate("link", one.number, link, section))
    return [
        one
        for one in wanted
        if one.sentence.text and (one.use in _SUMMING or one.sentence.status != "unsupported")
    ]


def _sentences_by_number(sections: Sequence[Section]) -> dict[int, tuple[Section, Sentence]]:
    """Every sentence by its number, counted from 1 over all sections."""
    pairs = [(section, sentence) for section in sections for sentence in section.sentences]
    return dict(enumerate(pairs, 1))


def _is_editable(section: Section, sentence: Sentence) -> bool:
    """Whether it is neither a cell of a table nor a line of a passage."""
    return sentence.row is None and not is_extract(sentence, section)


def _summary_candidates(
    edit: Edit, places: Mapping[int, tuple[Section, Sentence]], claims: ClaimsById, evidence: PassagesByClaim
) -> list[EditCandidate]:
    found = []
    for number, wanted in enumerate(edit.summary[:_MOST_SUMMARY]):
        known = [
            (section, one)
            for n in dict.fromkeys(wanted.rests_on)
            if n in places
            for section, one in _expand_row(*places[n])
            if one.status == "supported" or one.kind == "limit"
        ]
        bases = [one for _, one in known]
        grounds = list(dict.fromkeys(captioned_statement(one, section) for section, one in known))
        if not bases:
            continue
        wordings: dict[str, Literal["summary", "plainer"]] = {
            one_line(wanted.plainer): "plainer",
            one_line(wanted.text): "summary",
        }
        for text, use in reversed(wordings.items()):
            given = _make_summary_sentence(text, bases)
            section = Section(id=SUMMARY_ID, title="", sentences=[given])
            checked = check_by_code(redraft_sentence(given, claims), claims, evidence)
            found.append(EditCandidate(use, number, checked, section, bases, grounds))
    return found


def _expand_row(section: Section, sentence: Sentence) -> list[tuple[Section, Sentence]]:
    """Return the sentence; for the name of a table's row, which has no evidence, the row's cells."""
    if sentence.row is None or sentence.column:
        return [(section, sentence)]
    row = (one for one in section.sentences if (one.block, one.row) == (sentence.block, sentence.row))
    return [(section, one) for one in row]


def _make_summary_sentence(text: str, bases: Sequence[Sentence]) -> Sentence:
    """A sentence with the claims of those it rests on, and with the calculation whose result it tells.

    It is an inference if one of them is.
    """
    ids = list(dict.fromkeys(c for one in bases for c in one.claims))
    told = find_figures(text)
    computed = [one.calculation for one in bases if one.calculation]
    own = [c for c in computed if any(is_same_figure(f, g) for f in told for g in find_figures(c.result))]
    limits = list(dict.fromkeys(limit for one in bases for limit in one.limits))
    is_inferred = any(one.kind == "inference" for one in bases) or (ids and limits)
    kind: SentenceKind = "inference" if is_inferred else "calculation" if own else "fact"
    return Sentence(
        text=text,
        claims=ids,
        status="supported",
        kind=kind if ids else "limit",
        calculation=own[0] if own else None,
        limits=limits,
        is_summing=any(one.kind in ("fact", "calculation") for one in bases),
    )


def _change_candidates(
    edit: Edit, places: Mapping[int, tuple[Section, Sentence]], claims: ClaimsById, evidence: PassagesByClaim
) -> list[EditCandidate]:
    found = []
    for wanted in edit.changes:
        if wanted.number not in places:
            continue
        section, before = places[wanted.number]
        text = one_line(wanted.text)
        if before.status == "unsupported" or text in {"", before.text} or not _is_editable(section, before):
            continue
        anew = redraft_sentence(before.model_copy(update={"text": text}), claims)
        found.append(EditCandidate("change", wanted.number, check_by_code(anew, claims, evidence), section))
    return found


def main_conclusions(
    candidates: Sequence[EditCandidate], sections: Sequence[Section]
) -> list[tuple[Section, Sentence]]:
    """Return what the report is remembered for: the summary, and the inferences of the concluding part.

    Each sentence of the summary in one wording: the second makes the same points and falls with the first.
    """
    wordings: dict[int, EditCandidate] = {}
    for one in candidates:
        if one.use in _SUMMING and one.sentence.status == "supported":
            wordings.setdefault(one.number, one)
    # No quote can speak against a limit.
    summed = [(one.section, one.sentence) for one in wordings.values() if one.sentence.kind != "limit"]
    weighed = [
        (section, sentence)
        for section in sections
        if section.kind == "conclusion"
        for sentence in section.sentences
        if sentence.kind == "inference" and sentence.status == "supported"
    ]
    return [*summed, *weighed][:_MOST_CONCLUSIONS]


def without_refuted(
    candidates: Sequence[EditCandidate], against: Collection[str], failed: Collection[EditCandidate]
) -> list[EditCandidate]:
    """Return the candidates that were not refuted; of a summary's sentence no wording is left.

    One that its checker had refused by itself is no measure for the other wording, which was checked too.
    """
    gone = {
        one.number
        for one in candidates
        if one.use in _SUMMING and one.sentence.text in against and one not in failed
    }
    return [
        one
        for one in candidates
        if one.sentence.text not in against and not (one.use in _SUMMING and one.number in gone)
    ]


def apply_edit(edit: Edit, sections: Sequence[Section], accepted: Collection[EditCandidate]) -> list[Section]:
    """Return the sections with the changes that hold, without repetitions and cuts, with their links."""
    changed = {one.number: one.sentence for one in accepted if one.use == "change"}
    links = {one.number: one.sentence for one in accepted if one.use == "link"}
    places = _sentences_by_number(sections)
    gone = _repetitions(edit, places)
    gone |= _cuts(edit, places, gone)
    edited: list[Section] = []
    number = 0
    for section in sections:
        kept: list[Sentence] = []
        for sentence in section.sentences:
            number += 1
            kept += [] if number in gone else [changed.get(number, sentence)]
            kept += [links[number]] if number in links else []
        is_whole = any(sentence.status == "supported" for sentence in kept)
        edited.append(section.model_copy(update={"sentences": kept}) if is_whole else section)
    return [_emphasize_leads(section) for section in edited]


def _emphasize_leads(section: Section) -> Section:
    """Return the section with the lead words of a list standing out, if most of its items have such."""
    sentences = list(section.sentences)
    for number, block in enumerate(section.blocks):
        own = [n for n, one in enumerate(sentences) if one.block == number and one.row is None]
        led = [n for n in own if _LEAD.match(sentences[n].text)]
        if block.kind in ("bullets", "numbered") and 2 * len(led) > len(own):
            for n in led:
                sentences[n] = emphasize_lead(sentences[n])
    return section.model_copy(update={"sentences": sentences})


def _repetitions(edit: Edit, places: Mapping[int, tuple[Section, Sentence]]) -> set[int]:
    """The numbers of sentences that repeat one that stays; cells and lines of passages are never removed."""
    gone: set[int] = set()
    for one in edit.repetitions:
        if one.number == one.same_as or not {one.number, one.same_as} <= places.keys() - gone:
            continue
        if _is_editable(*places[one.number]) and places[one.same_as][1].status == "supported":
            gone.add(one.number)
    return gone


def summary_title(question: str, language: str | None) -> str:
    """Return what the summary is called in the report's language."""
    return "요약" if messages_for(question, language) is KOREAN else "Summary"


def _cuts(edit: Edit, places: Mapping[int, tuple[Section, Sentence]], gone: Collection[int]) -> set[int]:
    """The numbers of sentences that tell nothing; a fact stays, and so does what alone cites a claim.

    A calculation may go with its claims: its figures help nobody if it does not.
    """
    cut: set[int] = set()
    for number in edit.cuts:
        if number not in places or not _is_editable(*places[number]) or places[number][1].kind == "fact":
            continue
        wanted = places[number][1]
        left = (one for n, (_, one) in places.items() if n not in {*gone, *cut, number})
        if wanted.calculation or set(wanted.claims) <= {claim for one in left for claim in one.claims}:
            cut.add(number)
    return cut


def make_summary(
    sentences: Sequence[Sentence], sections: Sequence[Section], question: str, language: str | None
) -> Section | None:
    """Return the summary; where none of it holds, the strongest checked sentences stand in.

    None for what was written without a model: extracts need no summary.
    """
    if not _is_written(sections):
        return None
    told = list(sentences) or _strongest_sentences(sections)
    if not told:
        return None
    is_list = len(told) >= _LISTED_FROM
    led = {n for n, one in enumerate(told) if n and _LEAD.match(one.text)}
    if is_list and led:  # the answer, in running text, before the items
        told = [*(s for n, s in enumerate(told) if n not in led), *(told[n] for n in sorted(led))]
    answer = len(told) - len(led) if led else 1
    return Section(
        id=SUMMARY_ID,
        title=summary_title(question, language),
        sentences=[_place_in_summary(one, int(is_list and n >= answer)) for n, one in enumerate(told)],
        blocks=[Block(), Block(kind="bullets")] if is_list else [Block()],
        kind="summary",
        basis=summary_basis(sections),
    )


def _place_in_summary(sentence: Sentence, block: int) -> Sentence:
    """The sentence in its block; in the list the words that lead it stand out."""
    place = {"block": block, "row": None, "column": None}
    placed = sentence.model_copy(update=place)
    return emphasize_lead(placed) if block else placed


def emphasize_lead(sentence: Sentence) -> Sentence:
    """Return an item of a list in which the words that lead it stand out: **Cost:** …"""
    return sentence.model_copy(update={"text": _LEAD.sub(r"**\1:** ", sentence.text, count=1)})


def choose_summary(
    candidates: Sequence[EditCandidate], accepted: Collection[EditCandidate]
) -> list[Sentence]:
    """Return the summary's sentences; one that fails gives way to its second wording.

    If that fails too, a checked sentence that it rests on stands in, but only for the answer itself or where
    little else is left: it would be read twice.
    """
    own = [one for one in candidates if one.use == "summary"]
    held = {one.number: one.sentence for one in accepted if one.use == "plainer"}
    held |= {one.number: one.sentence for one in accepted if one.use == "summary"}
    told: list[Sentence] = []
    for one in own:
        if one.number in held:
            told.append(held[one.number])
        elif one.number == own[0].number or len(held) < _ENOUGH:
            known = {claim for sentence in told for claim in sentence.claims}
            new = [base for base in one.rests_on if base.row is None and not set(base.claims) <= known]
            # "The same month" needs what was before.
            new.sort(key=lambda base: DEPENDENT_OPENING.match(base.text) is not None)
            told += new[:1]
    return told


def _strongest_sentences(sections: Sequence[Section]) -> list[Sentence]:
    """The best-carried sentence of each part, the concluding part first."""
    ordered = sorted(sections, key=lambda section: section.kind != "conclusion")
    found = []
    for section in ordered:
        own = [s for s in section.sentences if s.status == "supported" and s.row is None]
        if own:
            found.append(max(own, key=lambda s: len(s.claims)))
    return found[:_FALLBACK_SENTENCES]


def choose_title(edit: Edit, outline: Outline, question: str, claims: Sequence[Claim]) -> tuple[str, bool]:
    """Return the editor's title if code has nothing against it, else the one there is.

    And whether a checker has to look at it, since it may name or state what nobody said.
    """
    title = one_line(edit.title)
    sources = [*(quote.text for claim in claims for quote in claim.quotes), question, outline.title]
    if not is_usable_title(title, sources):
        return outline.title, False
    return title, not is_sound_title(title, sources)

"""How sure a report is and what it lacks, in a few plain sentences, and the same for a round in one.

Everything that says how sure a report is says it with these words, so that no two places disagree.
Does not know how anything came about.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fathom.evidence.answer_kinds import can_change_answer
from fathom.evidence.checks import phrase_pattern
from fathom.evidence.checks.derivation import is_same_figure
from fathom.evidence.checks.figures import find_figures
from fathom.evidence.corroboration import BEARS_FROM
from fathom.evidence.scoring import ANSWERED_FROM
from fathom.report.formats.markdown import escape_markdown, name_address, shorten_text
from fathom.report.layout import (
    DisputeRow,
    NumbersByClaim,
    OpenSide,
    ReportKind,
    cited_numbers,
    claims_behind,
)
from fathom.state import (
    Claim,
    Contradiction,
    Failure,
    Finding,
    Judgement,
    Rejected,
    Section,
    Sentence,
    Status,
    SubQuestion,
)
from fathom.text.messages import Messages

Doubt = Literal["open", "thin", "weak"]


@dataclass(frozen=True)
class ReportBasis:
    """What a report rests on when it is published."""

    judgement: Judgement
    sections: Sequence[Section]  # as written: one whose sentences were all dropped is still there
    questions: Sequence[SubQuestion]
    used: Sequence[Claim]  # the claims its supported sentences name
    findings: Sequence[Finding]  # what those claims say, weighed
    failures: Sequence[Failure]
    known: Sequence[Claim] = ()  # all claims, also those the report does not use
    is_extracts: bool = False  # nobody wrote or judged anything
    retracted: Sequence[str] = ()  # titles of cited papers that were retracted
    is_disputed: bool = False  # sources disagree about what it tells, and nothing has settled it
    question: str = ""
    contradictions: Sequence[Contradiction] = ()


def report_status(outcome: ReportBasis) -> Status:
    """Failed without support for anything, partial after a failure, unsure with a doubt, else complete.

    Passages that nobody has judged are extracts, and never complete or unsure.
    """
    if not outcome.used:
        return "failed"
    if is_partial(outcome):
        return "partial"
    if outcome.is_extracts:
        return "extracts"
    return "unsure" if find_doubts(outcome) else "complete"


def is_partial(outcome: ReportBasis) -> bool:
    """A page that cannot be read is told; a model or an engine that failed, a section that is gone or the
    money or the time that ran out leave the report without something it should have."""
    return (
        outcome.judgement.stop in {"budget used up", "time used up"}
        or any(section.is_quoted or not section.sentences for section in outcome.sections)
        or bool(failures_that_matter(outcome.failures))
    )


def find_doubts(outcome: ReportBasis) -> list[Doubt]:
    """Why the answer may not hold, most important first."""
    rules: dict[Doubt, bool] = {
        "open": any(gap.importance == "high" for gap in outcome.judgement.gaps),
        "thin": _is_thin(outcome),
        "weak": _is_weak(outcome),
    }
    return [name for name, speaks in rules.items() if speaks]


def _is_weak(outcome: ReportBasis) -> bool:
    """Whether most of what the sentences rest on is uncertain, or disputed in what bears on the question.

    What stands in the table of disagreements only does not count.
    """
    told = {c for section in outcome.sections for s in section.sentences for c in claims_behind(s)}
    bearing = {claim.id for claim in outcome.used if claim.relevance >= BEARS_FROM}
    bearing -= _claims_disputed_in_something_else(outcome)
    findings = [f for f in outcome.findings if not told.isdisjoint(f.claims)]
    weak = sum(
        f.tag == "UNCERTAIN" or (f.tag == "CONTRADICTED" and not bearing.isdisjoint(f.claims))
        for f in findings
    )
    return 2 * weak > len(findings)


def _claims_disputed_in_something_else(outcome: ReportBasis) -> set[str]:
    """The claims that are disputed only in what was not asked: a capacity, where an opening is asked for."""
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    for entry in outcome.contradictions:
        can_change = can_change_answer(entry.kind, outcome.question)
        sides[can_change] |= set(disputed_claims([entry]))
    return sides[False] - sides[True]


def _is_thin(outcome: ReportBasis) -> bool:
    """Fewer than half of the sub-questions have good evidence in the report."""
    answered = {claim.question for claim in outcome.used if claim.relevance >= ANSWERED_FROM}
    return 2 * sum(question.id in answered for question in outcome.questions) < len(outcome.questions)


def failures_that_matter(failures: Sequence[Failure]) -> list[Failure]:
    """The failures that leave a report without something it should have."""
    lost = [f for f in failures if not f.stand_in]
    return [f for f in lost if f.where in {"model", "analysis"} or f.where.startswith("search")]


_POINTS = 3

_OPEN_POINTS = 4
_MINOR_POINTS = 2  # told where nothing weightier is open

_POINT_CHARS = 90

_FEW_UNREAD, _UNREAD_SHARE = 1, 0.2

_TELLING_SHARE = 0.1  # of the statements drawn: fewer that were refused are left to the statistics

_CLOSE_FROM = 0.4  # the relevance of a passage that has most of the words of its question

_WHY_CHARS = 200


def describe_status(
    status: Status, found: Sequence[Doubt], words: Messages, kind: ReportKind = "report"
) -> str:
    """A status in a few words with what speaks against it; extracts are called so and never complete."""
    if kind == "extracts" and status != "failed":
        return words("status.extracts")
    told = "; ".join(words.name("doubt", doubt) for doubt in found)
    name = words.name("status", status)
    return f"{name}: {told}" if told and status in ("unsure", "partial") else name


def describe_progress(
    coverage: float, has_high_gap: bool, words: Messages, *, is_by_words: bool = False
) -> str:
    """How far a question is answered after a round, in words; without a model, what may answer it."""
    if is_by_words:
        return words("progress.possible" if coverage else "progress.hardly")
    if coverage < 0.34:
        return words("progress.hardly")
    if has_high_gap:
        return words("progress.open")
    return words("progress.enough") if coverage >= 1 else words("progress.some")


def describe_certainty(
    outcome: ReportBasis,
    status: Status,
    rejected: Sequence[Rejected],
    numbers: NumbersByClaim,
    words: Messages,
    kind: ReportKind = "report",
) -> list[str]:
    """The sentences at the end of a report: what it rests on, what is weak, what is missing and why.

    Extracts make no points of their own; of what they lack only the parts without a close passage are told.
    """
    is_report = kind == "report"
    lines = list(_describe_sources(outcome, numbers, words)) if outcome.used and is_report else []
    lines += (
        _describe_single_sources(outcome, numbers, words)
        if is_report
        else _parts_without_passages(outcome, words)
    )
    if status == "partial":
        reasons = list(dict.fromkeys(_partial_reasons(outcome, words)))
        lines.append(words("certainty.partial", reasons="; ".join(reasons)))
    missing = _describe_open_points(outcome, words) if outcome.used and is_report else []
    # That something is open is told by naming it.
    told = (
        [d for d in find_doubts(outcome) if d != "open" or not missing] if outcome.used and is_report else []
    )
    if told:
        lines.append(words("certainty.care", doubts="; ".join(words.name("doubt", d) for d in told)))
    lines += missing
    if status == "complete" and kind == "report" and not missing and not outcome.is_disputed:
        lines.append(words("certainty.nothing_missing"))
    if untold := _count_untold_disputes(outcome):
        lines.append(words("certainty.untold_disputes", count=untold))
    if left_out := " ".join(
        [
            *_describe_rejected(outcome, rejected, words),
            *_describe_unread(outcome.failures, len({n for ns in numbers.values() for n in ns}), words),
            *_describe_stand_ins(outcome.failures, words),
            *_describe_retracted(outcome, words),
        ]
    ):
        lines.append(left_out)
    if outcome.judgement.stop == "a person's word":
        lines.append(words("certainty.ended"))
    return [*lines, *([] if outcome.judgement.stop else [words("certainty.going_on")])]


def _count_untold_disputes(outcome: ReportBasis) -> int:
    """How many open disputes are known that the report has no sentence about."""
    told = {_name_dispute(entry) for entry in relevant_disputes(outcome.contradictions, outcome.sections)}
    return len({_name_dispute(entry) for entry in outcome.contradictions if entry.is_open} - told)


def _parts_without_passages(outcome: ReportBasis, words: Messages) -> Iterator[str]:
    """The parts of the question for which no passage was found, or none that has most of its words."""
    for question in outcome.questions:
        best = max((claim.relevance for claim in outcome.known if claim.question == question.id), default=0.0)
        if best < _CLOSE_FROM:
            key = "certainty.few_words" if best else "certainty.no_passage"
            yield words(key, question=escape_markdown(question.text))
    for late in (failure for failure in outcome.failures if failure.where == "order"):
        why = escape_markdown(words.why_failed(late))
        yield (
            words("partial.failure", place=words.place(late.where), what=escape_markdown(late.what), why=why)
            + "."
        )


def _describe_sources(outcome: ReportBasis, numbers: NumbersByClaim, words: Messages) -> Iterator[str]:
    """That there is but one source, or that some repeat one another: their list tells the rest."""
    cited = {n for claim in outcome.used for n in numbers.get(claim.id, [])}
    sources = {one for finding in outcome.findings for one in finding.independent_sources}
    count, independent = len(cited), min(len(sources), len(cited))
    if 0 < independent < count:
        yield words("certainty.independent", count=count, independent=independent)
    elif count == 1:
        yield words("certainty.sources")


def _describe_single_sources(outcome: ReportBasis, numbers: NumbersByClaim, words: Messages) -> Iterator[str]:
    """Whether the main points, those of summary and conclusion if there are any, rest on one source each."""
    main = [s for s in outcome.sections if s.kind != "body"] or outcome.sections
    told = [s for section in main for s in section.sentences if cited_numbers(s, numbers)]
    told = [s for s in told if s.row is None]
    by_claim = {claim: finding for finding in outcome.findings for claim in finding.claims}
    alone = [s for s in told if _count_independent(s, by_claim, numbers) == 1]
    if len({n for claim in outcome.used for n in numbers.get(claim.id, [])}) < 2 or not alone:
        return
    if len(alone) == len(told):
        yield words("certainty.single_all")


def _count_independent(sentence: Sentence, by_claim: Mapping[str, Finding], numbers: NumbersByClaim) -> int:
    names = claims_behind(sentence)
    sources = {one for c in names if c in by_claim for one in by_claim[c].independent_sources}
    return len(sources) or len({n for c in names for n in numbers.get(c, [])})


def _partial_reasons(outcome: ReportBasis, words: Messages) -> Iterator[str]:
    """Why the report lacks something it should have."""
    if outcome.judgement.stop == "budget used up":
        yield words("partial.budget")
    if outcome.judgement.stop == "time used up":
        yield words("partial.time")
    if any(section.is_quoted for section in outcome.sections):
        yield words("partial.quoted")
    for section in outcome.sections:
        if not section.sentences:
            yield words("partial.section", title=escape_markdown(section.title))
    yield from describe_failures(outcome.failures, words)


def describe_failures(failures: Sequence[Failure], words: Messages) -> Iterator[str]:
    """What failed and matters, a clause for each place and reason; a few of them, then their number."""
    whats: dict[tuple[str, str], list[str]] = {}
    for failure in failures_that_matter(failures):
        whats.setdefault((failure.where, words.why_failed(failure)), []).append(
            name_address(shorten_text(words.failed(failure), _POINT_CHARS))
        )
    for (where, why), found in list(whats.items())[:_POINTS]:
        shown = ", ".join(found[:_POINTS])
        if len(found) > _POINTS:
            shown += f", {words('certainty.more', count=len(found) - _POINTS)}"
        reason = escape_markdown(shorten_text(why.rstrip("."), _WHY_CHARS))
        yield words("partial.failure", place=words.place(where), what=shown, why=reason)
    if len(whats) > _POINTS:
        yield words("certainty.more", count=len(whats) - _POINTS)


def _describe_open_points(outcome: ReportBasis, words: Messages) -> list[str]:
    """What was looked for and not found, or was found and refused."""
    told = [
        words("certainty.refused", point=point) if gap.is_rejected else point
        for gap in outcome.judgement.gaps
        if gap.importance != "low" and (point := escape_markdown(gap.description.rstrip(".")))
    ] or [escape_markdown(gap.description.rstrip(".")) for gap in outcome.judgement.gaps[:_MINOR_POINTS]]
    answered = {claim.question for claim in outcome.known}
    told += [
        words("certainty.unanswered", question=escape_markdown(question.text))
        for question in outcome.questions
        if question.id not in answered and not any(question.text in line for line in told)
    ]
    shown = list(dict.fromkeys(told))[:_OPEN_POINTS]  # the statistics of the run list them all
    # A whole sentence, such as "No source says what it costs", needs no "Still open" in front of it.
    sentences = {
        escape_markdown(g.description.rstrip("."))
        for g in outcome.judgement.gaps
        if g.description[-1:] == "."
    }
    is_plain = phrase_pattern("lacking").search
    return [
        f"{point}."
        if point in sentences or is_plain(point.lower())
        else words("certainty.open", points=f"{point}.")
        for point in shown
    ]


def _describe_rejected(outcome: ReportBasis, rejected: Sequence[Rejected], words: Messages) -> Iterator[str]:
    refused = sum(entry.count for entry in rejected if not entry.section)
    claims = refused if refused >= _TELLING_SHARE * (refused + len(outcome.known)) else 0
    marked = sum(s.status == "unsupported" for section in outcome.sections for s in section.sentences)
    if claims:
        yield words("certainty.rejected_claims", count=claims)
    if marked:
        yield words("certainty.marked", count=marked)


def _describe_stand_ins(failures: Sequence[Failure], words: Messages) -> Iterator[str]:
    """Which engine searched in the place of which, once each."""
    pairs = {(f.where.partition(": ")[2], f.stand_in): f for f in failures if f.stand_in}
    for (name, stand_in), failure in pairs.items():
        why = escape_markdown(shorten_text(words.why_failed(failure).rstrip("."), _WHY_CHARS))
        yield words("certainty.stand_in", name=name, stand_in=stand_in, why=why)


def _describe_retracted(outcome: ReportBasis, words: Messages) -> Iterator[str]:
    if outcome.retracted:
        titles = ", ".join(f"“{escape_markdown(title)}”" for title in outcome.retracted)
        yield words("certainty.retracted", titles=titles)


def _describe_unread(failures: Sequence[Failure], read: int, words: Messages) -> Iterator[str]:
    """The pages that could not be read; one beside many that were is left to the statistics."""
    names = list(
        dict.fromkeys(name_address(failure.what) for failure in failures if failure.where == "reading")
    )
    if names and (len(names) > _FEW_UNREAD or len(names) >= _UNREAD_SHARE * (len(names) + read)):
        shown = [f"`{name}`" for name in names[:_POINTS]]
        shown += [words("certainty.more", count=len(names) - _POINTS)] if len(names) > _POINTS else []
        yield words("certainty.unread", count=len(names), names=", ".join(shown))


_MOST_RIVALS = 8


def relevant_disputes(
    contradictions: Sequence[Contradiction], sections: Sequence[Section]
) -> list[Contradiction]:
    """The disputes that bear on what the report says: it cites a side of them.

    Figures that only may conflict are among them if the report tells one of them and not the others. Those
    that differ by hardly more than rounding are left to the listing of findings and the ledger.
    """
    told = (s for section in sections for s in section.sentences if s.status == "supported")
    used = {c for sentence in told for c in claims_behind(sentence)}
    cited = [entry for entry in contradictions if not used.isdisjoint(disputed_claims([entry]))]
    found = list({_name_dispute(entry): entry for entry in reversed(cited)}.values())[::-1]
    untold = [e for e in found if any(used.isdisjoint(side.claims) for side in e.sides)]
    rivals = [e for e in untold if not e.is_certain and not e.is_slight]
    return [e for e in found if e.is_certain] + rivals[:_MOST_RIVALS]


def _name_dispute(entry: Contradiction) -> frozenset[frozenset[float]] | str:
    return _disputed_figures(entry) or entry.id


def _disputed_figures(entry: Contradiction) -> frozenset[frozenset[float]]:
    """The figures in which the sides differ: two disputes over the same ones are one; empty without any."""
    sides = [frozenset(figure.base for figure in find_figures(side.value)) for side in entry.sides]
    common = frozenset.intersection(*sides)
    return frozenset(side - common for side in sides if side - common)


def disputed_claims(contradictions: Sequence[Contradiction]) -> list[str]:
    """The claims of all sides, in the order of the table, each once."""
    return list(dict.fromkeys(c for entry in contradictions for side in entry.sides for c in side.claims))


def open_disputes(
    contradictions: Sequence[Contradiction], numbers: NumbersByClaim, words: Messages
) -> list[list[OpenSide]]:
    """The sides of the disagreements that the table shows open."""
    shown = [c for c in contradictions if c.is_open and _rows_of_dispute(c, numbers, words)]
    return [_open_sides(entry) for entry in shown]


def _open_sides(entry: Contradiction) -> list[OpenSide]:
    figures = [find_figures(side.value) for side in entry.sides]
    own = [
        [
            f
            for f in some
            if not any(is_same_figure(f, g) for other in figures if other is not some for g in other)
        ]
        for some in figures
    ]
    differs = entry.kind == "number" and all(own)
    return [
        OpenSide(frozenset(side.claims), some if differs else ())
        for side, some in zip(entry.sides, own, strict=True)
    ]


def dispute_rows(
    contradictions: Sequence[Contradiction], numbers: NumbersByClaim, words: Messages
) -> list[DisputeRow]:
    """About what, who says what and when, and how it was settled: one row a side."""
    return [row for entry in contradictions for row in _rows_of_dispute(entry, numbers, words)]


def _rows_of_dispute(entry: Contradiction, numbers: NumbersByClaim, words: Messages) -> list[DisputeRow]:
    """The sides that have a source in this report; a dispute of which only one has is not shown."""
    rows: list[DisputeRow] = []
    for place, side in enumerate(entry.sides):
        cited = sorted({n for claim in side.claims for n in numbers.get(claim, [])})
        if not cited:
            continue
        days = sorted({day[:10] for day in side.published if day}) or [words("disagree.undated")]
        settled = (
            "" if entry.settled_by else words("disagree.open" if entry.is_certain else "disagree.perhaps")
        )
        if entry.settled_by and entry.favoured == place:
            settled = words("disagree.favoured", rule=words.name("settlement", entry.settled_by))
        about = "" if rows else entry.about
        rows.append(DisputeRow(about, side.value, cited, ", ".join(days), settled))
    return rows if len(rows) > 1 else []

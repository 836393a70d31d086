"""How sure a report is and what it lacks, in a few plain sentences, and the same for a round in one.

Everything that says how sure a report is says it with these words, so that no two places disagree.
Does not know how anything came about.
"""

from collections.abc import Iterator, Mapping, Sequence

from fathom.report.ending import Doubt, Outcome, doubts, failures_that_matter
from fathom.report.layout import Numbers, ReportKind, claims_of, numbers_of
from fathom.report.markdown import named, plain, shortened
from fathom.report.words import Words
from fathom.state import Failure, Finding, Rejected, Sentence, Status

_POINTS = 3
_POINT_CHARS = 90
_CLOSE_FROM = 0.4  # the relevance of a passage that has most of the words of its question
_WHY_CHARS = 200


def describe_status(status: Status, found: Sequence[Doubt], words: Words, kind: ReportKind = "report") -> str:
    """A status in a few words with what speaks against it; extracts are called so and never complete."""
    if kind == "extracts" and status != "failed":
        return words("status.extracts")
    told = "; ".join(words.name("doubt", doubt) for doubt in found)
    name = words.name("status", status)
    return f"{name}: {told}" if told and status in ("unsure", "partial") else name


def describe_progress(coverage: float, has_high_gap: bool, words: Words, *, is_by_words: bool = False) -> str:
    """How far a question is answered after a round, in words; without a model, what may answer it."""
    if is_by_words:
        return words("progress.possible" if coverage else "progress.hardly")
    if coverage < 0.34:
        return words("progress.hardly")
    if has_high_gap:
        return words("progress.open")
    return words("progress.enough") if coverage >= 1 else words("progress.some")


def certainty(
    outcome: Outcome,
    status: Status,
    rejected: Sequence[Rejected],
    numbers: Numbers,
    words: Words,
    kind: ReportKind = "report",
) -> list[str]:
    """The sentences at the end of a report: what it rests on, what is weak, what is missing and why.

    Extracts make no points of their own; of what they lack only the parts without a close passage are told.
    """
    is_report = kind == "report"
    lines = [_basis(outcome, numbers, words)] if outcome.used and is_report else []
    lines += _single(outcome, numbers, words) if is_report else _without_passages(outcome, words)
    if status == "partial":
        reasons = list(dict.fromkeys(_partial(outcome, words)))
        lines.append(words("certainty.partial", reasons="; ".join(reasons)))
    missing = _open(outcome, words) if outcome.used and is_report else []
    # That something is open is told by naming it.
    told = [d for d in doubts(outcome) if d != "open" or not missing] if outcome.used and is_report else []
    if told:
        lines.append(words("certainty.care", doubts="; ".join(words.name("doubt", d) for d in told)))
    lines += missing
    if status == "complete" and kind == "report" and not missing:
        lines.append(words("certainty.nothing_missing"))
    if left_out := " ".join([*_rejected(outcome, rejected, words), *_unread(outcome.failures, words)]):
        lines.append(left_out)
    if outcome.judgement.stop == "a person's word":
        lines.append(words("certainty.ended"))
    return [*lines, *([] if outcome.judgement.stop else [words("certainty.going_on")])]


def _without_passages(outcome: Outcome, words: Words) -> Iterator[str]:
    """The parts of the question for which no passage was found, or none that has most of its words."""
    for question in outcome.questions:
        best = max((claim.relevance for claim in outcome.known if claim.question == question.id), default=0.0)
        if best < _CLOSE_FROM:
            key = "certainty.few_words" if best else "certainty.no_passage"
            yield words(key, question=plain(question.text))
    for late in (failure for failure in outcome.failures if failure.where == "order"):
        why = plain(late.why)
        yield words("partial.failure", place=words.place(late.where), what=plain(late.what), why=why) + "."


def _basis(outcome: Outcome, numbers: Numbers, words: Words) -> str:
    """How many sources, and how many of them do not repeat one another."""
    cited = {n for claim in outcome.used for n in numbers.get(claim.id, [])}
    voices = {voice for finding in outcome.findings for voice in finding.voices}
    count, independent = len(cited), min(len(voices), len(cited))
    if 0 < independent < count:
        return words("certainty.independent", count=count, independent=independent)
    return words("certainty.sources", count=count)


def _single(outcome: Outcome, numbers: Numbers, words: Words) -> Iterator[str]:
    """Whether the main points, those of summary and conclusion if there are any, rest on one voice each."""
    main = [s for s in outcome.sections if s.kind != "body"] or outcome.sections
    told = [s for section in main for s in section.sentences if numbers_of(s, numbers)]
    told = [s for s in told if s.row is None]
    by_claim = {claim: finding for finding in outcome.findings for claim in finding.claims}
    alone = [s for s in told if _voices(s, by_claim, numbers) == 1]
    if len({n for claim in outcome.used for n in numbers.get(claim.id, [])}) < 2 or not alone:
        return
    if len(alone) == len(told):
        yield words("certainty.single_all")


def _voices(sentence: Sentence, by_claim: Mapping[str, Finding], numbers: Numbers) -> int:
    names = claims_of(sentence)
    voices = {voice for c in names if c in by_claim for voice in by_claim[c].voices}
    return len(voices) or len({n for c in names for n in numbers.get(c, [])})


def _partial(outcome: Outcome, words: Words) -> Iterator[str]:
    """Why the report lacks something it should have."""
    if outcome.judgement.stop == "budget used up":
        yield words("partial.budget")
    if outcome.judgement.stop == "time used up":
        yield words("partial.time")
    if any(section.is_quoted for section in outcome.sections):
        yield words("partial.quoted")
    for section in outcome.sections:
        if not section.sentences:
            yield words("partial.section", title=plain(section.title))
    yield from describe_failures(outcome.failures, words)


def describe_failures(failures: Sequence[Failure], words: Words) -> Iterator[str]:
    """What failed and matters, a clause for each place and reason; a few of them, then their number."""
    whats: dict[tuple[str, str], list[str]] = {}
    for failure in failures_that_matter(failures):
        whats.setdefault((failure.where, failure.why), []).append(
            named(shortened(failure.what, _POINT_CHARS))
        )
    for (where, why), found in list(whats.items())[:_POINTS]:
        shown = ", ".join(found[:_POINTS])
        if len(found) > _POINTS:
            shown += f", {words('certainty.more', count=len(found) - _POINTS)}"
        reason = plain(shortened(why.rstrip("."), _WHY_CHARS))
        yield words("partial.failure", place=words.place(where), what=shown, why=reason)
    if len(whats) > _POINTS:
        yield words("certainty.more", count=len(whats) - _POINTS)


def _open(outcome: Outcome, words: Words) -> list[str]:
    """What was looked for and not found, or was found and refused."""
    told = [
        words("certainty.refused", point=point) if gap.is_rejected else point
        for gap in outcome.judgement.gaps
        if gap.importance != "low" and (point := plain(gap.description.rstrip(".")))
    ]
    answered = {claim.question for claim in outcome.known}
    told += [
        words("certainty.unanswered", question=plain(question.text))
        for question in outcome.questions
        if question.id not in answered and not any(question.text in line for line in told)
    ]
    return [words("certainty.open", points=_listed(list(dict.fromkeys(told)), words))] if told else []


def _rejected(outcome: Outcome, rejected: Sequence[Rejected], words: Words) -> Iterator[str]:
    claims = sum(entry.count for entry in rejected if not entry.section)
    marked = sum(s.status == "unsupported" for section in outcome.sections for s in section.sentences)
    if claims:
        yield words("certainty.rejected_claims", count=claims)
    if marked:
        yield words("certainty.marked", count=marked)


def _unread(failures: Sequence[Failure], words: Words) -> Iterator[str]:
    names = list(dict.fromkeys(named(failure.what) for failure in failures if failure.where == "reading"))
    if names:
        shown = [f"`{name}`" for name in names[:_POINTS]]
        shown += [words("certainty.more", count=len(names) - _POINTS)] if len(names) > _POINTS else []
        yield words("certainty.unread", count=len(names), names=", ".join(shown))


def _listed(points: Sequence[str], words: Words) -> str:
    """A few points in one sentence, and how many more there are."""
    shown = list(points[:_POINTS])
    if len(points) > _POINTS:
        shown.append(words("certainty.more", count=len(points) - _POINTS))
    return "; ".join(shown) + "."

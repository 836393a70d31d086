"""The verdict of code alone: strict rules on a statement and the nearest sentences of its sources.

Figures and dates that cannot be derived, and plain denials, count as contradictions when the source is about
the same. Everything else that code finds odd (hedges, causes, who did what to whom, missing words) makes a
statement partly supported: as a contradiction it would too often be wrong. Two languages are compared by
figures only.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from fathom.audit import AuditVerdict, ReportStatement, VerdictName, audit_phrases
from fathom.audit.sources import JoinedSources, SourcePassages
from fathom.evidence.calculation import recompute
from fathom.evidence.checks import has_phrase, measure_coverage, parse_text
from fathom.evidence.checks.dates import Date, find_dates
from fathom.evidence.checks.derivation import (
    Passage,
    find_figures_outside_dates,
    find_underived,
    is_same_figure,
)
from fathom.evidence.checks.figures import Figure, find_figures
from fathom.evidence.checks.roles import find_exchange
from fathom.evidence.checks.suspicions import find_suspicions
from fathom.evidence.grounding import is_quotation
from fathom.evidence.support import (
    SUPPORTED_FROM,
    find_contradicting_quote,
    find_unsupported_by_kind,
    score_support,
    strip_lead_in,
)
from fathom.state import Calculation, Operand, Quote
from fathom.text.messages import Messages
from fathom.text.normalization import fold_text
from fathom.text.ranking import terms
from fathom.text.tokens import has_cjk

BY_RULES = "strict rules"
_CANDIDATES = 5
_MOST_NOTES = 4
_ABOUT_IT = 0.5  # share of its words in the nearest sentence
_ABSENT = 0.34
_MOSTLY = 0.6  # share of its words that makes it partly supported
_NEARLY_ALL = 0.8
_MERE_WORDING = frozenset({"wording"})  # other words for the same have it too: the score of support decides
_WORTH = {"supported": 3, "contradicted": 2, "partly": 1, "not in the source": 0}
# What a kind of note is called in an audit; the others are its scope. Figures are decided before, and who did
# what to whom by `find_exchange`: the notes of words in another order are mostly wrong.
_FAULT_OF = {
    **dict.fromkeys(("figure", "count", "unit"), "figure"),
    **dict.fromkeys(("date", "year", "period", "now", "history"), "date"),
    **dict.fromkeys(("a name", "name"), "name"),
    **dict.fromkeys(("cause", "because", "factor", "proof", "a conclusion", "finding"), "cause"),
    **dict.fromkeys(("a negation", "negation", "a direction", "direction", "unchanged"), "direction"),
    **dict.fromkeys(("other words", "most of its words"), "wording"),
    **dict.fromkeys(
        ("a hedge", "possible", "estimated", "planned", "decided", "tendency", "reported", "speaker"), "hedge"
    ),
}
_UNTOLD = frozenset({"a number", "a date", "calculation", "who and what"})
_ROW = re.compile(r"[^;]{1,200}+(?:; [^;:]{1,100}+: [^;]{1,200}+){1,30}+")
_CLAUSE = re.compile(r"[;,]\s|\s(?:and|while|but|그리고)\s")
_QUOTED = re.compile(r"'[^']{1,40}+'")


def phrases_for(words: str) -> Messages:
    """Return the phrases in the language of a statement."""
    return audit_phrases("ko" if has_cjk(words) else "en")


@dataclass(frozen=True)
class _Judgement:
    verdict: VerdictName
    reason: str
    quote: Quote | None
    coverage: float


def decide_by_rules(statement: ReportStatement, sources: Sequence[SourcePassages]) -> AuditVerdict:
    """Return the best verdict that one of the sources gives, or all together, and what speaks for it."""
    by_page = {source.page.sha: source for source in sources}
    found = [(source, _judge(statement, source)) for source in by_page.values()]
    if len(by_page) > 1:  # one of them need not say all of it, so what it lacks is no contradiction
        together = JoinedSources(list(by_page.values()))
        found = [pair for pair in found if pair[1].verdict != "contradicted"]
        found.append((together, _judge(statement, together)))
    own, best = max(found, key=lambda pair: (_WORTH[pair[1].verdict], pair[1].coverage))
    best = _judge_nature(statement, best, sources)
    source = by_page[best.quote.page] if best.quote else own
    quote = source.with_heading(best.quote) if best.quote else None
    is_quoted = best.verdict in {"supported", "contradicted", "partly"}
    return AuditVerdict(
        statement=statement.id,
        verdict=best.verdict,
        reason=best.reason,
        source=source.about.source.id,
        quote=quote if is_quoted else None,
        nearest=None if is_quoted else quote,
        by=BY_RULES,
    )


def _judge_nature(
    statement: ReportStatement, found: _Judgement, sources: Sequence[SourcePassages]
) -> _Judgement:
    """Judge what the report calculated by recomputing it, and what it concludes as a conclusion."""
    say = phrases_for(statement.text)
    if statement.calculation:
        done = recompute_written(statement.calculation, sources)
        quote = done.quote or found.quote
        if done.wrong:
            return _Judgement(
                "contradicted", say("reason.miscalculated", said=statement.calculation), quote, 1.0
            )
        if done.missing:
            return _Judgement("partly", say("reason.no_figure", said=done.missing), quote, 1.0)
        near = [one for source in sources for one in source.nearest(statement.text, 2)]
        known = Passage(quotes=(statement.calculation, *(one.text for one in near)))
        if not find_underived(statement.text, known):
            return _Judgement("supported", say("reason.recomputed", said=statement.calculation), quote, 1.0)
    is_open = found.verdict in {"partly", "not in the source"}
    if statement.nature == "inference" and is_open:
        return _Judgement("partly", say("reason.inference"), found.quote, found.coverage)
    return found


def list_notes(statement: ReportStatement, sources: Sequence[SourcePassages]) -> list[str]:
    """Return what code finds odd about a statement in the nearest of its sources, for a model."""
    words = strip_lead_in(statement.text)
    near = [(source, quotes) for source in sources if (quotes := source.nearest(words, 2))]
    if not near:
        return []
    best, quotes = max(near, key=lambda pair: _coverage(words, pair[1][:1]))
    passage = best.passage(quotes)
    notes = [f"{wrong} is not near the passages that fit best" for wrong in find_underived(words, passage)]
    if pair := find_exchange(words, passage.quoted):
        notes.append(f"'{pair[0]}' and '{pair[1]}' may have exchanged places")
    notes += [one.note for one in find_suspicions(words, passage) if one.kind not in _UNTOLD]
    return notes[:_MOST_NOTES]


def _judge(statement: ReportStatement, source: SourcePassages) -> _Judgement:
    words = strip_lead_in(statement.text)
    nearest = source.nearest(words, _CANDIDATES)
    say = phrases_for(words)
    if not nearest:
        return _Judgement("not in the source", say("reason.empty"), None, 0.0)
    if is_quotation(words, [source.text]):
        quote = max(nearest, key=lambda one: _coverage(words, [one]))
        return _Judgement("supported", say("reason.same_words"), quote, 1.0)
    if _ROW.fullmatch(words) and (found := _judge_row(words, source)):
        return found
    if has_cjk(words) != has_cjk(source.text):
        return _judge_across_languages(words, source, nearest)
    best = max(nearest, key=lambda one: _coverage(words, [one]))
    window = _choose_window(words, best, nearest)
    coverage = _coverage(words, window)
    if coverage < _ABSENT:
        return _Judgement("not in the source", say("reason.few_words"), best, coverage)
    verdict, reason = _compare(words, source, window, nearest, coverage)
    return _Judgement(verdict, reason, best, coverage)


def _compare(
    words: str, source: SourcePassages, window: Sequence[Quote], nearest: Sequence[Quote], coverage: float
) -> tuple[VerdictName, str]:
    texts, passage, say = [quote.text for quote in window], source.passage(window), phrases_for(words)
    if wrong := find_underived(words, passage):
        said = ", ".join(wrong)
        if coverage >= _ABOUT_IT and not _ROW.fullmatch(words) and _has_rival(words, texts, wrong, source):
            return "contradicted", say("reason.other_figure", said=said)
        verdict: VerdictName = "partly" if coverage >= _ABOUT_IT else "not in the source"
        return verdict, say("reason.no_figure", said=said)
    if find_contradicting_quote(words, texts):
        return "contradicted", say("reason.denied")
    if coverage >= _NEARLY_ALL and (pair := find_exchange(words, " ".join(texts))):
        return "contradicted", say("reason.exchanged", one=pair[0], other=pair[1])
    flaws = _find_flaws(words, texts, passage)
    score = score_support(words, [quote.text for quote in sorted(nearest, key=lambda one: one.start)])
    is_close = score >= SUPPORTED_FROM
    if (is_close and not flaws.keys() - _MERE_WORDING) or (coverage >= _NEARLY_ALL and not flaws):
        return "supported", ""
    reason = "; ".join(_describe_flaw(kind, notes, say) for kind, notes in flaws.items())
    if is_close or coverage >= _MOSTLY:
        return "partly", reason or say("reason.some_words")
    return "not in the source", reason or say("reason.most_words")


def _find_flaws(words: str, texts: Sequence[str], passage: Passage) -> dict[str, list[str]]:
    """Return what code finds odd, by the kind of fault, with the words that show it."""
    found = find_unsupported_by_kind(words, texts)
    known = passage.everything.lower()
    names = [why for why in found.pop("a name", []) if why.partition(" is not")[0].lower() not in known]
    notes = [(kind, note) for kind, reasons in found.items() for note in reasons]
    notes += [("a name", name) for name in names]
    notes += [(one.kind, one.note) for one in find_suspicions(words, passage)]
    if _is_cause_of_coincidence(words, " ".join(texts)):
        notes.append(("cause", ""))
    flaws: dict[str, list[str]] = {}
    for kind, note in notes:
        if kind not in _UNTOLD:
            flaws.setdefault(_FAULT_OF.get(kind, "scope"), []).append(note)
    return flaws


def _describe_flaw(kind: str, notes: Sequence[str], say: Messages) -> str:
    """Return the fault in the language of the report, with the words that the notes quote."""
    quoted = list(dict.fromkeys(found for note in notes for found in _QUOTED.findall(note)))
    return say(f"flaw.{kind}") + (f" ({', '.join(quoted[:3])})" if quoted else "")


def _is_cause_of_coincidence(words: str, quoted: str) -> bool:
    """Tell whether the source only says that two things went together, and the statement that one did it."""
    if not has_phrase("effect", words) or has_phrase("effect", quoted):
        return False
    is_together = has_phrase("together", quoted) and not has_phrase("together", words)
    return is_together or has_phrase("because", words)


def _has_rival(words: str, texts: Sequence[str], wrong: Sequence[str], source: SourcePassages) -> bool:
    """Tell whether the source has another figure of the same kind or another date, and not this one."""
    quoted = " ".join(texts)
    if all(_has_figure(figure, source.text) for figure in wrong):
        return False
    if any(date.text in wrong for date in find_dates(words)):
        return bool(find_dates(quoted))
    kinds = {figure.dimension for figure in find_figures_outside_dates(words) if figure.text in wrong}
    return any(figure.dimension in kinds for figure in find_figures_outside_dates(quoted))


def _judge_row(words: str, source: SourcePassages) -> _Judgement | None:
    """Compare a table's row ("Label; Column: cell; …") with a source; None if that is about something else.

    A table of the source that has a row of the same label must have the same figures. In prose the figures of
    each cell must stand in one clause with the label of its row or column.
    """
    label, *cells = words.split("; ")
    named = [(head, find_figures(value)) for head, _, value in (cell.rpartition(": ") for cell in cells)]
    figures = sorted({figure.text for _, found in named for figure in found})
    folded = fold_text(label).text
    rows = [quote for quote in source.quotes if "|" in quote.text and folded in fold_text(quote.text).text]
    if not figures:
        return None
    if rows:
        lacks = [([one for one in figures if one not in row.text], row) for row in rows]
        missing, row = min(lacks, key=lambda pair: len(pair[0]))
        if not missing:
            return _Judgement("supported", "", row, 1.0)
        reason = phrases_for(words)("reason.other_figure", said=", ".join(missing))
        return _Judgement("contradicted", reason, row, 1 - len(missing) / len(figures))
    found = [_find_cell(label, head, [one.text for one in own], source) for head, own in named if own]
    known = [quote for quote in found if quote]
    return _Judgement("supported", "", known[0], 1.0) if known and len(known) == len(found) else None


def _has_figure(figure: str, text: str) -> bool:
    """Tell whether a figure stands in a text as it is written, not as part of another one."""
    return re.search(rf"(?<![\d.,]){re.escape(figure)}(?!\d|[.,]\d)", text) is not None


def _find_cell(label: str, head: str, figures: Sequence[str], source: SourcePassages) -> Quote | None:
    """Return the sentence with a clause that has the figures and one label, and is about the other."""
    for quote in source.quotes:
        for clause in _CLAUSE.split(quote.text):
            if not all(_has_figure(figure, clause) for figure in figures):
                continue
            for one, other in ((label, head), (head, label)):
                about = terms(other)
                if one and _has_figure(one, clause) and (not about or about & terms(quote.text)):
                    return quote
    return None


def _judge_across_languages(words: str, source: SourcePassages, nearest: Sequence[Quote]) -> _Judgement:
    wrong, say = find_underived(words, source.passage(nearest)), phrases_for(words)
    reason = say("reason.foreign_missing", said=", ".join(wrong)) if wrong else say("reason.foreign")
    return _Judgement("partly", reason, nearest[0], 0.0)


def _choose_window(words: str, best: Quote, nearest: Sequence[Quote]) -> list[Quote]:
    """Return the best sentence, with a second one if that covers clearly more."""
    own = _coverage(words, [best])
    others = [quote for quote in nearest if quote is not best]
    if not others:
        return [best]
    second = max(others, key=lambda one: _coverage(words, [best, one]))
    if _coverage(words, [best, second]) < own + 0.15:
        return [best]
    return sorted([best, second], key=lambda one: one.start)


def _coverage(words: str, quotes: Sequence[Quote]) -> float:
    return measure_coverage(parse_text(words), [parse_text(quote.text) for quote in quotes])


@dataclass(frozen=True)
class RecomputedCalculation:
    """What recomputing found: `wrong` is why it does not come out, `missing` a figure that no source has."""

    quote: Quote | None = None  # where its first figure is from
    wrong: str = ""
    missing: str = ""


def recompute_written(said: str, sources: Sequence[SourcePassages]) -> RecomputedCalculation:
    """Recompute what a report worked out: "FORMULA = RESULT", or several with semicolons between.

    Figures with a unit, and dates, must be in a source; plain numbers may be the formula's own.
    """
    done = [_recompute_one(part, sources) for part in said.split("; ")]
    return next((one for one in done if one.wrong or one.missing), done[0])


def _recompute_one(said: str, sources: Sequence[SourcePassages]) -> RecomputedCalculation:
    formula, _, result = said.rpartition(" = ")
    operands, passages, quotes, shown = list[Operand](), {}, list[Quote](), formula
    for name, value in zip(ascii_lowercase, reversed(list(_find_values(formula))), strict=False):
        found = next(_find_quotes(value, sources), None)
        if found:
            source, quote = found
            operands.append(Operand(name=name, value=value.text, claim=name))
            passages[name] = source.passage([quote])
            quotes.append(quote)
            shown = f"{shown[: value.start]}{name}{shown[value.end :]}"
        elif isinstance(value, Date) or value.dimension:
            return RecomputedCalculation(missing=value.text)
    if not operands:
        return RecomputedCalculation(missing=formula)
    why = recompute(Calculation(formula=shown, operands=operands, result=result), passages).why
    return RecomputedCalculation(quotes[-1], why)


def _find_values(formula: str) -> Iterator[Figure | Date]:
    """Yield the figures and dates of a formula, in order."""
    found: list[Figure | Date] = [*find_dates(formula), *find_figures_outside_dates(formula)]
    yield from sorted(found, key=lambda one: one.start)


def _find_quotes(
    value: Figure | Date, sources: Sequence[SourcePassages]
) -> Iterator[tuple[SourcePassages, Quote]]:
    for source in sources:
        for quote in source.quotes:
            others = (
                find_dates(quote.text) if isinstance(value, Date) else find_figures_outside_dates(quote.text)
            )
            if any(_is_same(value, other) for other in others):
                yield source, quote


def _is_same(value: Figure | Date, other: Figure | Date) -> bool:
    if isinstance(value, Date) and isinstance(other, Date):
        return (value.year, value.month, value.day) == (other.year, other.month, other.day)
    return isinstance(value, Figure) and isinstance(other, Figure) and is_same_figure(value, other)

"""The verdict of code alone: strict rules on a statement and the nearest sentences of its sources.

Figures and dates that cannot be derived, and plain denials, count as contradictions when the source is about
the same. Everything else that code finds odd (hedges, causes, who did what to whom, missing words) makes a
statement partly supported: as a contradiction it would too often be wrong. Two languages are compared by
figures only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fathom.audit.passages import SourcePassages
from fathom.audit.records import AuditVerdict, ReportStatement, VerdictName
from fathom.evidence.checks.dates import find_dates
from fathom.evidence.checks.derivation import find_figures_outside_dates, find_underived
from fathom.evidence.checks.suspicions import find_suspicions
from fathom.evidence.checks.words import measure_coverage, parse_text
from fathom.evidence.grounding import is_quotation
from fathom.evidence.support import (
    SUPPORTED_FROM,
    find_contradicting_quote,
    find_unsupported_by_kind,
    score_support,
    strip_lead_in,
)
from fathom.state import Quote
from fathom.text.tokens import has_cjk

BY_RULES = "strict rules"
_CANDIDATES = 5
_ABOUT_IT = 0.5  # share of its words in the nearest sentence
_ABSENT = 0.34
_MOSTLY = 0.6  # share of its words that makes it partly supported
_NEARLY_ALL = 0.8
# Flaws that other words for the same have too: there the score of support decides. Who did what to whom can
# only be compared where nearly all words are the source's.
_MERE_WORDING = frozenset({"other words", "most of its words"})
_WORTH = {"supported": 3, "contradicted": 2, "partly": 1, "not in the source": 0}
_OTHER_LANGUAGE = "code cannot compare two languages; "


@dataclass(frozen=True)
class _Judgement:
    verdict: VerdictName
    reason: str
    quote: Quote | None
    coverage: float


def decide_by_rules(statement: ReportStatement, sources: Sequence[SourcePassages]) -> AuditVerdict:
    """Return the best verdict that one of the sources gives, and what speaks for or against it."""
    found = [(source, _judge(statement, source)) for source in sources]
    source, best = max(found, key=lambda pair: (_WORTH[pair[1].verdict], pair[1].coverage))
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


def list_notes(statement: ReportStatement, sources: Sequence[SourcePassages]) -> list[str]:
    """Return what code finds odd about a statement in the nearest of its sources, for a model."""
    words = strip_lead_in(statement.text)
    near = [(source, quotes) for source in sources if (quotes := source.nearest([words], 2)[0])]
    if not near:
        return []
    best, quotes = max(near, key=lambda pair: _coverage(words, pair[1][:1]))
    passage = best.passage(quotes)
    notes = [f"{wrong} is not near the passages that fit best" for wrong in find_underived(words, passage)]
    return [*notes, *(suspicion.note for suspicion in find_suspicions(words, passage))][:4]


def _judge(statement: ReportStatement, source: SourcePassages) -> _Judgement:
    words = strip_lead_in(statement.text)
    nearest = source.nearest([words], _CANDIDATES)[0]
    if not nearest:
        return _Judgement("not in the source", "the source has no sentences", None, 0.0)
    if is_quotation(words, [source.text]):
        quote = max(nearest, key=lambda one: _coverage(words, [one]))
        return _Judgement("supported", "the source's own words", quote, 1.0)
    if has_cjk(words) != has_cjk(source.text):
        return _judge_across_languages(words, source, nearest)
    best = max(nearest, key=lambda one: _coverage(words, [one]))
    window = _choose_window(words, best, nearest)
    coverage = _coverage(words, window)
    if coverage < _ABSENT:
        return _Judgement("not in the source", "hardly any of its words are there", best, coverage)
    verdict, reason = _compare(words, source, window, nearest, coverage)
    return _Judgement(verdict, reason, best, coverage)


def _compare(
    words: str, source: SourcePassages, window: Sequence[Quote], nearest: Sequence[Quote], coverage: float
) -> tuple[VerdictName, str]:
    texts, passage = [quote.text for quote in window], source.passage(window)
    if wrong := find_underived(words, passage):
        is_rival = coverage >= _ABOUT_IT and _has_rival(words, texts, wrong)
        said = ", ".join(wrong)
        if is_rival:
            return "contradicted", f"{said} is not what the source says"
        if coverage >= _ABOUT_IT:
            return "partly", f"{said} is not in the source"
        return "not in the source", f"{said} is not in the source"
    if why := find_contradicting_quote(words, texts):
        return "contradicted", why
    flaws = {
        kind: reasons
        for kind, reasons in find_unsupported_by_kind(words, texts).items()
        if kind not in {"a number", "a date"}
    }
    known = passage.everything.lower()
    names = [why for why in flaws.pop("a name", []) if why.partition(" is not")[0].lower() not in known]
    if names:
        flaws["a name"] = names
    for suspicion in find_suspicions(words, passage):
        flaws.setdefault(suspicion.kind, []).append(suspicion.note)
    reason = "; ".join(dict.fromkeys(why for reasons in flaws.values() for why in reasons))
    score = score_support(words, [quote.text for quote in sorted(nearest, key=lambda one: one.start)])
    is_close = score >= SUPPORTED_FROM
    loose = _MERE_WORDING | ({"who and what"} if coverage < _NEARLY_ALL else set())
    if (is_close and not flaws.keys() - loose) or (coverage >= _NEARLY_ALL and not flaws):
        return "supported", ""
    if is_close or coverage >= _MOSTLY:
        return "partly", reason or "some of its words are not there"
    return "not in the source", reason or "most of its words are not there"


def _has_rival(words: str, texts: Sequence[str], wrong: Sequence[str]) -> bool:
    """Tell whether the source has another figure of the same kind, or another date."""
    quoted = " ".join(texts)
    if any(date.text in wrong for date in find_dates(words)):
        return bool(find_dates(quoted))
    kinds = {figure.dimension for figure in find_figures_outside_dates(words) if figure.text in wrong}
    return any(figure.dimension in kinds for figure in find_figures_outside_dates(quoted))


def _judge_across_languages(words: str, source: SourcePassages, nearest: Sequence[Quote]) -> _Judgement:
    passage = source.passage(nearest)
    if wrong := find_underived(words, passage):
        return _Judgement("partly", f"{_OTHER_LANGUAGE}{', '.join(wrong)} is not there", nearest[0], 0.0)
    return _Judgement("partly", f"{_OTHER_LANGUAGE}its figures are there", nearest[0], 0.0)


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

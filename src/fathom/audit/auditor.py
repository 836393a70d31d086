"""Audit a report: take it apart, read its sources, decide about every statement, look for the rest.

An audit is named by what it is about. The same audit again finds every answered call in the reply store, so
after a crash it pays for nothing twice.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from math import ceil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fathom.audit import (
    AuditEvent,
    AuditEventKind,
    AuditResult,
    AuditVerdict,
    CitationRule,
    Correction,
    ReadSource,
    ReportStatement,
    ResultRecord,
    VerdictName,
    audit_phrases,
)
from fathom.audit.marked_text import mark_report
from fathom.audit.rules import BY_RULES, decide_by_rules, phrases_for
from fathom.audit.sources import CitedText, SourcePassages, SourceReader, read_hit
from fathom.audit.statements import SplitReport, split_report
from fathom.audit.verifier import MOST_A_CALL, AuditLog, StatementVerifier
from fathom.budget import Budget
from fathom.budget.prices import estimate_usd, find_unpriced_models, refuse_unenforceable_budget
from fathom.errors import BadInput, ProviderError, Unreadable
from fathom.evidence.controls import TrustLog
from fathom.graph.dependencies import Dependencies, standard_dependencies
from fathom.http.fetch import Fetcher, make_polite
from fathom.nodes.ports import EnginesPort
from fathom.reading import Document
from fathom.reading.parsers import detect_kind
from fathom.reading.sandbox import BoundedParser, parser_pool
from fathom.search.engines import document_roots
from fathom.settings import Settings
from fathom.state import Failure, Forecast, Hit, Query, RunConfig
from fathom.storage import open_storage
from fathom.text.languages import wants_korean

MAX_REPORT_BYTES = 20_000_000
_ITEM_TOKENS = (70, 60)  # tokens of a statement in a call, and of its verdict
_SOURCE_TOKENS = 700
_PROMPT_TOKENS = 700
_CALL_S, _READ_S = 20.0, 3.0
_LOOSE_RULES: frozenset[CitationRule] = frozenset({"next", "lead-in", "heading", "line below"})
_HITS, _MOST_QUERY_CHARS = 3, 300


class AuditRequest(ResultRecord):
    """What is audited, and how: `report` is a file, an address, or - with the `body` of a report."""

    report: str
    body: bytes | None = None
    is_searched: bool = False  # look elsewhere for what the report's own sources do not carry
    run_config: RunConfig = RunConfig()


@dataclass(frozen=True)
class _LoadedReport:
    """A report, taken apart, and the name of its audit."""

    id: str
    split: SplitReport
    language: str


async def audit_report(
    settings: Settings, request: AuditRequest, tell: Callable[[AuditEvent], None] = lambda _: None
) -> AuditResult:
    """Audit a report; `tell` hears how far it is."""
    run_config = settings.usual(request.run_config)
    own = settings.with_allowed(run_config)
    if "budget_usd" in request.run_config.model_fields_set:
        await asyncio.to_thread(refuse_unenforceable_budget, own, run_config)
    tools = await asyncio.to_thread(standard_dependencies(own), run_config)
    loaded = await load_report(own, request)
    return await _Audit(own, request, run_config, tools, loaded, tell).run()


async def forecast_audit(settings: Settings, request: AuditRequest) -> Forecast:
    """Return what an audit would cost; the report is read, its sources are not, and nobody is asked."""
    run_config = settings.usual(request.run_config)
    own = settings.with_allowed(run_config)
    loaded = await load_report(own, request)
    return await asyncio.to_thread(_forecast, own, run_config, loaded.split)


async def load_report(settings: Settings, request: AuditRequest) -> _LoadedReport:
    """Read a report from its place, and take it apart; BadInput if that cannot be done."""
    await asyncio.to_thread(_refuse_unknown_places, request.run_config)
    body, content_type, name = await _load_body(settings, request)
    if len(body) > MAX_REPORT_BYTES:
        raise BadInput(f"{name} is larger than {MAX_REPORT_BYTES:,} bytes.")
    try:
        document = await _parse(body, content_type, name)
    except Unreadable as error:
        raise BadInput(f"{error}.") from None
    split = await asyncio.to_thread(split_report, document.text, document.title)
    if not split.statements:
        raise BadInput(f"{name} has no statements that could be audited.")
    words = " ".join(statement.text for statement in split.statements)
    language = "ko" if wants_korean(words, None) else "en"
    said = [document.text, str(request.is_searched), *request.run_config.docs]
    name_of_it = sha256("\x1f".join(said).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return _LoadedReport(f"audit-{name_of_it}", split, language)


def _refuse_unknown_places(run_config: RunConfig) -> None:
    for place in run_config.docs:
        if not Path(place).expanduser().exists():
            raise BadInput(f"There is no folder or file {place}.")


async def _parse(body: bytes, content_type: str | None, name: str) -> Document:
    parse = BoundedParser(parser_pool(), function=mark_report)
    try:
        detect_kind(body, content_type=content_type, name=name)
    except Unreadable:
        content_type = "text/markdown"  # without a name that says more; binary files are refused later
    return await parse(body, content_type=content_type, name=name)


async def _load_body(settings: Settings, request: AuditRequest) -> tuple[bytes, str | None, str]:
    place = request.report
    if request.body is not None:
        return request.body, None, "the report" if place == "-" else place
    if place == "-":
        return await asyncio.to_thread(sys.stdin.buffer.read), None, "the report"
    if urlsplit(place).scheme in {"http", "https"}:
        fetcher = Fetcher(is_private_allowed=settings.allow_private, is_proxied=settings.proxy_pages)
        try:
            found = await make_polite(fetcher, is_robots_obeyed=settings.respect_robots)(place)
        except ProviderError as error:
            raise BadInput(f"{error}.") from None
        return found.body, found.content_type, found.address
    try:
        return await asyncio.to_thread(lambda: Path(place).expanduser().read_bytes()), None, place
    except OSError as error:
        raise BadInput(f"{place} cannot be read: {error.strerror}.") from None


def _forecast(settings: Settings, run_config: RunConfig, split: SplitReport) -> Forecast:
    cited = [statement for statement in split.checked if statement.cites]
    sources = {key for statement in cited for key in statement.cites}
    is_thinking = settings.uses_model(run_config.model)
    calls = ceil(len(cited) / MOST_A_CALL) if is_thinking else 0
    tokens_in = calls * _PROMPT_TOKENS + len(sources) * _SOURCE_TOKENS + len(cited) * _ITEM_TOKENS[0]
    tokens_out = len(cited) * _ITEM_TOKENS[1]
    model = settings.model_for("verify", run_config.model_of("verify")) if is_thinking else ""
    usd = estimate_usd(settings, model, tokens_in, tokens_out) if calls else 0.0
    reading_s = _READ_S * ceil(len(sources) / settings.parallel_extractions)
    return Forecast(
        expected_usd=round(min(usd, run_config.budget_usd), 6),
        worst_usd=run_config.budget_usd if usd else 0.0,
        expected_s=reading_s + _CALL_S * bool(calls),
        worst_s=90.0 * len(sources) + 2 * settings.call_timeout_s * calls,
        calls=calls,
        tokens_in=tokens_in if calls else 0,
        tokens_out=tokens_out if calls else 0,
        because=f"{len(cited)} cited statements and {len(sources)} sources, {model or 'no model'}",
        unpriced=find_unpriced_models(settings, run_config) if calls else [],
    )


@dataclass
class _Audit:
    """One audit at work."""

    settings: Settings
    request: AuditRequest
    run_config: RunConfig
    tools: Dependencies
    loaded: _LoadedReport
    tell: Callable[[AuditEvent], None]
    log: AuditLog = field(default_factory=AuditLog)

    async def run(self) -> AuditResult:
        """Work through all steps, and return the result."""
        split = self.loaded.split
        self._tell("started", what=self.request.report)
        self._tell("split", done=len(split.checked), total=len(split.statements))
        texts = await self._read_sources(split)
        passages = {key: SourcePassages(found) for key, found in texts.items() if found.page}
        verdicts = await self._decide(split.checked, texts, passages)
        self._tell("checked", done=len(verdicts), total=len(verdicts))
        if self.request.is_searched:
            verdicts = await self._look_elsewhere(verdicts)
        result = AuditResult(
            id=self.loaded.id,
            title=split.title,
            place=self.request.report,
            language=self.loaded.language,
            statements=split.statements,
            blocks=split.blocks,
            sources=[found.about for found in texts.values()],
            verdicts=verdicts,
            decided_by=self.log.by or BY_RULES,
            controls=self.log.tallies,
            failures=self.log.failures,
            costs=self.log.costs,
        )
        self._tell("completed", result=result)
        return result

    async def _read_sources(self, split: SplitReport) -> dict[str, CitedText]:
        cited: dict[str, list[str]] = {}
        for statement in split.checked:
            for key in statement.cites:
                cited.setdefault(key, []).append(statement.text)
        wanted = [source for source in split.sources if source.id in cited]
        done = count(1)

        def tell(source: ReadSource) -> None:
            what = f"{source.status}: {source.title or source.source.label or source.source.address}"
            self._tell("source read", what=what, done=next(done), total=len(wanted))

        roots = document_roots(self.run_config)
        say = audit_phrases(self.loaded.language)
        reader = SourceReader(self.tools.reader, self.settings.archive_url, say, roots)
        texts = await reader.read_all(wanted, cited, tell)
        for found in texts.values():
            if found.page:
                await self.tools.pages.put(found.text)
        return texts

    async def _decide(
        self,
        statements: Sequence[ReportStatement],
        texts: dict[str, CitedText],
        passages: dict[str, SourcePassages],
    ) -> list[AuditVerdict]:
        open_ones = [one for one in statements if any(key in passages for key in one.cites)]
        computed = [one for one in open_ones if one.text == one.calculation]  # code knows better than a model
        asked = [one for one in open_ones if one.text != one.calculation]
        found = {v.statement: v.model_copy(update={"by": "code"}) for v in _by_rules(computed, passages)}
        found |= {v.statement: v for v in await self._verify(asked, passages)}
        found |= {one.id: _decide_unread(one, texts) for one in statements if one.id not in found}
        return [_soften(found[one.id], one) for one in statements]

    async def _verify(
        self, statements: Sequence[ReportStatement], passages: dict[str, SourcePassages]
    ) -> list[AuditVerdict]:
        if not statements:
            return []
        if not self.settings.uses_model(self.run_config.model):
            return await asyncio.to_thread(_by_rules, statements, passages)
        from fathom.llm.factory import make_outputs  # seconds of imports

        outputs = await asyncio.to_thread(make_outputs, self.settings, self.run_config)
        storage = open_storage(self.settings.database)
        budget = Budget(storage.costs, self.loaded.id, self.run_config.budget_usd, 0.0)
        verifier = StatementVerifier(outputs["verify"].within(budget), TrustLog(storage), passages, self.log)
        return await verifier.verify(statements)

    async def _look_elsewhere(self, verdicts: Sequence[AuditVerdict]) -> list[AuditVerdict]:
        open_ids = {one.statement for one in verdicts if not _is_settled(one)}
        found = await self._find_corrections([one for one in self.loaded.split.checked if one.id in open_ids])
        self._tell("searched", done=len(found), total=len(verdicts))
        return [
            one.model_copy(update={"correction": found[one.statement]}) if one.statement in found else one
            for one in verdicts
        ]

    async def _find_corrections(self, statements: Sequence[ReportStatement]) -> dict[str, Correction]:
        """Search for each statement, read the best hits, and return what settles it, by its id."""
        engines = self.tools.for_run(self.loaded.id, None, self.run_config).engines
        hits = await asyncio.gather(*(self._search(one, engines) for one in statements))
        wanted = {hit.address: hit for found in hits for hit in found}
        texts = await asyncio.gather(*(read_hit(self.tools.reader, hit) for hit in wanted.values()))
        read = zip(wanted, texts, strict=True)
        passages = {address: SourcePassages(text) for address, text in read if text and text.page}
        asked = [
            one.model_copy(update={"cites": keys})
            for one, found in zip(statements, hits, strict=True)
            if (keys := [hit.address for hit in found if hit.address in passages])
        ]
        return {
            verdict.statement: Correction(
                verdict="supported" if verdict.verdict == "supported" else "contradicted",
                title=passages[verdict.source].page.title,
                address=passages[verdict.source].page.address,
                quote=verdict.quote,
            )
            for verdict in await self._verify(asked, passages)
            if verdict.quote and _is_settled(verdict)
        }

    async def _search(self, statement: ReportStatement, engines: EnginesPort) -> list[Hit]:
        query = Query(id=statement.id, text=statement.text[:_MOST_QUERY_CHARS], question="", round=1)
        try:
            found = await engines.search(query, limit=_HITS)
        except ProviderError as error:
            self.log.failures.append(Failure(where="search", what=query.text, why=str(error)))
            self.log.costs += error.costs
            return []
        self.log.failures += found.failures
        self.log.costs += found.costs
        return found.hits[:_HITS]

    def _tell(self, kind: AuditEventKind, **about: Any) -> None:
        usd, budget_usd = sum(cost.usd for cost in self.log.costs), self.run_config.budget_usd
        self.tell(AuditEvent(kind=kind, audit_id=self.loaded.id, usd=usd, budget_usd=budget_usd, **about))


def _by_rules(
    statements: Sequence[ReportStatement], passages: dict[str, SourcePassages]
) -> list[AuditVerdict]:
    return [decide_by_rules(one, [passages[k] for k in one.cites if k in passages]) for one in statements]


def _decide_unread(statement: ReportStatement, texts: dict[str, CitedText]) -> AuditVerdict:
    """Decide about a statement none of whose sources could be read."""
    if not statement.cites:
        reason = phrases_for(statement.text)("reason.uncited")
        return AuditVerdict(statement=statement.id, verdict="uncited", reason=reason, by="code")
    found = [texts[key].about for key in statement.cites]
    is_reachable = any(one.status == "unreachable" for one in found)
    first = next(one for one in found if one.status == "unreachable") if is_reachable else found[0]
    verdict: VerdictName = "source unreachable" if is_reachable else "source invented"
    return AuditVerdict(
        statement=statement.id, verdict=verdict, reason=first.why, source=first.source.id, by="code"
    )


def _is_settled(verdict: AuditVerdict) -> bool:
    return verdict.verdict in {"supported", "contradicted"}


def _soften(verdict: AuditVerdict, statement: ReportStatement) -> AuditVerdict:
    """A mark further on may not mean this sentence: what its source does not say is uncited."""
    if statement.cited_by in _LOOSE_RULES and verdict.verdict == "not in the source":
        reason = phrases_for(statement.text)("reason.uncited_by_end")
        return verdict.model_copy(update={"verdict": "uncited", "reason": reason})
    return verdict

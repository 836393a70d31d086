"""What the tools return: short records that a model can read and a program can check."""

from typing import Any, Self

from pydantic import BaseModel, Field

from fathom.audit.records import AuditResult, Correction
from fathom.audit.render import summarize
from fathom.events import Checkpoint
from fathom.report.verify import Verification
from fathom.result import ResearchResult
from fathom.runs.repository import RunLine
from fathom.state import Citation, Hit


class QuotedSource(BaseModel):
    """A cited source, with the sentences that the report quotes from it."""

    number: int
    title: str
    address: str
    published: str = ""
    quotes: list[str]

    @classmethod
    def of(cls, citation: Citation) -> Self:
        """Return a citation of a report."""
        return cls(
            number=citation.number,
            title=citation.title,
            address=citation.address,
            published=citation.published or "",
            quotes=[quote.text for quote in citation.quotes],
        )


class ResearchAnswer(BaseModel):
    """A finished report, or a plan that waits for somebody's word."""

    run_id: str = Field(description="Names the run for resume, follow_up, verify and the report's resources.")
    status: str = Field(description="complete, partial, unsure, failed, extracts, or waiting")
    report: str = Field("", description="The report as Markdown; [n] are the numbers of the sources.")
    sources: list[QuotedSource] = []
    cost_usd: float = 0.0
    problems: list[str] = Field([], description="What could not be searched, read or checked.")
    waits_for: dict[str, Any] | None = Field(
        None, description="The plan on the table; answer it with the tool resume."
    )

    @classmethod
    def of_result(cls, result: ResearchResult) -> Self:
        """Return a finished run."""
        return cls(
            run_id=result.run_id,
            status=result.status,
            report=result.report,
            sources=[QuotedSource.of(citation) for citation in result.citations],
            cost_usd=round(result.metadata.cost_usd, 6) if result.metadata else 0.0,
            problems=[f"{failure.where}: {failure.what}: {failure.why}" for failure in result.errors],
        )

    @classmethod
    def of_table(cls, run_id: str, table: Checkpoint) -> Self:
        """Return a run that stands."""
        return cls(run_id=run_id, status="waiting", waits_for={"why": table.why, **table.shown})


class SearchHit(BaseModel):
    """One search result; its id can be fetched."""

    id: str
    title: str
    url: str
    text: str = ""

    @classmethod
    def of(cls, name: str, hit: Hit) -> Self:
        """Return a hit with the id by which it can be fetched."""
        return cls(id=name, title=hit.title or hit.address, url=hit.address, text=hit.snippet)


class SearchResults(BaseModel):
    """What a search found."""

    results: list[SearchHit]


class FetchedDocument(BaseModel):
    """The text of a search result."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, str] = {}


class KnownRun(BaseModel):
    """A run in the database."""

    run_id: str
    question: str
    status: str
    started: str
    cost_usd: float

    @classmethod
    def of(cls, line: RunLine) -> Self:
        """Return a run as a list shows it."""
        return cls(
            run_id=line.id,
            question=line.question,
            status=line.status,
            started=line.started.isoformat(timespec="seconds"),
            cost_usd=round(line.cost_usd, 6),
        )


class KnownRuns(BaseModel):
    """The latest runs."""

    runs: list[KnownRun]


class CheckedReport(BaseModel):
    """A report checked again, without a model, against the stored text of its sources."""

    run_id: str
    is_sound: bool
    summary: str
    faults: list[str]

    @classmethod
    def of(cls, run_id: str, found: Verification) -> Self:
        """Return what checking found."""
        return cls(run_id=run_id, is_sound=found.is_sound, summary=found.summary, faults=found.faults)


class AuditedStatement(BaseModel):
    """A statement of a report, and whether its sources carry it."""

    statement: str
    verdict: str = Field(
        description="supported, partly, contradicted, not in the source, source unreachable, source invented"
        " or uncited"
    )
    reason: str = ""
    quote: str = Field("", description="The words of the source that carry or contradict it, or the nearest.")
    address: str = ""
    found_elsewhere: str = Field("", description="What another page says of it, and its address.")


def _describe_correction(found: Correction | None) -> str:
    return f"{found.verdict} by “{found.quote.text}” ({found.address})" if found else ""


class AuditFindings(BaseModel):
    """A report by anybody, checked against what it cites."""

    summary: str
    has_alarms: bool = Field(description="Something is contradicted, or a source does not exist.")
    decided_by: str
    statements: list[AuditedStatement]

    @classmethod
    def of(cls, result: AuditResult) -> Self:
        """Return what an audit found."""
        said = {statement.id: statement.text for statement in result.statements}
        read = {source.source.id: source for source in result.sources}
        return cls(
            summary=summarize(result),
            has_alarms=result.has_alarms,
            decided_by=result.decided_by,
            statements=[
                AuditedStatement(
                    statement=said[verdict.statement],
                    verdict=verdict.verdict,
                    reason=verdict.reason,
                    quote=next((quote.text for quote in (verdict.quote, verdict.nearest) if quote), ""),
                    address=read[verdict.source].source.address if verdict.source in read else "",
                    found_elsewhere=_describe_correction(verdict.correction),
                )
                for verdict in result.verdicts
            ],
        )

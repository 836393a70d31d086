"""The MCP server: tools, what they return, and resources, over the facade that command line and page use.

Callers may name documents only below the allowed folders, and spend only what the operator allows. A call
that is cancelled leaves its run where it stands; `resume` goes on with it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError

from fathom.audit import AuditResult, summarize
from fathom.audit.auditor import AuditRequest
from fathom.errors import BadInput, FathomError
from fathom.events import Checkpoint, Progress
from fathom.graph.dependencies import refuse_unnamed
from fathom.request import ResearchRequest
from fathom.researcher import DeepResearcher
from fathom.result import ResearchResult
from fathom.runs.lookup import SourceLookup
from fathom.settings import Settings
from fathom.state import ReviewAnswer

if TYPE_CHECKING:
    from fathom.session import Session

_INSTRUCTIONS = """\
Fathom researches a question and writes a report in which every sentence leads back to a quotation in a source
that was read. Use `research` for a question that needs several sources; it takes minutes, with
progress. Use `follow_up` to ask on. `search` and `fetch` look up single documents. Cite
the sources a report cites."""


class QuotedSource(BaseModel):
    """A cited source, with the sentences that the report quotes from it."""

    number: int
    title: str
    address: str
    published: str = ""
    quotes: list[str]


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
            sources=[
                QuotedSource(
                    number=cited.number,
                    title=cited.title,
                    address=cited.address,
                    published=cited.published or "",
                    quotes=[quote.text for quote in cited.quotes],
                )
                for cited in result.citations
            ],
            cost_usd=round(result.metadata.cost_usd, 6),
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


class KnownRuns(BaseModel):
    """The latest runs."""

    runs: list[KnownRun]


class CheckedReport(BaseModel):
    """A report checked again, without a model, against the stored text of its sources."""

    run_id: str
    is_sound: bool
    summary: str
    faults: list[str]


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
                    found_elsewhere=f"{found.verdict} by “{found.quote.text}” ({found.address})"
                    if (found := verdict.correction)
                    else "",
                )
                for verdict in result.verdicts
            ],
        )


_READS = ToolAnnotations(read_only_hint=True, open_world_hint=True)
_WORKS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
RunId = Annotated[str, Field(description="A run's id, or its first characters.")]


def make_server(settings: Settings, is_one_too_many: Callable[[], bool] = lambda: False) -> MCPServer[None]:
    """Make the server on the settings' database; `is_one_too_many` is asked before every new run."""
    tools = _Tools(settings, is_one_too_many)
    server: MCPServer[None] = MCPServer(
        "fathom",
        title="Fathom",
        instructions=_INSTRUCTIONS,
        version=version("fathom-research"),
        log_level="ERROR",
        lifespan=lambda _: tools.open(),
    )
    working: list[Callable[..., Any]] = [tools.research, tools.resume, tools.follow_up, tools.audit]
    reading: list[Callable[..., Any]] = [tools.search, tools.fetch, tools.review, tools.verify, tools.runs]
    for tool in working:
        server.add_tool(tool, annotations=_WORKS)
    for tool in reading:
        server.add_tool(tool, annotations=_READS)
    server.resource("fathom://runs/{run_id}/report.md", mime_type="text/markdown")(tools.report)
    server.resource("fathom://runs/{run_id}/report.json", mime_type="application/json")(tools.ledger)
    return server


@asynccontextmanager
async def _one_sentence() -> AsyncIterator[None]:
    """Turn what users can act on into the tool's error; anything else is a bug and hidden by the package."""
    try:
        yield
    except FathomError as error:
        raise ToolError(str(error)) from None
    except ValidationError as error:
        raise ToolError(error.errors()[0]["msg"]) from None


class _Tools:
    """The tools; their docstrings are what a model reads."""

    def __init__(self, settings: Settings, is_one_too_many: Callable[[], bool]) -> None:
        self._settings = settings
        self._is_one_too_many = is_one_too_many
        self._researcher = DeepResearcher(settings, out=settings.home / "runs")
        self._lookup = SourceLookup(settings)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Keep the database open while the server runs."""
        async with self._researcher:
            yield

    @_one_sentence()
    async def research(
        self,
        question: Annotated[str, Field(description="The question, in any language.", max_length=2000)],
        ctx: Context,
        depth: Annotated[
            Literal["quick", "standard", "comprehensive"], Field(description="How far to go.")
        ] = "standard",
        docs: Annotated[
            list[str] | None, Field(description="Folders or files to search instead of the web.")
        ] = None,
        budget_usd: Annotated[float | None, Field(description="The most it may cost, in USD.", gt=0)] = None,
        language: Annotated[
            str | None, Field(description="Of the report; the question's if left out.")
        ] = None,
        is_reviewed: Annotated[
            bool, Field(description="Return the plan first; go on with the tool resume.")
        ] = False,
    ) -> ResearchAnswer:
        """Research a question and return a report with numbered sources and their quotations."""
        words = {"docs": docs, "budget_usd": budget_usd, "language": language}
        request = ResearchRequest(
            query=question,
            depth=depth,
            review="plan" if is_reviewed else "off",
            **{name: value for name, value in words.items() if value is not None},
        )
        config = request.run_config(self._settings.run)
        await asyncio.to_thread(refuse_unnamed, self._settings, config)
        self._count_run()
        return await self._work(await self._researcher.begin(request), ctx)

    @_one_sentence()
    async def resume(
        self,
        run_id: RunId,
        ctx: Context,
        action: Annotated[
            Literal["approve", "edit", "feedback", "add", "finish"] | None,
            Field(
                description="The answer to a plan: approve it; edit its queries; feedback: plan again as text"
                " says; add the query in text; finish: write the report now. Leave out to go on after a stop."
            ),
        ] = None,
        queries: Annotated[list[str] | None, Field(description="For edit: all queries to send.")] = None,
        text: Annotated[str, Field(description="For feedback and add.")] = "",
    ) -> ResearchAnswer:
        """Go on with a run that waits for review, was paused, cancelled, or stopped by a crash."""
        answer = ReviewAnswer(action=action, queries=queries or [], text=text) if action else None
        session = await self._researcher.session(run_id)
        if session.is_complete:
            return ResearchAnswer.of_result(await session.result())
        return await self._work(session, ctx, answer)

    @_one_sentence()
    async def follow_up(
        self, run_id: RunId, question: Annotated[str, Field(max_length=2000)], ctx: Context
    ) -> ResearchAnswer:
        """Ask a further question about a finished report; what it found is used first."""
        self._count_run()
        return await self._work(await self._researcher.ask(run_id, question), ctx)

    @_one_sentence()
    async def review(self, run_id: RunId) -> ResearchAnswer:
        """Show the plan that a run waits with, or the finished report."""
        session = await self._researcher.session(run_id)
        if session.is_complete:
            return ResearchAnswer.of_result(await session.result())
        if session.waits_for is None:
            return ResearchAnswer(run_id=session.id, status="stopped")
        return ResearchAnswer.of_table(session.id, session.waits_for)

    @_one_sentence()
    async def search(self, query: str) -> SearchResults:
        """Search the configured sources; fetch a result by its id to read it."""
        found = await self._lookup.search(query)
        hits = [
            SearchHit(id=name, title=hit.title or hit.address, url=hit.address, text=hit.snippet)
            for name, hit in found.items()
        ]
        return SearchResults(results=hits)

    @_one_sentence()
    async def fetch(self, id: str) -> FetchedDocument:  # noqa: A002 - the name that clients expect
        """Return the full text of a search result."""
        hit, document = await self._lookup.read(id)
        about = {"published": document.published or hit.published, "publisher": document.publisher}
        return FetchedDocument(
            id=id,
            title=document.title or hit.title or hit.address,
            text=document.text,
            url=hit.address,
            metadata={name: value for name, value in about.items() if value},
        )

    @_one_sentence()
    async def verify(self, run_id: RunId) -> CheckedReport:
        """Check every sentence of a finished report again, against the stored text of its sources."""
        run = (await self._researcher.run(run_id)).id  # never the name of a file
        found = await self._researcher.verify(run)
        return CheckedReport(run_id=run, is_sound=found.is_sound, summary=found.summary, faults=found.faults)

    @_one_sentence()
    async def audit(
        self,
        report: Annotated[str, Field(description="The whole report as Markdown or plain text.")],
        ctx: Context,
        docs: Annotated[
            list[str] | None, Field(description="Folders with files that the report cites.")
        ] = None,
        is_searched: Annotated[
            bool, Field(description="Look elsewhere for what the report's own sources do not carry.")
        ] = False,
    ) -> AuditFindings:
        """Check every statement of somebody's report against the sources it cites."""
        asked = ResearchRequest(query="audit", **({"docs": docs} if docs else {}))
        config = asked.run_config(self._settings.run)
        await asyncio.to_thread(refuse_unnamed, self._settings, config)
        request = AuditRequest(
            report="-", body=report.encode("utf-8", "replace"), is_searched=is_searched, run_config=config
        )
        result: AuditResult | None = None
        told = 0
        async with aclosing(self._researcher.stream_audit(request)) as events:
            async for event in events:
                told, result = told + 1, event.result
                await ctx.report_progress(told, None, f"{event.kind} {event.done}/{event.total}")
        assert result is not None
        return AuditFindings.of(result)

    @_one_sentence()
    async def runs(self, most: Annotated[int, Field(ge=1, le=200)] = 20) -> KnownRuns:
        """List the latest runs: questions, status, cost."""
        known = [
            KnownRun(
                run_id=line.id,
                question=line.question,
                status=line.status,
                started=line.started.isoformat(timespec="seconds"),
                cost_usd=round(line.cost_usd, 6),
            )
            for line in await self._researcher.runs(most)
        ]
        return KnownRuns(runs=known)

    async def report(self, run_id: str) -> str:
        """Return the report of a run as Markdown."""
        return (await self._result(run_id)).report

    async def ledger(self, run_id: str) -> str:
        """Return the report of a run with claims, quotations and positions, as JSON."""
        return (await self._result(run_id)).model_dump_json()

    async def _result(self, run_id: str) -> ResearchResult:
        try:
            return await self._researcher.result(run_id)
        except FathomError as error:
            raise ResourceNotFoundError(str(error)) from None

    def _count_run(self) -> None:
        if self._is_one_too_many():
            most = self._settings.runs_per_minute
            raise BadInput(f"More than {most} runs were started within a minute.")

    async def _work(
        self, session: "Session", ctx: Context, answer: ReviewAnswer | None = None
    ) -> ResearchAnswer:
        """Work on a run until it is over or stands; every event is a progress notification."""
        told = 0
        async with aclosing(session.events(answer)) as events:
            async for event in events:
                told += 1
                await ctx.report_progress(told, None, _describe(event))
        if session.is_complete:
            return ResearchAnswer.of_result(await session.result())
        table = session.waits_for or Checkpoint(why="stopped")
        return ResearchAnswer.of_table(session.id, table)


def _describe(event: Progress) -> str:
    """Return what happened in a line: the round, the kind of event, and what it is about."""
    about = (getattr(event.payload, name, "") for name in ("query", "title", "heading", "because", "error"))
    what = next((str(words) for words in about if words), "")
    return f"round {event.round}: {event.kind}" + (f": {what[:200]}" if what else "")

"""The MCP server: its tools and resources, over the same facade that the command line and the page use.

Callers may name documents only below the allowed folders, and spend only what the operator allows. A call
that is cancelled leaves its run where it stands; `resume` goes on with it.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from fathom.audit.auditor import AuditRequest
from fathom.audit.records import AuditResult
from fathom.errors import BadInput, FathomError
from fathom.events import Checkpoint, Progress
from fathom.graph.dependencies import refuse_unnamed
from fathom.integrations.mcp_records import (
    AuditFindings,
    CheckedReport,
    FetchedDocument,
    KnownRun,
    KnownRuns,
    ResearchAnswer,
    SearchHit,
    SearchResults,
)
from fathom.request import ResearchRequest
from fathom.researcher import DeepResearcher
from fathom.runs.lookup import SourceLookup
from fathom.settings.settings import Settings
from fathom.state import ReviewAnswer

if TYPE_CHECKING:
    from fathom.result import ResearchResult
    from fathom.session import Session

_INSTRUCTIONS = """\
Fathom researches a question and writes a report in which every sentence leads back to a quotation in a source
that was read. Use `research` for a question that needs several sources; it takes minutes, with
progress. Use `follow_up` to ask on. `search` and `fetch` look up single documents. Cite
the sources a report cites."""

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


@contextmanager
def _one_sentence() -> Iterator[None]:
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
        with _one_sentence():
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
        with _one_sentence():
            answer = ReviewAnswer(action=action, queries=queries or [], text=text) if action else None
            session = await self._researcher.session(run_id)
            if session.is_complete:
                return ResearchAnswer.of_result(await session.result())
            return await self._work(session, ctx, answer)

    async def follow_up(
        self, run_id: RunId, question: Annotated[str, Field(max_length=2000)], ctx: Context
    ) -> ResearchAnswer:
        """Ask a further question about a finished report; what it found is used first."""
        with _one_sentence():
            self._count_run()
            return await self._work(await self._researcher.ask(run_id, question), ctx)

    async def review(self, run_id: RunId) -> ResearchAnswer:
        """Show the plan that a run waits with, or the finished report."""
        with _one_sentence():
            session = await self._researcher.session(run_id)
            if session.is_complete:
                return ResearchAnswer.of_result(await session.result())
            if session.waits_for is None:
                return ResearchAnswer(run_id=session.id, status="stopped")
            return ResearchAnswer.of_table(session.id, session.waits_for)

    async def search(self, query: str) -> SearchResults:
        """Search the configured sources; fetch a result by its id to read it."""
        with _one_sentence():
            found = await self._lookup.search(query)
            return SearchResults(results=[SearchHit.of(name, hit) for name, hit in found.items()])

    async def fetch(self, id: str) -> FetchedDocument:  # noqa: A002 - the name that clients expect
        """Return the full text of a search result."""
        with _one_sentence():
            hit, document = await self._lookup.read(id)
            about = {"published": document.published or hit.published, "publisher": document.publisher}
            return FetchedDocument(
                id=id,
                title=document.title or hit.title or hit.address,
                text=document.text,
                url=hit.address,
                metadata={name: value for name, value in about.items() if value},
            )

    async def verify(self, run_id: RunId) -> CheckedReport:
        """Check every sentence of a finished report again, against the stored text of its sources."""
        with _one_sentence():
            result = await self._researcher.result(run_id)
            with tempfile.TemporaryDirectory(prefix="fathom-") as folder:
                file = Path(folder) / "report.json"
                await asyncio.to_thread(file.write_text, result.model_dump_json(), "utf-8")
                return CheckedReport.of(result.run_id, await self._researcher.verify(file))

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
        with _one_sentence():
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

    async def runs(self, most: Annotated[int, Field(ge=1, le=200)] = 20) -> KnownRuns:
        """List the latest runs: questions, status, cost."""
        with _one_sentence():
            return KnownRuns(runs=[KnownRun.of(line) for line in await self._researcher.runs(most)])

    async def report(self, run_id: str) -> str:
        """Return the report of a run as Markdown."""
        return (await self._result(run_id)).report

    async def ledger(self, run_id: str) -> str:
        """Return the report of a run with claims, quotations and positions, as JSON."""
        return (await self._result(run_id)).model_dump_json()

    async def _result(self, run_id: str) -> "ResearchResult":
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

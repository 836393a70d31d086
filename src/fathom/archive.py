"""The runs of a database: list, show, compare, export, remove. Needs no model.

Methods import what they need: reading runs takes a second of imports, and a list of runs does not need it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast

from fathom.concurrency import wait_for
from fathom.errors import BadInput
from fathom.runs import RunLine, control_run, find_line, list_runs
from fathom.runs.control import SharedRuns
from fathom.runs.views import ConversationThread, PassageView, RunViews
from fathom.settings import DATABASE_FILE, Settings, load_settings
from fathom.settings.database_address import DatabaseAddress
from fathom.state import RunState
from fathom.storage import open_storage
from fathom.storage.records import SignalWord

if TYPE_CHECKING:
    from fathom.events import Progress
    from fathom.report.formats import FormatName
    from fathom.report.verify import Verification
    from fathom.result import ResearchResult
    from fathom.runs.compare import Comparison
    from fathom.runs.diagnosis import Diagnosis
    from fathom.runs.folder import PageName
    from fathom.runs.prune import PruneChoice, PruneResult
    from fathom.runs.rescue import Rescued, Upgraded
    from fathom.storage.migrate import Migrated
    from fathom.storage.postgres_server import EventTable

_RUN_ID = re.compile(r"[0-9a-f][0-9a-f-]{0,35}")


class RunArchive:
    """Lists, shows, compares, exports, verifies and removes runs; as a context manager it stays open."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._shared = SharedRuns(settings or load_settings())
        self._open = AsyncExitStack()

    @property
    def settings(self) -> Settings:
        """The settings of the process, with the models that were given."""
        return self._shared.settings

    async def __aenter__(self) -> Self:
        await self._open.enter_async_context(self._shared.keep_open())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def runs(self, most: int = 50) -> list[RunLine]:
        """The latest runs, the newest first: id, status, question, start, cost, rounds and kin.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> result = DeepResearcher().research_sync(ResearchRequest(query="How high is it?", docs=["papers"]))
        >>> [(run.id == result.run_id, run.status) for run in DeepResearcher().runs_sync(1)]
        [(True, 'extracts')]
        """
        return await list_runs(self.settings, most)

    async def run(self, run_id: str) -> RunLine:
        """One run as the list shows it, by the first characters of its id."""
        return await find_line(self.settings, run_id)

    async def control(self, run_id: str, word: SignalWord, text: str = "") -> RunLine:
        """Steer a run that works anywhere, in this process or another: pause, go, stop, or add a query.

        The signal waits until the run hears it. Returns the run as it was.
        """
        return await control_run(self.settings, run_id, word, text)

    @property
    def shared_events(self) -> "EventTable | None":
        """What runs tell on all machines, if they share a database."""
        return open_storage(self.settings.database).events

    async def follow(self, run_id: str, after: int = 0) -> "AsyncGenerator[tuple[int, Progress], None]":
        """Everything a run tells after that event, with its number, on whatever machine it works.

        It needs PostgreSQL; elsewhere the folder of a run has its events. Ends with the run's last event.
        """
        from fathom.events import Progress

        events = self.shared_events
        if events is None:
            raise BadInput("Runs are followed over PostgreSQL; here, read events.jsonl in the run's folder.")
        async with aclosing(events.follow(run_id, after)) as told:
            async for number, body in told:
                event = Progress.model_validate_json(body)
                yield number, event
                if event.kind == "completed":
                    return

    async def migrate(self) -> "Migrated":
        """Copy everything from the SQLite file in the home into the PostgreSQL database of the settings."""
        if not isinstance(self.settings.database, DatabaseAddress):
            raise BadInput("Say where to: set FATHOM_DATABASE=postgresql://USER:PASSWORD@HOST/NAME.")
        open_storage(self.settings.database)  # says which packages are missing
        from fathom.storage.files import PDF_FOLDER
        from fathom.storage.migrate import migrate_database

        home = self.settings.home
        return await migrate_database(home / DATABASE_FILE, home / PDF_FOLDER, self.settings.database)

    async def pause(self, run_id: str) -> RunLine:
        """Have a run stand still after the step in hand."""
        return await self.control(run_id, "pause")

    async def go(self, run_id: str) -> RunLine:
        """Have a paused run go on where somebody waits with it; else `resume` it."""
        return await self.control(run_id, "go")

    async def stop(self, run_id: str) -> RunLine:
        """Have a run look no further and write its report from what it knows."""
        return await self.control(run_id, "stop")

    async def add_query(self, run_id: str, text: str) -> RunLine:
        """Have a run ask this too, in its next round."""
        return await self.control(run_id, "add", text)

    async def result(self, run_id: str) -> "ResearchResult":
        """The result of a run that has a report."""
        async with self._shared.open() as runs:
            return await runs.result(await runs.find(run_id))

    async def page(self, run_id: str, name: "PageName") -> str:
        """One page of the research folder from what is known now, also while the run goes on."""
        from fathom.runs.folder import render_page

        async with self._shared.open() as runs:
            return await render_page(runs, await runs.find(run_id), name)

    async def round_page(self, run_id: str, number: int) -> str:
        """What a round found, asked next and had cost."""
        from fathom.runs.folder import render_round

        async with self._shared.open() as runs:
            return await render_round(runs, await runs.find(run_id), number)

    async def compare(self, first: str, second: str) -> "Comparison":
        """Two runs side by side: questions, settings, sources, findings and cost."""
        from fathom.runs.compare import ComparedRun, compare_runs

        sides = []
        async with self._shared.open() as runs:
            for run_id in [await runs.find(name) for name in (first, second)]:
                state, line = (await runs.snapshot(run_id)).values, await runs.line(run_id)
                sides.append(ComparedRun(run_id, cast(RunState, state), line.status, round(line.cost_usd, 6)))
        return compare_runs(*sides)

    async def export(self, run_id: str, to: Path | str, *, is_replaced: bool = False) -> str:
        """Write a run to a file, whose ending says the format, or to a folder; return the run's full id.

        A file that is there is replaced only if `is_replaced`. Instead of a run a report.json may be named.
        """
        from fathom.report.formats.registry import write_report
        from fathom.report.ledger import read_ledger
        from fathom.runs.folder import export_run

        if run_id.endswith(".json"):
            ledger = await asyncio.to_thread(read_ledger, Path(run_id))
            await asyncio.to_thread(write_report, ledger, Path(to), is_replaced=is_replaced)
            return ledger.run_id
        async with self._shared.open() as runs:
            full = await runs.find(run_id)
            is_folder = str(to).endswith("/")
            await export_run(runs, full, Path(to), is_folder=is_folder, is_replaced=is_replaced)
        return full

    async def passage(
        self, run_id: str, page: str, start: int, end: int, *, around_chars: int = 600
    ) -> PassageView:
        """A quote where it stands: the stored words of a page that the run has read, and those around it."""
        from fathom.runs.folder import read_passage

        async with self._shared.open() as runs:
            return await read_passage(runs, await runs.find(run_id), page, (start, end), around_chars)

    async def render(self, run_id: str, name: "FormatName") -> bytes:
        """The report of a run as the bytes of a file in a format."""
        from fathom.runs.folder import render_run

        async with self._shared.open() as runs:
            return await render_run(runs, await runs.find(run_id), name)

    async def verify(
        self, report: Path | str, *, is_online: bool = False, docs: Sequence[str] = ()
    ) -> "Verification":
        """Check a report again: against the stored pages, or with `is_online` against the live ones.

        `report` is a report.json, or the id of a run. `docs` are folders that may be read for that, beside
        those of the run itself.
        """
        is_file = await asyncio.to_thread(Path(report).exists)
        if not is_file and not _RUN_ID.fullmatch(str(report)):
            raise BadInput(f"{report} is neither a file nor the id of a run; fathom runs lists them.")
        if not is_file:
            await self.run(str(report))  # one that is not there is told at once, before large imports
        from fathom.runs.verify import verify_again

        found = Path(report) if is_file else await self.result(str(report))
        return await verify_again(self.settings, found, is_online=is_online, docs=docs)

    async def thread(self, run_id: str) -> ConversationThread:
        """The thread a run stands in: every question and answer, in the order they were asked."""
        from fathom.runs import view_builder

        async with self._shared.open() as runs:
            return await view_builder.load_thread(runs, await runs.find(run_id))

    async def close_thread(self, run_id: str) -> ConversationThread:
        """The thread of a run, closed: nothing more can be asked in it."""
        from fathom.runs import view_builder

        async with self._shared.open() as runs:
            return await view_builder.close_thread(runs, await runs.find(run_id))

    async def views(self, run_id: str) -> RunViews:
        """Query, plan, search results, answer, agents and messages of a run, made when asked for."""
        from fathom.runs import view_builder

        async with self._shared.open() as runs:
            return await view_builder.load_views(runs, await runs.find(run_id))

    async def choose_old(self, older_than: str | None = "30d", *, keep: int | None = None) -> "PruneChoice":
        """The runs that are older, but never the newest `keep`; for `clean`, after a look at them."""
        from fathom.runs.prune import choose_runs, parse_age

        older_s = parse_age(older_than) if older_than is not None else None
        async with self._shared.open() as runs:
            return await choose_runs(runs, older_s, keep)

    async def clean(
        self,
        older_than: str | None = "30d",
        *,
        keep: int | None = None,
        choice: "PruneChoice | None" = None,
        is_dry: bool = False,
    ) -> "PruneResult":
        """Remove runs that are older, never the newest `keep`, and what only they needed; `is_dry` counts.

        With a `choice` those of it are removed, and no others.
        """
        from fathom.runs.prune import clean_runs

        async with self._shared.open() as runs:
            which = choice or await self.choose_old(older_than, keep=keep)
            return await clean_runs(runs, which, is_dry=is_dry)

    async def diagnose(self) -> "Diagnosis":
        """What is configured, what is missing, and what would be used."""
        from fathom.runs.diagnosis import diagnose

        return await diagnose(self.settings)

    async def upgrade_database(self, reports: Path | str) -> "Upgraded":
        """Begin a new database in the place of an earlier version's; `reports` keeps the old ones."""
        from fathom.runs.rescue import upgrade_database

        if not isinstance(self.settings.database, Path):
            raise BadInput("A PostgreSQL database is brought up to date by itself, when it is first used.")
        return await asyncio.to_thread(upgrade_database, self.settings.database, Path(reports))

    @staticmethod
    def describe_database_error(error: Exception) -> str:
        """One sentence for what a database raised, with the way out."""
        from fathom.storage.database import describe_database_error

        return f"The database cannot be used: {describe_database_error(error)}."

    async def rescue_database(self, damaged: Path | None = None, to: Path | None = None) -> "Rescued":
        """Save what can be read from a damaged database, this one's or another, into a folder."""
        from fathom.runs.rescue import default_rescue_folder, rescue_database

        file = damaged or self.settings.database
        if not isinstance(file, Path):
            raise BadInput("Only a SQLite file is rescued; a PostgreSQL server has backups of its own.")
        return await rescue_database(self.settings, file, to or default_rescue_folder(file))

    runs_sync = wait_for(runs)
    control_sync = wait_for(control)
    result_sync = wait_for(result)
    page_sync = wait_for(page)
    round_page_sync = wait_for(round_page)
    compare_sync = wait_for(compare)
    export_sync = wait_for(export)
    render_sync = wait_for(render)
    verify_sync = wait_for(verify)
    thread_sync = wait_for(thread)
    close_thread_sync = wait_for(close_thread)
    views_sync = wait_for(views)
    choose_old_sync = wait_for(choose_old)
    clean_sync = wait_for(clean)
    diagnose_sync = wait_for(diagnose)

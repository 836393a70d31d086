"""Fathom from Python.

Does not know the command line. See `DeepResearcher`.
"""

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from fathom.concurrency import iterate_blocking, run_blocking
from fathom.errors import RunStopped
from fathom.events import Progress
from fathom.request import ResearchRequest
from fathom.result import ResearchResult
from fathom.runs import view_builder
from fathom.runs.executor import RunStart
from fathom.runs.fork import fork_run
from fathom.runs.prune import PruneResult, choose_runs, parse_age, prune_runs
from fathom.runs.repository import RunLine, control_run, list_runs
from fathom.runs.views import ConversationThread, RunViews
from fathom.session import BlockingSession, Session, SharedRuns
from fathom.settings.settings import Settings, load_settings
from fathom.state import ReviewAnswer, Role, RunConfig
from fathom.storage.records import SignalWord

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class DeepResearcher:
    """Researches questions; every run is kept and can be resumed.

    >>> from fathom import DeepResearcher, ResearchRequest
    >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"])
    >>> result = DeepResearcher().research_sync(request)
    >>> result.status
    'extracts'
    >>> [citation.title for citation in result.citations]
    ['The tower']

    In a coroutine, `await` the same without `_sync`; as a context manager it keeps its database open.

    >>> import asyncio
    >>> async def researched():
    ...     async with DeepResearcher() as researcher:
    ...         return await researcher.research(request)
    >>> asyncio.run(researched()).report == result.report
    True

    `out` is a folder in which every run gets a research folder of its own. `model` is the name of a model or
    any LangChain chat model, and `models` has others for single roles (plan, read, verify, judge, outline,
    write, check): `DeepResearcher(model=ChatAnthropic(…), models={"verify": "openai:gpt-4.1"})`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        out: Path | str | None = None,
        model: "BaseChatModel | str | None" = None,
        models: "Mapping[Role, BaseChatModel | str] | None" = None,
    ) -> None:
        own = settings or load_settings()
        self._shared = SharedRuns(own.with_chat_models(model, models) if model is not None or models else own)
        self._out = Path(out) if out is not None else None
        self._open = AsyncExitStack()

    @property
    def settings(self) -> Settings:
        """The settings of the process, with the models that were given."""
        return self._shared.settings

    async def __aenter__(self) -> Self:
        await self._open.enter_async_context(self._shared.runs())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def research(self, request: ResearchRequest) -> ResearchResult:
        """The result of one question; raises RunStopped, with the run's id, when it must be resumed.

        A run whose task is cancelled stands where it is, and can be resumed too.
        """
        async with self._shared.runs():  # opened once for all of it
            return await self._ended(await self.begin(request))

    async def stream(self, request: ResearchRequest) -> AsyncGenerator[Progress, None]:
        """The same, telling what happens; the last event is `completed` or `checkpoint`.

        >>> import asyncio
        >>> from fathom import DeepResearcher, ResearchRequest
        >>> async def listened():
        ...     request = ResearchRequest(query="How high is the tower?", docs=["papers"])
        ...     return [event async for event in DeepResearcher().stream(request)]
        >>> events = asyncio.run(listened())
        >>> [event.kind for event in events][:4]
        ['started', 'effort sized', 'plan generated', 'search started']
        >>> events[-1].kind, events[-1].payload.status
        ('completed', 'extracts')
        """
        session = await self.begin(request)
        async with aclosing(session.events()) as events:
            async for event in events:
                yield event

    async def start(self, request: ResearchRequest) -> Session:
        """A session: the run goes from checkpoint to checkpoint, and shows every plan unless told otherwise.

        >>> import asyncio
        >>> from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
        >>> async def steered():
        ...     request = ResearchRequest(query="How high is the tower?", docs=["papers"])
        ...     session = await DeepResearcher().start(request)
        ...     table = await session.checkpoint()
        ...     await session.add_query("tower height in metres")
        ...     while not session.is_complete:
        ...         await session.go_on(ReviewAnswer(action="approve"))
        ...     return table.shown["round"], await session.result()
        >>> number, result = asyncio.run(steered())
        >>> number, "tower height in metres" in [query.text for query in result.asked]
        (1, True)
        """
        return await self.begin(request if "review" in request.said else request.with_config(review="rounds"))

    async def begin(
        self, request: ResearchRequest, *, on_index: Callable[[int, int], None] | None = None
    ) -> Session:
        """A session on a new run that is reviewed only if the request says so.

        `on_index` is told, in another thread, how many of how many changed documents are read.
        """
        async with self._shared.runs() as runs:
            run_id, config = await runs.begin(request, on_index=on_index)
        return self._session(run_id, request, config)

    async def session(self, run_id: str | None = None) -> Session:
        """A session on a run that was begun anywhere, by the first characters of its id; or on the latest."""
        async with self._shared.runs() as runs:
            full = await runs.find(run_id)
            snapshot = await runs.snapshot(full)
        session = self._session(full, None)
        session.sees(snapshot)
        return session

    async def resume(self, run_id: str, answer: ReviewAnswer | None = None) -> ResearchResult:
        """Go on after any stop, a crash included; `answer` is for a run that waits for review.

        >>> from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
        >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"], review="plan")
        >>> events = list(DeepResearcher().stream_sync(request))
        >>> events[-1].payload.why
        'review'
        >>> answer = ReviewAnswer(action="edit", queries=["height of the tower"])
        >>> result = DeepResearcher().resume_sync(events[0].run_id, answer)
        >>> [query.text for query in result.asked if query.id != "scout"]
        ['height of the tower']
        """
        session = await self.session(run_id)
        return await self._ended(session, answer) if not session.is_complete else await session.result()

    async def update(self, run_id: str) -> ResearchResult:
        """The report of a finished run brought up to date, as a new run: what changed stands at its top."""
        return await self._ended(await self.begin_update(run_id))

    async def begin_update(self, run_id: str | None = None) -> Session:
        """A session on an update of a run, of the latest without an id."""
        async with self._shared.runs() as runs:
            new_id, start = await runs.update(await runs.find(run_id))
        return self._session(new_id, start, start.run_config())

    async def follow_up(self, run_id: str, question: str | ResearchRequest) -> ResearchResult:
        """A later question in the thread of a finished run, as a new run.

        What the thread knows is used first, and only what it leaves open is searched for. What a request
        sets holds; all else is as it was for the run before.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"])
        >>> first = DeepResearcher().research_sync(request)
        >>> second = DeepResearcher().follow_up_sync(first.run_id, "Where is the tower of 48 metres?")
        >>> second.asked, [turn.question for turn in second.thread]
        ([], ['How high is the tower?'])
        >>> [query.status for query in DeepResearcher().thread_sync(second.run_id).queries]
        ['completed', 'completed']
        """
        return await self._ended(await self.ask(run_id, question))

    async def ask(self, run_id: str, question: str | ResearchRequest) -> Session:
        """A session on a follow-up, to listen to or to steer."""
        asked = ResearchRequest(query=question) if isinstance(question, str) else question
        async with self._shared.runs() as runs:
            new_id, start = await runs.follow_up(await runs.find(run_id), asked)
        return self._session(new_id, start, start.run_config())

    async def thread(self, run_id: str) -> ConversationThread:
        """The thread a run stands in: every question and answer, in the order they were asked."""
        async with self._shared.runs() as runs:
            return await view_builder.load_thread(runs, await runs.find(run_id))

    async def close_thread(self, run_id: str) -> ConversationThread:
        """The thread of a run, closed: nothing more can be asked in it."""
        async with self._shared.runs() as runs:
            return await view_builder.close_thread(runs, await runs.find(run_id))

    async def views(self, run_id: str) -> RunViews:
        """Query, plan, search results, answer, agents and messages of a run, made when asked for."""
        async with self._shared.runs() as runs:
            return await view_builder.load_views(runs, await runs.find(run_id))

    async def fork(self, run_id: str, direction: str, *, after_round: int | None = None) -> ResearchResult:
        """Another way from the end of a round, the last unless said, as a new run: nothing is paid again.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> request = ResearchRequest(query="How high is the tower?", docs=["papers"], rounds=1)
        >>> first = DeepResearcher().research_sync(request)
        >>> second = DeepResearcher().fork_sync(first.run_id, "Who built it?")
        >>> second.fork.round, "Who built it?" in [query.text for query in second.asked]
        (1, True)
        """
        return await self._ended(await self.begin_fork(run_id, direction, after_round=after_round))

    async def begin_fork(
        self,
        run_id: str,
        direction: str,
        *,
        after_round: int | None = None,
        more_rounds: int | None = None,
    ) -> Session:
        """A session on a fork; `more_rounds` are those it may have, else what was left, two at least."""
        async with self._shared.runs() as runs:
            new_id = await fork_run(runs, await runs.find(run_id), after_round, direction, more_rounds)
        return await self.session(new_id)

    async def runs(self, most: int = 50) -> list[RunLine]:
        """The latest runs, the newest first: id, status, question, start, cost, rounds and kin.

        >>> from fathom import DeepResearcher, ResearchRequest
        >>> result = DeepResearcher().research_sync(ResearchRequest(query="How high is it?", docs=["papers"]))
        >>> [(run.id == result.run_id, run.status) for run in DeepResearcher().runs_sync(1)]
        [(True, 'extracts')]
        """
        return await list_runs(self.settings, most)

    async def control(self, run_id: str, word: SignalWord, text: str = "") -> RunLine:
        """Steer a run that works anywhere, in this process or another: pause, go, stop, or add a query.

        The signal waits until the run hears it. Returns the run as it was.
        """
        return await control_run(self.settings, run_id, word, text)

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

    async def clean(
        self, older_than: str | None = "30d", *, keep: int | None = None, is_dry: bool = False
    ) -> PruneResult:
        """Remove runs that are older, never the newest `keep`, and what only they needed; `is_dry` counts."""
        async with self._shared.runs() as runs:
            choice = await choose_runs(runs, parse_age(older_than) if older_than else None, keep)
            return await prune_runs(runs, choice, is_dry=is_dry)

    async def result(self, run_id: str) -> ResearchResult:
        """The result of a run that has a report."""
        async with self._shared.runs() as runs:
            return await runs.result(await runs.find(run_id))

    def research_sync(self, request: ResearchRequest) -> ResearchResult:
        """`research` for those who wait, also where an event loop is running, as in a notebook."""
        return run_blocking(lambda: self.research(request))

    def stream_sync(self, request: ResearchRequest) -> Iterator[Progress]:
        """`stream` for a plain `for`; leaving the loop leaves the run where it stands."""
        return iterate_blocking(lambda: self.stream(request))

    def start_sync(self, request: ResearchRequest) -> BlockingSession:
        """`start` for those who wait."""
        return BlockingSession(run_blocking(lambda: self.start(request)))

    def resume_sync(self, run_id: str, answer: ReviewAnswer | None = None) -> ResearchResult:
        """`resume` for those who wait."""
        return run_blocking(lambda: self.resume(run_id, answer))

    def follow_up_sync(self, run_id: str, question: str | ResearchRequest) -> ResearchResult:
        """`follow_up` for those who wait."""
        return run_blocking(lambda: self.follow_up(run_id, question))

    def thread_sync(self, run_id: str) -> ConversationThread:
        """`thread` for those who wait."""
        return run_blocking(lambda: self.thread(run_id))

    def close_thread_sync(self, run_id: str) -> ConversationThread:
        """`close_thread` for those who wait."""
        return run_blocking(lambda: self.close_thread(run_id))

    def views_sync(self, run_id: str) -> RunViews:
        """`views` for those who wait."""
        return run_blocking(lambda: self.views(run_id))

    def fork_sync(self, run_id: str, direction: str, *, after_round: int | None = None) -> ResearchResult:
        """`fork` for those who wait."""
        return run_blocking(lambda: self.fork(run_id, direction, after_round=after_round))

    def clean_sync(
        self, older_than: str | None = "30d", *, keep: int | None = None, is_dry: bool = False
    ) -> PruneResult:
        """`clean` for those who wait."""
        return run_blocking(lambda: self.clean(older_than, keep=keep, is_dry=is_dry))

    def runs_sync(self, most: int = 50) -> list[RunLine]:
        """`runs` for those who wait."""
        return run_blocking(lambda: self.runs(most))

    def control_sync(self, run_id: str, word: SignalWord, text: str = "") -> RunLine:
        """`control` for those who wait."""
        return run_blocking(lambda: self.control(run_id, word, text))

    def update_sync(self, run_id: str) -> ResearchResult:
        """`update` for those who wait."""
        return run_blocking(lambda: self.update(run_id))

    def result_sync(self, run_id: str) -> ResearchResult:
        """`result` for those who wait."""
        return run_blocking(lambda: self.result(run_id))

    def _session(self, run_id: str, start: RunStart, config: RunConfig | None = None) -> Session:
        return Session(self._shared, run_id, start, self._out, config)

    async def _ended(self, session: Session, answer: ReviewAnswer | None = None) -> ResearchResult:
        table = await session.go_on(answer)
        if table is None:
            return await session.result()
        if table.why == "review":
            raise RunStopped(
                f"Run {session.id} waits for review; answer with resume(run_id, ReviewAnswer(…))."
            )
        raise RunStopped(f"Run {session.id} is {table.why}; go on with resume(run_id).")

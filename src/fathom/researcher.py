"""Fathom from Python.

Does not know the command line. See `DeepResearcher`.
"""

from collections.abc import AsyncIterator

from fathom.errors import RunStopped
from fathom.events import Progress
from fathom.request import ResearchRequest, checked_request
from fathom.result import ResearchResult
from fathom.runs import Runs, Start, open_runs
from fathom.settings import Settings, load_settings
from fathom.state import ReviewAnswer


class DeepResearcher:
    """Researches questions; every run is kept and can be resumed.

    result = await DeepResearcher().research(ResearchRequest(query="…", docs=["papers/"]))
    print(result.report)
    """

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings or load_settings()

    async def research(self, request: ResearchRequest) -> ResearchResult:
        """The result of one question; raises RunStopped, with the run's id, when it must be resumed."""
        async with open_runs(self._settings) as runs:
            run_id, _ = await runs.begin(request)
            return await _finished(runs, run_id, request)

    async def stream(self, request: ResearchRequest) -> AsyncIterator[Progress]:
        """The same, telling what happens; the last event is `completed` or `checkpoint`."""
        async with open_runs(self._settings) as runs:
            run_id, _ = await runs.begin(request)
            async for event in runs.work(run_id, request):
                yield event

    async def resume(self, run_id: str, answer: ReviewAnswer | None = None) -> ResearchResult:
        """Go on after any stop, a crash included; `answer` is for a run that waits for review."""
        async with open_runs(self._settings) as runs:
            return await _finished(runs, await runs.find(run_id), answer)

    async def update(self, run_id: str) -> ResearchResult:
        """The report of a finished run brought up to date, as a new run: what changed stands at its top."""
        async with open_runs(self._settings) as runs:
            new_id, start = await runs.update(await runs.find(run_id))
            return await _finished(runs, new_id, start)

    async def follow_up(self, run_id: str, question: str | ResearchRequest) -> ResearchResult:
        """A later question in the thread of a finished run, as a new run.

        What the thread knows is used first, and only what it leaves open is searched for. What a request
        sets holds; all else is as it was for the run before.
        """
        asked = checked_request(query=question) if isinstance(question, str) else question
        async with open_runs(self._settings) as runs:
            new_id, start = await runs.follow_up(await runs.find(run_id), asked)
            return await _finished(runs, new_id, start)

    async def result(self, run_id: str) -> ResearchResult:
        """The result of a run that has ended."""
        async with open_runs(self._settings) as runs:
            return await runs.result(await runs.find(run_id))


async def _finished(runs: Runs, run_id: str, start: Start) -> ResearchResult:
    # To the last event: leaving earlier would leave before the run has saved where it stands.
    kinds = {event.kind async for event in runs.work(run_id, start)}
    if "checkpoint" in kinds:
        raise RunStopped(f"Run {run_id} waits for review; answer with resume(run_id, ReviewAnswer(…)).")
    return await runs.result(run_id)

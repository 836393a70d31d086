"""A run that is stopped before its first step goes on with everything it was given."""

from pathlib import Path

from standins.shelf import QUESTION, stocked

from fathom.request import ResearchRequest
from fathom.run_index import list_runs
from fathom.runs import open_runs
from fathom.settings import load_settings
from fathom.streaming import Halt


async def test_a_run_stopped_before_its_first_step_is_listed_and_goes_on(tmp_path: Path) -> None:
    shelf = stocked(tmp_path / "shelf")
    # The folder may be read because the run was begun with it; whoever goes on does not name it again.
    settings = load_settings(home=tmp_path / "home", docs_roots=[tmp_path / "elsewhere"])
    async with open_runs(settings) as runs:
        request = ResearchRequest(query=QUESTION, docs=[str(shelf)], max_rounds=1)
        run_id, _ = await runs.begin(request)
        halt = Halt()
        halt.request()
        assert [event.kind async for event in runs.work(run_id, request, halt=halt)][-1] == "checkpoint"
        (line,) = await list_runs(runs.settings)
        assert (line.question, line.status) == (QUESTION, "stopped")
        assert [event.kind async for event in runs.work(run_id)][-1] == "completed"
        assert (await runs.result(run_id)).settings.docs == [str(shelf)]

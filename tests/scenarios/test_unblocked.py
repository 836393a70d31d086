"""Nothing of the facade blocks the event loop: `langgraph dev` refuses blocking calls."""

from pathlib import Path

from blockbuster import blockbuster_ctx
from standins.documents import TIDES, written

from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
from fathom.settings import Settings, load_settings

QUESTION = "How much does tidal power cost?"


async def used(settings: Settings, docs: str, out: Path) -> list[str]:
    """Everything a program can do with a run."""
    async with DeepResearcher(settings, out=out) as researcher:
        session = await researcher.start(
            ResearchRequest(query=QUESTION, docs=[docs], rounds=1, review="plan")
        )
        assert await session.checkpoint()
        await researcher.add_query(session.id, "tidal power price")
        await session.go_on(ReviewAnswer(action="approve"))
        first = await session.finalize()
        await researcher.update(first.run_id)
        await researcher.follow_up(first.run_id, "Where is tidal power used?")
        await researcher.fork(first.run_id, "Who pays for it?")
        await researcher.views(first.run_id)
        await researcher.close_thread(first.run_id)
        assert (await researcher.resume(first.run_id)).report == first.report
        found = [line.status for line in await researcher.runs()]
        await researcher.clean("30d", is_dry=True)
    return found


async def test_the_facade_does_not_block_the_loop(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path / "home")
    await used(settings, docs, tmp_path / "first")  # what is imported late is imported now
    again = load_settings(home=tmp_path / "again")
    with blockbuster_ctx("fathom"):
        statuses = await used(again, docs, tmp_path / "second")
    assert len(statuses) == 4
    assert "running" not in statuses

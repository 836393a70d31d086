"""Nothing that lasts is read, written or locked in the event loop: `langgraph dev` refuses blocking calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, BlockingError, blockbuster_ctx
from standins.documents import TIDES, written

from fathom import DeepResearcher, ResearchRequest
from fathom.runs import folder_of, remember_folder
from fathom.runs.control import hold_run
from fathom.settings import load_settings
from fathom.storage import close_storage, open_storage
from fathom.storage.checkpoints import checkpointer

RUN = "01234567-0000-4000-8000-000000000000"


@pytest.fixture
def detector() -> Iterator[BlockBuster]:
    """What `langgraph dev` installs, for our own modules."""
    with blockbuster_ctx("fathom") as found:
        yield found


async def test_the_detector_bites(detector: BlockBuster, tmp_path: Path) -> None:
    from fathom.storage.database import prepare_database

    with pytest.raises(BlockingError):
        prepare_database(tmp_path / "deep" / "x.sqlite")


async def test_storage_locks_and_folders_do_not_block_the_loop(detector: BlockBuster, tmp_path: Path) -> None:
    database = tmp_path / "home" / "fathom.sqlite"
    async with checkpointer(database):
        storage = open_storage(database)
        sha = await storage.pages.put("text")
        assert await storage.pages.get(sha) == "text"
        await remember_folder(storage, RUN, Path("out"))
        assert await folder_of(storage, RUN) is None
        async with hold_run(storage, RUN):
            pass
    await close_storage(database)


@pytest.mark.whole
async def test_a_whole_run_does_not_block_the_loop(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", TIDES)
    settings = load_settings(home=tmp_path / "home")
    request = ResearchRequest(query="How much does tidal power cost?", docs=[docs], max_rounds=1)
    await DeepResearcher(settings).research(request)  # what is imported late is imported now
    with blockbuster_ctx("fathom"):
        result = await DeepResearcher(settings).research(request)
    assert result.report

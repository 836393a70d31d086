"""Where the folder of each run is, remembered, so that a resumed run goes on in the same one.

Does not know what is in a folder. One row a run in the database of the checkpoints.
"""

import asyncio
from pathlib import Path

from fathom.errors import BadInput
from fathom.history import folder_of
from fathom.ids import short_id
from fathom.reading.originals import Originals
from fathom.reading.web import ORIGINALS
from fathom.report.claiming import claim, owner_of
from fathom.report.folder import ResearchFolder
from fathom.settings import Settings
from fathom.storage import STORAGE_ERRORS, Storage, open_storage
from fathom.store import pages

RUNS = Path("runs")


async def remember_folder(storage: Storage, run_id: str, path: Path) -> None:
    """From now on this is the run's folder."""
    whole = await asyncio.to_thread(path.absolute)
    await storage.runs.remember_folder(run_id, str(whole))


async def open_folder(
    settings: Settings, run_id: str, named: str | Path | None = None, parent: Path = RUNS
) -> ResearchFolder:
    """The folder of a run: the named one, the one it has, or a new one below `parent`; refused if foreign."""
    storage = open_storage(settings.database)
    try:
        had = Path(named) if named else await folder_of(storage, run_id)
        path = had if had is not None else await asyncio.to_thread(_new, parent, run_id)
        await asyncio.to_thread(claim, path, run_id)
        await remember_folder(storage, run_id, path)
    except STORAGE_ERRORS as error:
        raise BadInput(f"The database {settings.database} cannot be used: {error}.") from error
    originals = Originals(settings.home / ORIGINALS)
    return ResearchFolder(path, run_id, pages(storage), originals)


def _new(parent: Path, run_id: str) -> Path:
    """A folder with the run's short name; in full where another run has that."""
    short = parent / short_id(run_id)
    return short if owner_of(short) in (None, run_id) else parent / run_id

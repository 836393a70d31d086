"""Where the folder of each run is, remembered, so that a resumed run goes on in the same one.

Does not know what is in a folder. One row a run in the database of the checkpoints.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.reading.originals import Originals
from fathom.reading.web import ORIGINALS
from fathom.report.claiming import claim, owner_of
from fathom.report.folder import ResearchFolder
from fathom.settings import Settings
from fathom.storage import STORAGE_ERRORS, Storage, open_storage
from fathom.store import pages

RUNS = Path("runs")


@dataclass(frozen=True)
class Places:
    """The table of folders; every call is its own short transaction, safe from any thread."""

    storage: Storage

    async def of(self, run_id: str) -> Path | None:
        """The folder a run was last written to, if it is still there."""
        path = await self.storage.runs.folder_of(run_id)
        is_there = path and await asyncio.to_thread(owner_of, Path(path)) == run_id
        return Path(path) if path and is_there else None

    async def remember(self, run_id: str, path: Path) -> None:
        """From now on this is the run's folder."""
        whole = await asyncio.to_thread(path.absolute)
        await self.storage.runs.remember_folder(run_id, str(whole))


async def open_folder(
    settings: Settings, run_id: str, named: str | Path | None = None, parent: Path = RUNS
) -> ResearchFolder:
    """The folder of a run: the named one, the one it has, or a new one below `parent`; refused if foreign."""
    storage = open_storage(settings.database)
    places = Places(storage)
    try:
        had = Path(named) if named else await places.of(run_id)
        path = had if had is not None else await asyncio.to_thread(_new, parent, run_id)
        await asyncio.to_thread(claim, path, run_id)
        await places.remember(run_id, path)
    except STORAGE_ERRORS as error:
        raise BadInput(f"The database {settings.database} cannot be used: {error}.") from error
    originals = Originals(settings.home / ORIGINALS)
    return ResearchFolder(path, run_id, pages(storage), originals)


def _new(parent: Path, run_id: str) -> Path:
    """A folder with the run's short name; in full where another run has that."""
    short = parent / short_id(run_id)
    return short if owner_of(short) in (None, run_id) else parent / run_id

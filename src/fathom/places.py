"""Where the folder of each run is, remembered, so that a resumed run goes on in the same one.

Does not know what is in a folder. One row a run in the database of the checkpoints.
"""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fathom.database import BUSY_TIMEOUT_S
from fathom.errors import BadInput
from fathom.ids import short_id
from fathom.reading.originals import Originals
from fathom.reading.web import ORIGINALS
from fathom.report.claiming import claim, owner_of
from fathom.report.folder import ResearchFolder
from fathom.settings import Settings
from fathom.store import pages

RUNS = Path("runs")
_TABLE = "create table if not exists folders (run text primary key, path text not null) without rowid"


@dataclass(frozen=True)
class Places:
    """The table of folders; every call is its own short transaction, safe from any thread."""

    database: Path

    async def of(self, run_id: str) -> Path | None:
        """The folder a run was last written to, if it is still there."""
        return await asyncio.to_thread(self._of, run_id)

    async def remember(self, run_id: str, path: Path) -> None:
        """From now on this is the run's folder."""
        await asyncio.to_thread(self._remember, run_id, path)

    def _of(self, run_id: str) -> Path | None:
        with self._connected() as connection:
            row = connection.execute("select path from folders where run = ?", (run_id,)).fetchone()
        path = Path(row[0]) if row else None
        return path if path and owner_of(path) == run_id else None

    def _remember(self, run_id: str, path: Path) -> None:
        with self._connected() as connection:
            connection.execute("insert or replace into folders values (?, ?)", (run_id, str(path.absolute())))

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        self.database.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.database, timeout=BUSY_TIMEOUT_S)
        try:
            with connection:
                connection.execute(_TABLE)
                yield connection
        finally:
            connection.close()


async def open_folder(
    settings: Settings, run_id: str, named: str | Path | None = None, parent: Path = RUNS
) -> ResearchFolder:
    """The folder of a run: the named one, the one it has, or a new one below `parent`; refused if foreign."""
    places = Places(settings.database)
    try:
        had = Path(named) if named else await places.of(run_id)
        path = had if had is not None else await asyncio.to_thread(_new, parent, run_id)
        await asyncio.to_thread(claim, path, run_id)
        await places.remember(run_id, path)
    except sqlite3.Error as error:
        raise BadInput(f"The database {settings.database} cannot be used: {error}.") from error
    originals = Originals(settings.home / ORIGINALS)
    return ResearchFolder(path, run_id, pages(settings.database), originals)


def _new(parent: Path, run_id: str) -> Path:
    """A folder with the run's short name; in full where another run has that."""
    short = parent / short_id(run_id)
    return short if owner_of(short) in (None, run_id) else parent / run_id

"""Everything that can be read in a damaged database, as a folder: a new database, and a folder a run.

Does not know the command line. A run whose record cannot be read is taken from its own research folder.
"""

import asyncio
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from fathom.errors import BadInput, FathomError
from fathom.ids import short_id
from fathom.runs.executor import Runs, open_runs
from fathom.runs.export import export_run
from fathom.runs.folder_owner import folder_of
from fathom.settings.settings import DATABASE_FILE, Settings
from fathom.storage import STORAGE_ERRORS
from fathom.storage.rescue import Salvaged, salvage_rows

# What records that were changed by chance look like to those who read them.
_UNREADABLE: tuple[type[Exception], ...] = (
    FathomError, ValueError, TypeError, LookupError, AttributeError, OSError, *STORAGE_ERRORS,
)  # fmt: skip


@dataclass
class Rescued:
    """Where everything is now: runs written from the database, runs copied from their folder, runs lost."""

    folder: Path
    rows: Salvaged
    exported: list[str] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


async def rescue_database(settings: Settings, damaged: Path, to: Path) -> Rescued:
    """Write a new database and a folder for each run below `to`; the damaged file stays as it is."""
    rescued = settings.model_copy(update={"home": to, "database_url": None})
    done = Rescued(to, await asyncio.to_thread(salvage_rows, damaged, to / DATABASE_FILE))
    async with open_runs(rescued) as runs:
        for run in await _run_ids(runs):
            place = to / "runs" / short_id(run)
            is_exported = await _is_exported(runs, run, place)
            is_copied = await _is_copied(runs, run, place)  # what the database has lost may still be there
            (done.exported if is_exported else done.copied if is_copied else done.lost).append(run)
    return done


async def _run_ids(runs: Runs) -> list[str]:
    most = 1_000_000
    listed = [record.run for record in await runs.storage.runs.latest(most)]
    stepped = await runs.storage.checkpoints.runs_longer_than(0)
    return list(dict.fromkeys([*listed, *stepped]))


async def _is_exported(runs: Runs, run: str, place: Path) -> bool:
    try:
        await export_run(runs, run, place, is_folder=True, is_replaced=False)
    except _UNREADABLE:
        await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        return False
    return True


async def _is_copied(runs: Runs, run: str, place: Path) -> bool:
    try:
        own = await folder_of(runs.storage, run)
        if own is None or not await asyncio.to_thread(own.is_dir):
            return False
        await asyncio.to_thread(_copy_missing, own, place)
    except _UNREADABLE:
        return False
    return True


def _copy_missing(own: Path, place: Path) -> None:
    for file in sorted(path for path in own.rglob("*") if path.is_file() and not path.is_symlink()):
        to = place / file.relative_to(own)
        if not to.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, to)


def default_rescue_folder(damaged: Path) -> Path:
    """Return a folder beside the damaged file that is not there yet."""
    for number in range(1, 1_000):
        if not (found := damaged.with_name(f"{damaged.stem}-rescued{number}")).exists():
            return found
    raise BadInput("Name a folder with --to.")

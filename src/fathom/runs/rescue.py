"""Rescue what a damaged database, or one of an earlier Fathom, still contains.

Of a damaged file every row that can be read is copied, and the file stays as it is; a run whose record cannot
be read is taken from its own research folder.

Checkpoints of an earlier layout cannot be resumed, for the classes that they name are gone: reports that are
only in the database are written to a folder, and the old file is moved aside.
"""

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ormsgpack
from filelock import FileLock, Timeout
from pydantic import TypeAdapter

from fathom.errors import BadInput, FathomError
from fathom.planning.effort import apply_effort
from fathom.result import make_result
from fathom.runs import folder_of, time_of_checkpoint
from fathom.runs.executor import Runs, open_runs
from fathom.runs.folder import export_run
from fathom.settings import DATABASE_FILE, Settings
from fathom.state import RunConfig, RunState, short_id
from fathom.storage import STORAGE_ERRORS
from fathom.storage.database import BUSY_TIMEOUT_S, LAYOUT_VERSION, TRIGGERS, is_outdated, prepare_database
from fathom.storage.records import inflate

# Errors that damaged records raise when they are read.
_UNREADABLE: tuple[type[Exception], ...] = (
    FathomError, ValueError, TypeError, LookupError, AttributeError, OSError, *STORAGE_ERRORS,
)  # fmt: skip
_SUFFIXES = ("", "-wal", "-shm")
_SKIPS = 4_096  # how often a table is tried behind a broken place
_FIXED = ((0, 28), (44, 48), (56, 60))  # bytes of the header that are alike in every file of ours
_PAGE_BYTES = 4_096


@dataclass
class Salvaged:
    """How many rows of each table were saved, and which tables have lost some."""

    rows: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)


def salvage_rows(damaged: Path, rescued: Path) -> Salvaged:
    """Copy all rows that can be read into a new database; BadInput when there are none."""
    if not damaged.is_file():
        raise BadInput(f"There is no database {damaged}.")
    if rescued.exists():
        raise BadInput(f"{rescued} is there already; name another folder.")
    try:
        with tempfile.TemporaryDirectory() as name:
            copy = Path(name) / "copy.sqlite"
            for suffix in ("", "-wal"):
                if (file := Path(f"{damaged}{suffix}")).is_file():
                    shutil.copyfile(file, f"{copy}{suffix}")
            prepare_database(rescued)
            _mend_header(copy, rescued)
            return _copy_tables(copy, rescued)
    except OSError as error:
        raise BadInput(f"{damaged} cannot be copied: {error.strerror or error}.") from error


def _mend_header(copy: Path, sound: Path) -> None:
    """Replace the parts of the header that are the same in every Fathom database."""
    with copy.open("r+b") as file, sound.open("rb") as other:
        first = other.read(_PAGE_BYTES)
        for start, end in _FIXED:
            file.seek(start)
            file.write(first[start:end])
        file.flush()
        if not _has_tables(copy):  # tables begin at the same pages in every file, in the order they were made
            file.seek(100)
            file.write(first[100:])


def _has_tables(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(path)) as connection:
            return bool(connection.execute("select count(*) from sqlite_master").fetchone()[0] > 1)
    except sqlite3.Error:
        return False


def _copy_tables(copy: Path, rescued: Path) -> Salvaged:
    done = Salvaged()
    with closing(_open_loosely(copy)) as old, closing(sqlite3.connect(rescued)) as new:
        triggers = [name for (name,) in new.execute("select name from sqlite_master where type = 'trigger'")]
        for name in triggers:
            new.execute(f"drop trigger {name}")
        tables = new.execute("select name, sql from sqlite_master where type = 'table' order by name")
        for table, script in tables.fetchall():
            columns = [row[1] for row in new.execute(f"pragma table_info({table})")]
            has_rowid = "without rowid" not in script.lower()
            words = f"insert or ignore into {table} values ({', '.join('?' * len(columns))})"  # noqa: S608
            reader = _TableReader(old, table, columns, has_rowid=has_rowid)
            done.rows[table] = sum(new.execute(words, row).rowcount for row in reader.rows())
            if reader.is_damaged:
                done.damaged.append(table)
        new.executescript(TRIGGERS)
        new.execute(f"pragma user_version={LAYOUT_VERSION}")
        new.commit()
    if not any(done.rows.values()):
        for suffix in ("", ".lock"):
            Path(f"{rescued}{suffix}").unlink(missing_ok=True)
        raise BadInput("Nothing in that file can be read; reports are also in the folders of their runs.")
    return done


def _open_loosely(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.text_factory = lambda words: words.decode("utf-8", "replace")
    try:
        connection.execute("pragma writable_schema=on")  # reads on where the description of a table is broken
        connection.execute("pragma cell_size_check=off")
    except sqlite3.Error:
        pass  # then the tables are tried as they are
    return connection


class _TableReader:
    """The rows of one table from both ends, and from behind every broken place that has a number."""

    def __init__(
        self, connection: sqlite3.Connection, table: str, columns: list[str], *, has_rowid: bool
    ) -> None:
        self.is_damaged = False
        self._connection, self._table = connection, table
        self._columns, self._has_rowid = columns, has_rowid

    def rows(self) -> Iterator[tuple[object, ...]]:
        """Every row that can be read; some twice."""
        key = "rowid" if self._has_rowid else self._columns[0]
        select = f"select {key}, {', '.join(self._columns)} from {self._table}"  # noqa: S608 - our own names
        last: object = None
        for number, *row in self._read(f"{select} order by {key}"):
            last = number
            yield tuple(row)
        if not self.is_damaged:
            return
        first: object = None
        for number, *row in self._read(f"{select} order by {key} desc"):
            first = number
            yield tuple(row)
        if self._has_rowid:
            yield from self._read_between(select, last, first)

    def _read(self, words: str, *values: object) -> Iterator[tuple[object, ...]]:
        try:
            yield from self._connection.execute(words, values)
        except (sqlite3.Error, OverflowError):
            self.is_damaged = True

    def _read_between(self, select: str, last: object, first: object) -> Iterator[tuple[object, ...]]:
        """Rows between the places where reading from either end broke off, number by number."""
        start = last if isinstance(last, int) else 0
        end = first if isinstance(first, int) else start + _SKIPS
        for number in range(start + 1, min(end, start + _SKIPS)):
            for _, *row in self._read(f"{select} where rowid = ?", number):
                yield tuple(row)


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
            is_copied = await _is_copied(runs, run, place)  # files may remain that the database has lost
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


_SLICES = "__slices__"  # marks a list that the first saver kept in pieces
_OLD_KEYS = {"knobs": "run_config", "dropped": "rejected", "losses": "failures", "charges": "costs"}


@dataclass(frozen=True)
class Upgraded:
    """Where the old file is now, which runs had a report folder, which were exported, which were not."""

    old: Path
    in_folders: list[str]
    exported: dict[str, Path]
    unreadable: list[str]


def upgrade_database(database: Path, exports: Path) -> Upgraded:
    """Write every report that is only in the old file below `exports`, and begin a new file."""
    if not database.is_file():
        raise BadInput(f"There is no database {database}.")
    lock = FileLock(f"{database}.lock", timeout=0)
    try:
        with lock, closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
            if not is_outdated(connection):
                raise BadInput(f"The database {database} needs no upgrade.")
            found = _reports(connection, exports)
            connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        old = _move_aside(database)
    except Timeout:
        raise BadInput(f"Another process is opening the database {database}; try again.") from None
    except (OSError, sqlite3.Error) as error:
        raise BadInput(
            f"The database {database} cannot be upgraded: {error}; nothing was changed."
        ) from error
    prepare_database(database)
    _copy_page_texts(old, database)
    return Upgraded(old, *found)


def _reports(connection: sqlite3.Connection, exports: Path) -> tuple[list[str], dict[str, Path], list[str]]:
    folders = _folders(connection)
    in_folders: list[str] = []
    exported: dict[str, Path] = {}
    unreadable: list[str] = []
    for run, kind, body in _last_steps(connection):
        if (folders.get(run, Path("/nowhere")) / "report.json").is_file():
            in_folders.append(run)
            continue
        try:
            values = _read_state(connection, run, kind, body)
            result = make_result(run, values, _duration_s(connection, run)) if "report" in values else None
        # Its records are of an earlier version: whatever they lack shows as one of these.
        except (ValueError, TypeError, LookupError, AttributeError):
            unreadable.append(run)
            continue
        if result:
            exported[run] = _export(exports / short_id(run), result.model_dump_json(indent=2), result.report)
    return in_folders, exported, unreadable


def _folders(connection: sqlite3.Connection) -> dict[str, Path]:
    rows = _rows(connection, "run_folders", "select run, path from run_folders")
    rows += _rows(connection, "folders", "select run, path from folders")  # its name before layout 1
    return {run: Path(path) for run, path in rows}


def _duration_s(connection: sqlite3.Connection, run: str) -> float:
    words = "select min(checkpoint_id), max(checkpoint_id) from checkpoints where thread_id = ?"
    first, last = (time_of_checkpoint(step) for step in connection.execute(words, (run,)).fetchone())
    return (last - first).total_seconds()


def _rows(connection: sqlite3.Connection, table: str, words: str, *values: str) -> list[Any]:
    """Return the rows of a table, if it exists."""
    names = "select 1 from sqlite_master where type = 'table' and name = ?"
    is_there = connection.execute(names, (table,)).fetchone() is not None
    return connection.execute(words, values).fetchall() if is_there else []


def _last_steps(connection: sqlite3.Connection) -> Iterator[tuple[str, str, bytes]]:
    words = (
        "select thread_id, type, checkpoint, max(checkpoint_id) from checkpoints where checkpoint_ns = ''"
        " group by thread_id"
    )
    for run, kind, body, _ in connection.execute(words).fetchall():
        yield run, kind, body


def _read_state(connection: sqlite3.Connection, run: str, kind: str, body: bytes) -> RunState:
    """Return the state of a checkpoint as records of this version, without unknown fields."""
    values = {
        _OLD_KEYS.get(name, name): value for name, value in _load_plain(kind, body)["channel_values"].items()
    }
    rows = _rows(connection, "slices", "select sha, type, body from slices where thread_id = ?", run)
    slices = {sha: _load_plain(kind, body) for sha, kind, body in rows}
    for name, value in values.items():
        if isinstance(value, dict) and set(value) == {_SLICES}:
            values[name] = [item for sha in value[_SLICES] for item in slices[sha]]
    words = "select config from run_configs where run = ?"
    for (config,) in _rows(connection, "run_configs", words, values.get("run") or run):
        values["run_config"] = RunConfig.model_validate_json(config, extra="ignore")
    state = TypeAdapter(RunState).validate_python(values, extra="ignore")
    if "run_config" in state and "effort" in state:
        state["run_config"] = apply_effort(state["run_config"], state["effort"])
    return state


def _load_plain(kind: str, body: bytes) -> Any:
    """Return the stored state, each record as a dictionary of its fields."""
    kind, body = inflate(kind, body)
    if kind != "msgpack":
        raise ValueError(f"saved as {kind}")
    return ormsgpack.unpackb(body, ext_hook=_fields_of, option=ormsgpack.OPT_NON_STR_KEYS)


def _fields_of(_code: int, data: bytes) -> Any:
    """Return the fields of a record, which LangGraph saves as module, class, fields and method."""
    _module, _name, fields, *_ = ormsgpack.unpackb(
        data, ext_hook=_fields_of, option=ormsgpack.OPT_NON_STR_KEYS
    )
    return fields


def _export(folder: Path, ledger: str, report: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(ledger, "utf-8")
    (folder / "report.md").write_text(report, "utf-8")
    return folder


def _copy_page_texts(old: Path, database: Path) -> None:
    """Copy the page texts that reports are verified against; before layout 1 they had another format."""
    words = "insert or ignore into pages select sha, body, used_at from old.pages"
    try:
        with closing(sqlite3.connect(database, timeout=BUSY_TIMEOUT_S)) as connection:
            connection.execute("attach ? as old", (str(old),))
            if connection.execute("pragma old.user_version").fetchone()[0]:
                connection.execute(words)
                connection.commit()
    except sqlite3.Error as error:
        raise BadInput(
            f"{database} is new and {old} has all reports, but its page texts could not be copied: {error}."
        ) from error


def _move_aside(database: Path) -> Path:
    number = 1
    while (old := database.with_name(f"{database.name}.old{number}")).exists():
        number += 1
    for suffix in _SUFFIXES:
        file = Path(f"{database}{suffix}")
        if file.exists():
            file.rename(f"{old}{suffix}")
    return old

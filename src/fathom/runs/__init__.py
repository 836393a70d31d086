"""Runs: the list of them, with ids, times, statuses and folders. Imports nothing of LangGraph, to be fast."""

import asyncio
import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from fathom.errors import BadInput
from fathom.settings import Settings
from fathom.state import Status, short_id
from fathom.storage import Storage, open_storage
from fathom.storage.records import RunRecord, SignalWord

_UUID6_EPOCH = 0x01B21DD213814000
OPEN_STATUS = ""  # stored while the status (running, paused, stopped) depends on the run's lock
QUEUED_STATUS = "queued"  # it waits for a worker


@dataclass(frozen=True)
class RunLine:
    """A run as a list shows it."""

    id: str
    status: str
    question: str
    started: datetime
    cost_usd: float
    rounds: int = 0  # that are over
    updates: str = ""  # the id of the run it brings up to date
    follows: str = ""  # the id of the run that it follows up
    forks: str = ""  # the id of the run it shares its past with
    folder: str | None = None  # where its files are, in a list of runs


_STORED = ("question", "status", "rounds", "cost_usd", "updates", "follows", "forks")


def _line_of(record: RunRecord) -> RunLine:
    same = {name: getattr(record, name) for name in _STORED}
    return RunLine(id=record.run, started=datetime.fromisoformat(record.started), **same)


async def run_times(storage: Storage, run_id: str) -> tuple[datetime, datetime]:
    """Return when a run began, and when its last step was saved."""
    found = await storage.checkpoints.first_and_last(run_id)
    if found is None:
        raise BadInput(f"There is no run {short_id(run_id)} any more.")
    return time_of_checkpoint(found[0]), time_of_checkpoint(found[1])


async def find_run(storage: Storage, name: str | None) -> str:
    """Return the full id of a run named by its first characters; of the latest run without a name."""
    ids = await storage.checkpoints.run_ids()
    if name is None:
        if not ids:
            raise BadInput("There is no run yet.")
        return ids[0]
    found = [run_id for run_id in ids if run_id.startswith(name.lower())] if name else []
    if len(found) != 1:
        several = "There is no run" if not found else "There are several runs"
        raise BadInput(f"{several} whose id begins with {name!r}; fathom runs lists them.")
    return found[0]


async def open_status(storage: Storage, run_id: str) -> str:
    """Return the status of a run that has neither ended nor waits for an answer."""
    if await storage.locks.is_held(run_id):
        return "running"
    signals = await storage.signals.pending(run_id)
    return "paused" if any(signal.word == "pause" for signal in signals) else "stopped"


async def remember_line(storage: Storage, line: RunLine) -> None:
    """Store a run's list entry; its status may be OPEN_STATUS."""
    steps = await storage.checkpoints.first_and_last(line.id)
    same = {name: getattr(line, name) for name in _STORED}
    started, last_step = line.started.isoformat(), steps[1] if steps else ""
    await storage.runs.remember(RunRecord(run=line.id, started=started, last_step=last_step, **same))


def time_of_checkpoint(checkpoint_id: str) -> datetime:
    """When a checkpoint was made: its id is a UUID of version 6, which begins with the time."""
    bits = uuid.UUID(checkpoint_id).hex
    ticks = int(bits[:12] + bits[13:16], 16) - _UUID6_EPOCH
    return datetime.fromtimestamp(ticks / 10_000_000, UTC)


FINISHED_STATUSES = frozenset(
    get_args(Status)
)  # a run with one of these has a report, and nothing left to do

_MOST_RECORDS = 100_000


async def control_run(settings: Settings, name: str, word: SignalWord, text: str = "") -> RunLine:
    """Leave a control signal for a run, wherever it works; return the run as it was then.

    A run that is over takes none, and only one that is running can be paused.
    """
    storage = open_storage(settings.database)
    run_id = await find_run(storage, name)
    (line,) = await _load_lines(settings, [run_id])
    if line.status in FINISHED_STATUSES:
        raise BadInput(f"Run {short_id(run_id)} is over; there is nothing to steer.")
    if word == "pause" and line.status != "running":
        raise BadInput(f"Run {short_id(run_id)} is not running ({line.status}).")
    await storage.signals.give(run_id, word, text)
    return line


async def find_line(settings: Settings, name: str) -> RunLine:
    """Return one run, named by the first characters of its id."""
    storage = open_storage(settings.database)
    run_id = await find_run(storage, name)
    lines = await _load_lines(settings, [run_id])
    if not lines:
        raise BadInput(f"There is no run {short_id(run_id)} any more.")
    place = await folder_of(storage, run_id)
    return replace(lines[0], folder=str(place) if place else None)


async def list_runs(settings: Settings, most: int = 50) -> list[RunLine]:
    """Return the latest runs, the newest first."""
    storage = open_storage(settings.database)
    begun = await storage.checkpoints.run_ids()
    waiting = [one for one in await storage.runs.latest(most) if one.status == QUEUED_STATUS]
    lines = [
        *(_line_of(one) for one in waiting if one.run not in begun),
        *await _load_lines(settings, begun[:most]),
    ][:most]
    folders = [await folder_of(storage, line.id) for line in lines]
    return [
        replace(line, folder=str(place) if place else None)
        for line, place in zip(lines, folders, strict=True)
    ]


async def remember_queued(storage: Storage, run_id: str, question: str) -> None:
    """Keep the line of a run that waits for a worker; the first step replaces it."""
    await remember_line(storage, RunLine(run_id, QUEUED_STATUS, question, datetime.now(UTC), 0.0))


async def _load_lines(settings: Settings, ids: Sequence[str]) -> list[RunLine]:
    storage = open_storage(settings.database)
    records = {record.run: record for record in await storage.runs.latest(_MOST_RECORDS)}
    found: dict[str, RunLine | None] = {}
    for run_id in ids:
        record, steps = records.get(run_id), await storage.checkpoints.first_and_last(run_id)
        is_known = record and steps and (record.last_step == steps[1] or await storage.locks.is_held(run_id))
        found[run_id] = await _line_of_record(storage, record) if record and is_known else None
    if unknown := [run_id for run_id, line in found.items() if line is None]:
        found |= await _read_checkpoints(settings, unknown)
    return [line for line in found.values() if line]


async def _line_of_record(storage: Storage, record: RunRecord) -> RunLine | None:
    with suppress(BadInput):  # another process has just removed it
        started, _ = await run_times(storage, record.run)
        return replace(
            _line_of(record),
            started=started,
            status=record.status or await open_status(storage, record.run),
            cost_usd=await storage.costs.spent_usd(record.run),
        )
    return None


async def _read_checkpoints(settings: Settings, unknown: list[str]) -> dict[str, RunLine | None]:
    """Read the lines of runs from their checkpoints, and keep those that will not change by themselves."""
    from fathom.runs.executor import open_runs

    found: dict[str, RunLine | None] = {}
    async with open_runs(settings) as runs:
        for run_id in unknown:
            with suppress(BadInput):  # another process has just removed it
                line = found[run_id] = await runs.stored_line(run_id)
                if line.status == OPEN_STATUS:
                    found[run_id] = replace(line, status=await open_status(runs.storage, run_id))
                else:
                    await remember_line(runs.storage, line)
    return found


STATE, STATE_FORMAT = "state.json", "fathom-state/1"
REPORT_FILES = ("report.md", "report.json")
EVENTS = "events.jsonl"

_OUR_FILES = (STATE, *REPORT_FILES, EVENTS, "findings.md", "hypotheses.md", "sources.md", "citations.md")


def owner_of(path: Path) -> str | None:
    """The run a folder belongs to; "" if its files are no run's, None if there is nothing of that name."""
    for name, key in ((STATE, "run"), (REPORT_FILES[1], "run_id")):
        try:
            said = json.loads((path / name).read_text("utf-8", "replace"))
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and isinstance(said.get(key), str):
            return str(said[key])
    return "" if any((path / name).exists() for name in _OUR_FILES) else None


def claim_folder(path: Path, run_id: str) -> None:
    """Make a folder a run's own, now, so that an unwritable or a foreign one is refused before the work."""
    owner = owner_of(path)
    if owner is not None and owner != run_id:
        whose = f"holds run {short_id(owner)}" if owner else "has files of that name that are no run's"
        raise BadInput(f"The folder {path} {whose}; name another one with --out.")
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise BadInput(f"The folder {path} cannot be written: {error.strerror}.") from error
    if owner is None:
        _mark_folder(path, run_id)


def _mark_folder(path: Path, run_id: str) -> None:
    try:
        with (path / STATE).open("x", encoding="utf-8") as file:
            file.write(json.dumps({"format": STATE_FORMAT, "run": run_id}) + "\n")
    except FileExistsError:  # of two that came at once, one is first
        if owner_of(path) != run_id:
            raise BadInput(f"The folder {path} was just taken by another run.") from None
    except OSError as error:
        raise BadInput(f"The folder {path} cannot be written: {error.strerror}.") from error


async def folder_of(storage: Storage, run_id: str) -> Path | None:
    """Return the folder a run was last written to, if it is still there."""
    path = await storage.runs.folder_of(run_id)
    is_there = path and await asyncio.to_thread(owner_of, Path(path)) == run_id
    return Path(path) if path and is_there else None


async def remember_folder(storage: Storage, run_id: str, path: Path) -> None:
    """From now on this is the run's folder."""
    whole = await asyncio.to_thread(path.absolute)
    await storage.runs.remember_folder(run_id, str(whole))

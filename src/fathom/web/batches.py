"""Batches of the page: many questions at once, each a run of its own, with one table.

Does not know HTTP. What became of each question is in the `batch.json` of the batch's folder, so a batch of
the command line is shown as well, and one that was begun here can go on there: its questions are beside it.
"""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeGuard
from uuid import uuid4

from fathom.errors import BadInput
from fathom.researcher import DeepResearcher
from fathom.runs.batch import NOTES_FILE, BatchNotes, BatchQuestion, BatchStop, read_questions
from fathom.state import short_hash
from fathom.web.live import LiveWork, leave_work

if TYPE_CHECKING:
    from fathom.events import Progress

QUESTIONS_FILE = "questions.jsonl"
CAP_FILE = "total_usd.json"  # what all may cost together, or null
MOST_QUESTIONS = 100


@dataclass(kw_only=True)
class LiveBatch(LiveWork):
    """A batch that this server works on."""

    advice: ClassVar[str] = "the batch can go on"

    stop: BatchStop = field(default_factory=BatchStop)
    doing: dict[str, str] = field(default_factory=dict)  # the last event of each question, by its key


class LiveBatches:
    """Works on batches in the background, and finds those that are there."""

    def __init__(self, researcher: DeepResearcher, folders: Path, *, by_workers: bool = False) -> None:
        self._researcher, self._folders, self._by_workers = researcher, folders, by_workers
        self._live: dict[str, LiveBatch] = {}

    async def begin(self, questions: Sequence[BatchQuestion], total_usd: float | None) -> str:
        """Begin a batch; return its id."""
        if len(questions) > MOST_QUESTIONS:
            raise BadInput(f"A batch has at most {MOST_QUESTIONS} questions.")
        folder = self._folders / uuid4().hex[:12]
        lines = [{"question": one.request.query, **one.request.said} for one in questions]
        told = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        folder.mkdir(parents=True)
        await asyncio.to_thread((folder / CAP_FILE).write_text, json.dumps(total_usd), "utf-8")
        # Last: with it the batch is there.
        await asyncio.to_thread((folder / QUESTIONS_FILE).write_text, told, "utf-8")
        self._work(folder, questions, total_usd)
        return _id_of(folder)

    async def go_on(self, name: str) -> None:
        """Go on with a batch that was begun here and stopped."""
        folder = await self._find(name)
        if (live := self._live.get(name)) and live.is_working:
            raise BadInput("This batch is being worked on already.")
        try:
            text = await asyncio.to_thread((folder / QUESTIONS_FILE).read_text, "utf-8")
            total_usd = await asyncio.to_thread(_read_cap, folder / CAP_FILE)
        except OSError:
            raise BadInput("This batch was begun elsewhere; go on with it there: fathom batch.") from None
        self._work(folder, read_questions(text, {}), total_usd)

    async def stop(self, name: str) -> None:
        """Stop after the steps in hand; everything is kept."""
        live = self._live.get(name)
        if not live or not live.is_working:
            raise BadInput("This batch is not running on this server.")
        live.stop.request()

    async def list_all(self) -> list[dict[str, Any]]:
        """Every batch, the newest first: how many questions, how many have a report, what they cost."""
        found = []
        for folder in await self._known():
            rows = await self._rows(folder)
            done = sum(bool(row["report"]) for row in rows)
            cost = sum(row["cost_usd"] for row in rows)
            first = rows[0]["question"] if rows else ""
            told = {"questions": len(rows), "done": done, "cost_usd": cost, "first": first}
            found.append({"id": _id_of(folder), **self._standing(folder), **told})
        return found

    async def table(self, name: str) -> dict[str, Any]:
        """What became of each question."""
        folder = await self._find(name)
        return {"id": name, **self._standing(folder), "rows": await self._rows(folder)}

    async def close(self) -> None:
        """Leave every batch after the steps in hand."""
        at_work = [live for live in self._live.values() if live.is_working]
        for live in at_work:
            live.stop.request()
        await leave_work(at_work)

    def _work(self, folder: Path, questions: Sequence[BatchQuestion], total_usd: float | None) -> None:
        live = self._live[_id_of(folder)] = LiveBatch()

        def hear(one: BatchQuestion, event: "Progress") -> None:
            live.doing[one.key] = event.kind

        async def work() -> None:
            await self._researcher.batch(
                questions,
                folder,
                total_usd=total_usd,
                on_event=hear,
                stop=live.stop,
                by_workers=self._by_workers,
            )

        live.start(work())

    def _standing(self, folder: Path) -> dict[str, Any]:
        live = self._live.get(_id_of(folder))
        is_own = folder.is_relative_to(self._folders)
        return {
            "is_working": bool(live and live.is_working),
            "problem": live.problem if live else "",
            "is_own": is_own,
        }

    async def _rows(self, folder: Path) -> list[dict[str, Any]]:
        live = self._live.get(_id_of(folder))
        entries = await asyncio.to_thread(_entries, folder)
        doing = live.doing if live and live.is_working else {}
        rows = [_row(entry, doing.get(key, "")) for key, entry in entries.items()]
        return sorted(rows, key=lambda row: row["number"])

    async def _known(self) -> list[Path]:
        """The folders of all batches: those of the page, and those that runs of the database lie in."""
        lines = await self._researcher.runs(500)
        elsewhere = [Path(line.folder).parent for line in lines if line.folder]
        return await asyncio.to_thread(_with_notes, [*_children(self._folders), *dict.fromkeys(elsewhere)])

    async def _find(self, name: str) -> Path:
        found = next((folder for folder in await self._known() if _id_of(folder) == name), None)
        if found is None:
            raise BadInput("There is no batch of this id.")
        return found


def _id_of(folder: Path) -> str:
    return short_hash("batch", str(folder.absolute()))


def is_total(given: object) -> TypeGuard[float | None]:
    """Whether this is what a batch may cost: a number of USD, or nothing."""
    if isinstance(given, bool) or not isinstance(given, int | float):
        return given is None
    return 0 <= given < math.inf


def _read_cap(path: Path) -> float | None:
    try:
        total_usd = json.loads(path.read_text("utf-8"))
    except ValueError:
        total_usd = ""
    if not is_total(total_usd):
        raise BadInput("What this batch may cost cannot be read; go on with it there: fathom batch.")
    return total_usd


def _children(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []


def _with_notes(folders: Sequence[Path]) -> list[Path]:
    known = {f.absolute(): f for f in folders if any((f / n).is_file() for n in (NOTES_FILE, QUESTIONS_FILE))}
    return sorted(known, key=lambda folder: -folder.stat().st_mtime)


def _entries(folder: Path) -> dict[str, dict[str, Any]]:
    try:
        return BatchNotes(folder / NOTES_FILE).entries()
    except BadInput:
        return {}


def _row(entry: Mapping[str, Any], doing: str) -> dict[str, Any]:
    usual = {"number": 0, "question": "", "status": "not started", "because": "", "score": None}
    usual |= {"sources": 0, "cost_usd": 0.0, "duration_s": 0.0, "report": ""}
    row = {name: entry.get(name, value) for name, value in usual.items()} | {"run_id": entry["run_id"]}
    is_begun = row["status"] == "not started" and doing
    return row | {
        "report": bool(row["report"]),
        "doing": doing,
        **({"status": "running"} if is_begun else {}),
    }

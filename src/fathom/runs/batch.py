"""Many questions, a few at a time; a stopped batch can be resumed. A failed question does not stop others."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from fathom.errors import BadInput, FathomError, RunStopped
from fathom.events import Checkpoint, Progress
from fathom.request import ResearchRequest, field_name_of
from fathom.runs import REPORT_FILES
from fathom.runs.event_stream import StopSwitch
from fathom.runs.executor import Runs, has_ended, is_begun
from fathom.runs.folder import open_folder
from fathom.runs.round_summary import spent_by_run
from fathom.state import Forecast, RunState, short_hash
from fathom.storage.files import replace_file
from fathom.text.messages import format_count

NOTES_FILE = "batch.json"
_NOTES_FORMAT = 1


@dataclass(frozen=True)
class BatchQuestion:
    """One question of the file: its line number, its request, and a key derived from the request."""

    number: int
    request: ResearchRequest
    key: str


def read_questions(text: str, words: Mapping[str, Any]) -> list[BatchQuestion]:
    """The questions in a file; `words` hold for all that do not say otherwise.

    Blank lines and lines that begin with # are left out. A bad line is refused with its number.
    """
    found: list[tuple[int, ResearchRequest]] = []
    bad: list[tuple[int, str]] = []
    words = {field_name_of(name): value for name, value in words.items()}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            found.append((number, ResearchRequest(**{**words, **_parse_line(line.strip())})))
        except BadInput as error:
            bad.append((number, str(error)))
    refuse_bad_lines(bad)
    if not found:
        raise BadInput("There is no question in the file.")
    return _name_questions(found)


def number_questions(questions: Sequence[str | ResearchRequest | BatchQuestion]) -> list[BatchQuestion]:
    """The same for questions that are not in a file; those of a file stay as they are."""
    numbered = []
    for place, one in enumerate(questions, start=1):
        if isinstance(one, BatchQuestion):
            numbered.append((one.number, one.request))
        else:
            numbered.append((place, ResearchRequest(query=one) if isinstance(one, str) else one))
    return _name_questions(numbered)


def _name_questions(numbered: Sequence[tuple[int, ResearchRequest]]) -> list[BatchQuestion]:
    seen: Counter[str] = Counter()
    asked: list[BatchQuestion] = []
    for number, request in numbered:
        said = json.dumps({"query": request.query, **request.said}, ensure_ascii=False, separators=(",", ":"))
        seen[said] += 1
        asked.append(BatchQuestion(number, request, short_hash("question", said, str(seen[said]))))
    return asked


def refuse_bad_lines(bad: list[tuple[int, str]]) -> None:
    """One sentence about the first bad line, and how many more there are."""
    if bad:
        number, why = bad[0]
        more = f" {len(bad) - 1} more lines are bad." if len(bad) > 2 else " One more line is bad."
        raise BadInput(f"Line {number}: {why}{more if len(bad) > 1 else ''}")


def _parse_line(line: str) -> dict[str, Any]:
    if not line.startswith("{"):
        return {"query": line}
    try:
        given = json.loads(line)
    except ValueError as error:
        raise BadInput(f"It begins like JSON and is none ({error}).") from None
    words = {field_name_of(str(name)): value for name, value in given.items()}
    if "base_url" in words:
        # The author of the file may not be the owner of the API key.
        raise BadInput("A model's server is named on the command line or in the settings, not in the file.")
    if "query" not in words:
        raise BadInput("There is no question in it.")
    return words


@dataclass(frozen=True)
class BatchNotes:
    """Which run works on which question: a small file, replaced whole, so that a batch can go on later."""

    path: Path

    def entries(self) -> dict[str, dict[str, Any]]:
        """Return the notes on each question by its key; empty if there is no file yet."""
        try:
            told = json.loads(self.path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            told = None
        questions = told.get("questions") if isinstance(told, dict) else None
        if not isinstance(questions, dict) or not all(_is_entry(one) for one in questions.values()):
            raise BadInput(f"{self.path} is no file of a batch; move it, or name another --out.")
        return questions

    def write(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        """Replace the notes on all questions, by key."""
        words = json.dumps({"format": _NOTES_FORMAT, "questions": entries}, ensure_ascii=False, indent=2)
        try:
            replace_file(self.path, words + "\n")
        except OSError as error:
            raise RunStopped(f"{self.path} cannot be written: {error.strerror}.") from error


def _is_entry(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("run_id"), str)


_ROUNDING_USD = 1e-9
REPORT_STATUSES = frozenset({"complete", "partial", "unsure", "failed", "extracts"})


@dataclass(frozen=True)
class QuestionOutcome:
    """The outcome of one question."""

    number: int
    question: str
    run_id: str
    status: str = "not started"
    because: str = ""
    score: float | None = None
    sources: int = 0
    cost_usd: float = 0.0
    duration_s: float = 0.0
    report: str = ""
    error: BaseException | None = None  # an unexpected one

    @property
    def has_report(self) -> bool:
        """Whether it was brought to its end."""
        return self.status in REPORT_STATUSES

    def as_json(self) -> dict[str, Any]:
        """The outcome as JSON, for the file and the screen."""
        return {name: value for name, value in vars(self).items() if name != "error"}


class TotalBudget:
    """A budget for all questions; each reserves its share while it is worked on."""

    def __init__(self, usd: float | None = None) -> None:
        self._usd, self._spent, self._held = usd, 0.0, 0.0
        self._changed = asyncio.Condition()

    async def hold(self, usd: float) -> float | None:
        """Reserve this much, or the rest once no other question holds a share; None if nothing is left."""
        if self._usd is None:
            return usd
        async with self._changed:
            await self._changed.wait_for(
                lambda: self._left() >= usd - _ROUNDING_USD or self._held <= _ROUNDING_USD
            )
            if self._left() <= _ROUNDING_USD and usd > 0:
                return None
            granted = min(usd, self._left())
            self._held += granted
            return granted

    async def settle(self, held: float, spent: float) -> None:
        """Release a reservation and book what was spent."""
        async with self._changed:
            self._spent += spent
            self._held = max(0.0, self._held - held) if self._usd is not None else 0.0
            self._changed.notify_all()

    def _left(self) -> float:
        return (self._usd or 0.0) - self._spent - self._held


BatchStop = StopSwitch  # its public name


@dataclass(frozen=True)
class Batch:
    """Questions that are worked on together.

    `out` gets the folder of each, `tell` hears every event of every question, and `note` is called with all
    outcomes so far whenever one changes.
    """

    runs: Runs
    out: Path
    tell: Callable[[BatchQuestion, Progress], None]
    note: Callable[[Mapping[str, QuestionOutcome]], None]
    stop: StopSwitch = field(default_factory=StopSwitch)
    at_once: int = 4
    total_usd: float | None = None

    async def prepare(self, asked: Sequence[BatchQuestion], known: Mapping[str, str]) -> dict[str, str]:
        """A run for each question: the one it has, or a new one after all that can be refused was refused."""
        runs, bad, is_capped = {}, [], self.total_usd is not None
        for one in asked:
            try:
                begun = (
                    known.get(one.key) or (await self.runs.prepare_run(one.request, is_capped=is_capped))[0]
                )
                runs[one.key] = begun
            except BadInput as error:
                bad.append((one.number, str(error)))
        refuse_bad_lines(bad)
        return runs

    async def work(self, asked: Sequence[BatchQuestion], known: Mapping[str, str]) -> list[QuestionOutcome]:
        """Every question brought as far as it goes, in the order of the file."""
        runs = await self.prepare(asked, known)
        outcomes = {one.key: QuestionOutcome(one.number, one.request.query, runs[one.key]) for one in asked}
        self.note(outcomes)
        places, total = asyncio.Semaphore(self.at_once), TotalBudget(self.total_usd)
        # Book earlier payments of all questions before any question reserves its share.
        await total.settle(0.0, sum([await self.runs.spent_usd(run_id) for run_id in runs.values()]))

        async def see_through(one: BatchQuestion) -> None:
            async with places:
                if self.stop.is_requested:
                    return
                outcomes[one.key] = replace(outcomes[one.key], status="running")
                outcomes[one.key] = await self._one(one, outcomes[one.key], total)
                self.note(outcomes)

        done = await asyncio.gather(*(see_through(one) for one in asked), return_exceptions=True)
        for one, ended in zip(asked, done, strict=True):
            if isinstance(ended, BaseException):
                outcomes[one.key] = _as_stopped(outcomes[one.key], ended)
        self.note(outcomes)
        return [outcomes[one.key] for one in asked]

    async def _one(self, one: BatchQuestion, begun: QuestionOutcome, total: TotalBudget) -> QuestionOutcome:
        """One question, from where it stands to where it ends or waits."""
        snapshot = await self.runs.snapshot(begun.run_id)
        spent = await self.runs.spent_usd(begun.run_id)
        if has_ended(snapshot):
            return await self._report(begun)
        if snapshot.interrupts:
            return replace(begun, status="waiting for review", cost_usd=spent)
        is_new = not is_begun(snapshot)  # also when it was stopped before its first step
        run_config = (
            one.request.run_config(self.runs.settings.run) if is_new else snapshot.values.get("run_config")
        )
        wanted = max(0.0, run_config.budget_usd - spent) if run_config else 0.0
        held = await total.hold(wanted)
        if held is None or (held < wanted - _ROUNDING_USD and not is_new):
            await total.settle(held or 0.0, 0.0)  # the next one may want less
            return replace(begun, status="not started", because="the total budget is used up", cost_usd=spent)
        request = one.request.with_config(budget_usd=held) if held < wanted else one.request
        try:
            return await self._work_on(one, begun, request if is_new else None)
        finally:
            await total.settle(held, await self.runs.spent_usd(begun.run_id) - spent)

    async def _work_on(self, one: BatchQuestion, begun: QuestionOutcome, start: Any) -> QuestionOutcome:
        last: Progress | None = None
        folder = await open_folder(self.runs.settings, begun.run_id, parent=self.out)
        async for event in self.runs.work(begun.run_id, start, keep=folder, halt=self.stop):
            self.tell(one, event)
            last = event
        if last and isinstance(last.payload, Checkpoint):
            why = last.payload.why
            status, because = ("waiting for review", "") if why == "review" else ("stopped", why)
            begun = replace(
                begun, cost_usd=await self.runs.spent_usd(begun.run_id), duration_s=last.elapsed_s
            )
            return replace(begun, status=status, because="" if because == status else because)
        return await self._report(begun)

    async def _report(self, begun: QuestionOutcome) -> QuestionOutcome:
        result = await self.runs.result(begun.run_id)
        state = cast(RunState, (await self.runs.snapshot(begun.run_id)).values)
        folder = await open_folder(self.runs.settings, begun.run_id, parent=self.out)
        await folder.keep(state, spent_by_run(state))
        return replace(
            begun,
            status=result.status,
            because=result.metadata.because,
            # Without a model nothing was judged: the score means nothing to a reader.
            score=None if state["judgements"][-1].is_by_words else result.metadata.score,
            sources=result.metadata.sources,
            cost_usd=await self.runs.spent_usd(begun.run_id),
            duration_s=result.metadata.duration_s,
            report=str(folder.path / REPORT_FILES[0]),
        )


def _as_stopped(outcome: QuestionOutcome, error: BaseException) -> QuestionOutcome:
    foreign = None if isinstance(error, FathomError) else error
    because = str(error) if foreign is None else f"{type(error).__name__}: {error}"
    return replace(outcome, status="stopped", because=because, error=foreign)


async def work_on_batch(batch: Batch, asked: Sequence[BatchQuestion]) -> list[QuestionOutcome]:
    """Bring every question as far as it goes; `batch.json` in its folder says which run works on which.

    One process works on a batch at a time.
    """
    place = await asyncio.to_thread(batch.out.absolute)
    lock = await batch.runs.storage.locks.acquire(f"batch-{short_hash('batch', str(place))}")
    if lock is None:
        raise BadInput(f"The batch in {batch.out} is being worked on by another process.")
    try:
        notes = BatchNotes(batch.out / NOTES_FILE)
        known = await asyncio.to_thread(notes.entries)

        def note(outcomes: Mapping[str, QuestionOutcome]) -> None:
            notes.write({**known, **{key: one.as_json() for key, one in outcomes.items()}})
            batch.note(outcomes)

        kept = replace(batch, note=note)
        return await kept.work(asked, {key: entry["run_id"] for key, entry in known.items()})
    finally:
        await lock.release()


def list_unanswered(asked: Sequence[BatchQuestion], out: Path) -> list[BatchQuestion]:
    """The questions of a batch that have no report yet."""
    done = {key for key, entry in BatchNotes(out / NOTES_FILE).entries().items() if entry.get("report")}
    return [one for one in asked if one.key not in done]


def add_forecasts(each: Sequence[Forecast], at_once: int, total_usd: float | None) -> Forecast:
    """Add up the forecasts of questions, with `at_once` of them in parallel."""
    likely, worst = [one.expected_s for one in each], [one.worst_s for one in each]
    most = sum(one.worst_usd for one in each)
    return Forecast(
        expected_usd=sum(one.expected_usd for one in each),
        worst_usd=most if total_usd is None else min(most, total_usd),
        expected_s=max([0.0, sum(likely) / at_once, *likely]),
        worst_s=max([0.0, sum(worst) / at_once, *worst]),
        calls=sum(one.calls for one in each),
        tokens_in=sum(one.tokens_in for one in each),
        tokens_out=sum(one.tokens_out for one in each),
        because=f"{format_count(len(each), 'question')} still to be asked, {at_once} at once",
        unpriced=sorted({name for one in each for name in one.unpriced}),
    )

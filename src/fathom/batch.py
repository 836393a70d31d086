"""Many questions at once, a few of them in hand at a time; whatever ends it, it can be gone on with.

Does not know screens. A question that fails ends no other one.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from fathom.batch_file import Asked, refuse_bad
from fathom.errors import BadInput, FathomError
from fathom.events import Checkpoint, Progress
from fathom.places import open_folder
from fathom.report.claiming import REPORT
from fathom.report.past_rounds import spent_of
from fathom.runs import Runs, is_unfinished
from fathom.state import RunState
from fathom.streaming import Halt

_CENT = 1e-9
REPORTED = frozenset({"complete", "partial", "unsure", "failed", "extracts"})


@dataclass(frozen=True)
class Outcome:
    """What became of one question."""

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
    error: BaseException | None = None  # one that nobody foresaw

    @property
    def has_report(self) -> bool:
        """Whether it was brought to its end."""
        return self.status in REPORTED


class Total:
    """What all questions together may cost: each holds what it may cost for as long as it is in hand."""

    def __init__(self, usd: float | None = None) -> None:
        self._usd, self._spent, self._held = usd, 0.0, 0.0
        self._changed = asyncio.Condition()

    async def hold(self, usd: float) -> float | None:
        """So much, or what is left of the total once nobody else holds anything; None: nothing is left."""
        if self._usd is None:
            return usd
        async with self._changed:
            await self._changed.wait_for(lambda: self._left() >= usd - _CENT or self._held <= _CENT)
            if self._left() <= _CENT and usd > 0:
                return None
            granted = min(usd, self._left())
            self._held += granted
            return granted

    async def settle(self, held: float, spent: float) -> None:
        """Give back what was held; what was spent is gone."""
        async with self._changed:
            self._spent += spent
            self._held = max(0.0, self._held - held) if self._usd is not None else 0.0
            self._changed.notify_all()

    def _left(self) -> float:
        return (self._usd or 0.0) - self._spent - self._held


class Ending:
    """One wish to stop for all questions: the steps in hand end, everything is kept, nothing new is begun."""

    def __init__(self) -> None:
        self._halts: list[Halt] = []
        self.is_requested = False

    def request(self) -> None:
        """Stop after the steps in hand; safe to call from a signal handler."""
        self.is_requested = True
        for halt in self._halts:
            halt.request()

    def halt(self) -> Halt:
        """The same wish for one question."""
        made = Halt()
        self._halts.append(made)
        if self.is_requested:
            made.request()
        return made


@dataclass(frozen=True)
class Batch:
    """Questions that are worked on together.

    `out` gets the folder of each, `tell` hears every event of every question, and `note` is called with all
    outcomes so far whenever one changes.
    """

    runs: Runs
    out: Path
    tell: Callable[[Asked, Progress], None]
    note: Callable[[Mapping[str, Outcome]], None]
    ending: Ending = field(default_factory=Ending)
    at_once: int = 4
    total_usd: float | None = None

    async def prepared(self, asked: Sequence[Asked], known: Mapping[str, str]) -> dict[str, str]:
        """A run for each question: the one it has, or a new one after all that can be refused was refused."""
        runs, bad, is_capped = {}, [], self.total_usd is not None
        for one in asked:
            try:
                begun = known.get(one.key) or (await self.runs.begin(one.request, is_capped=is_capped))[0]
                runs[one.key] = begun
            except BadInput as error:
                bad.append((one.number, str(error)))
        refuse_bad(bad)
        return runs

    async def work(self, asked: Sequence[Asked], known: Mapping[str, str]) -> list[Outcome]:
        """Every question brought as far as it goes, in the order of the file."""
        runs = await self.prepared(asked, known)
        outcomes = {one.key: Outcome(one.number, one.request.query, runs[one.key]) for one in asked}
        self.note(outcomes)
        places, total = asyncio.Semaphore(self.at_once), Total(self.total_usd)
        # Before anybody holds anything: what was paid the last time is gone, also of lines further down.
        await total.settle(0.0, sum([await self.runs.spent_usd(run_id) for run_id in runs.values()]))

        async def seen_through(one: Asked) -> None:
            async with places:
                if self.ending.is_requested:
                    return
                outcomes[one.key] = replace(outcomes[one.key], status="running")
                outcomes[one.key] = await self._one(one, outcomes[one.key], total)
                self.note(outcomes)

        done = await asyncio.gather(*(seen_through(one) for one in asked), return_exceptions=True)
        for one, ended in zip(asked, done, strict=True):
            if isinstance(ended, BaseException):
                outcomes[one.key] = _stopped(outcomes[one.key], ended)
        self.note(outcomes)
        return [outcomes[one.key] for one in asked]

    async def _one(self, one: Asked, begun: Outcome, total: Total) -> Outcome:
        """One question, from where it stands to where it ends or waits."""
        snapshot = await self.runs.snapshot(begun.run_id)
        spent = await self.runs.spent_usd(begun.run_id)
        if not is_unfinished(snapshot) and "report" in snapshot.values:
            return await self._reported(begun)
        if snapshot.interrupts:
            return replace(begun, status="waiting for review", cost_usd=spent)
        is_new = "run_config" not in snapshot.values  # also when it was stopped before its first step
        run_config = (
            one.request.run_config(self.runs.settings.run) if is_new else snapshot.values.get("run_config")
        )
        wanted = max(0.0, run_config.budget_usd - spent) if run_config else 0.0
        held = await total.hold(wanted)
        if held is None or (held < wanted - _CENT and not is_new):
            await total.settle(held or 0.0, 0.0)  # the next one may want less
            return replace(begun, status="not started", because="the total budget is used up", cost_usd=spent)
        request = one.request.with_config(budget_usd=held) if held < wanted else one.request
        try:
            return await self._worked(one, begun, request if is_new else None)
        finally:
            await total.settle(held, await self.runs.spent_usd(begun.run_id) - spent)

    async def _worked(self, one: Asked, begun: Outcome, start: Any) -> Outcome:
        last: Progress | None = None
        folder = await open_folder(self.runs.settings, begun.run_id, parent=self.out)
        async for event in self.runs.work(begun.run_id, start, keep=folder, halt=self.ending.halt()):
            self.tell(one, event)
            last = event
        if last and isinstance(last.payload, Checkpoint):
            why = last.payload.why
            status, because = ("waiting for review", "") if why == "review" else ("stopped", why)
            begun = replace(
                begun, cost_usd=await self.runs.spent_usd(begun.run_id), duration_s=last.elapsed_s
            )
            return replace(begun, status=status, because="" if because == status else because)
        return await self._reported(begun)

    async def _reported(self, begun: Outcome) -> Outcome:
        result = await self.runs.result(begun.run_id)
        state = cast(RunState, (await self.runs.snapshot(begun.run_id)).values)
        folder = await open_folder(self.runs.settings, begun.run_id, parent=self.out)
        await folder.keep(state, spent_of(state))
        return replace(
            begun,
            status=result.status,
            because=result.metadata.because,
            score=result.metadata.score,
            sources=result.metadata.sources,
            cost_usd=await self.runs.spent_usd(begun.run_id),
            duration_s=result.metadata.duration_s,
            report=str(folder.path / REPORT[0]),
        )


def _stopped(outcome: Outcome, error: BaseException) -> Outcome:
    foreign = None if isinstance(error, FathomError) else error
    because = str(error) if foreign is None else f"{type(error).__name__}: {error}"
    return replace(outcome, status="stopped", because=because, error=foreign)

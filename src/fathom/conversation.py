"""Threads and views of the runs of a database: looked up, and put together.

Does not know how a view is made. Nothing is stored here: what is seen is in the runs and their events.
"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

from pydantic import JsonValue, ValidationError

from fathom.agents import Board, agents_in, messages_in
from fathom.errors import BadInput
from fathom.events import Progress
from fathom.history import archived_times, folder_of, run_ids, run_times
from fathom.ids import short_id
from fathom.runs import Runs, is_unfinished
from fathom.state import Failure, Judgement, RunState
from fathom.threads import Threads
from fathom.viewing import Sight, answer_of, plan_of, query_of, results_of, thread_of
from fathom.views import (
    AgentMessage,
    AgentName,
    AgentState,
    ConversationThread,
    MessageType,
    RunViews,
    name_of,
)

_EVENTS = "events.jsonl"


async def thread(runs: Runs, run_id: str) -> ConversationThread:
    """The thread a run stands in: every question and answer, in the order they were asked."""
    threads = Threads(runs.storage)
    root = await threads.of(run_id)
    there = set(await run_ids(runs.storage))
    members = [one for one, _ in await threads.runs(root) if one in there]
    sights = [await _sight(runs, one, root) for one in members]
    return thread_of(sights, datetime.now(UTC), is_closed=await threads.is_closed(root))


async def close(runs: Runs, run_id: str) -> ConversationThread:
    """The thread of a run, closed: nothing more is asked in it. Closing it again is refused."""
    found = await thread(runs, run_id)
    closed = found.moved("closed", max(datetime.now(UTC), found.updated_at))
    await Threads(runs.storage).close(found.id)
    return closed


async def views(runs: Runs, run_id: str) -> RunViews:
    """Everything there is to see of one run; from its events, where they were written down."""
    root = await Threads(runs.storage).of(run_id)
    at = await _sight(runs, run_id, root, await _times(runs, run_id))
    events = await _events(runs, run_id)
    return RunViews(
        query=query_of(at),
        plan=plan_of(at),
        results=results_of(at),
        answer=answer_of(at),
        agents=agents_in(run_id, events, at.began) if events else agents_at_rest(at),
        messages=messages_in(run_id, events) if events else messages_at_rest(at),
    )


async def _sight(runs: Runs, run_id: str, root: str, times: dict[str, datetime] | None = None) -> Sight:
    snapshot = await runs.snapshot(run_id)
    began, last = await run_times(runs.storage, run_id)
    question = str(snapshot.values.get("question", ""))
    if not question:
        raise BadInput(f"Run {short_id(run_id)} was begun without a question: there is nothing to see.")
    state = cast(RunState, snapshot.values)
    is_over = "report" in state and not is_unfinished(snapshot)
    return Sight(run_id, root, question, state, began, last, is_over, times or {})


async def _times(runs: Runs, run_id: str) -> dict[str, datetime]:
    """When the plan was first there, and each judged round."""
    seen: list[tuple[datetime, list[str]]] = []
    rounds: list[str] = []
    async for snapshot in runs.steps(run_id):  # the newest first
        judged = [f"round {judgement.round}" for judgement in snapshot.values.get("judgements", [])]
        rounds = rounds or judged
        plan = ["questions"] if snapshot.values.get("questions") else []
        seen.append((datetime.fromisoformat(snapshot.created_at or ""), [*plan, *judged]))
    seen += [(at, ["questions", *rounds[:count]]) for at, count in await archived_times(runs.storage, run_id)]
    found: dict[str, datetime] = {}
    for at, names in sorted(seen, reverse=True):
        found |= dict.fromkeys(names, at)
    return found


async def _events(runs: Runs, run_id: str) -> list[Progress]:
    folder = await folder_of(runs.storage, run_id)
    return await asyncio.to_thread(_read, folder / _EVENTS) if folder else []


def _read(path: Path) -> list[Progress]:
    """The events in a file; a line that is none, or of another version, is left out."""
    found: list[Progress] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    for line in lines:
        try:
            found.append(Progress.model_validate_json(line))
        except ValidationError:
            continue
    return found


_WHERE: dict[str, AgentName] = {"search": "searcher", "reading": "reader", "analysis": "analyzer"}


def agents_at_rest(at: Sight) -> list[AgentState]:
    """Every role with what came of its work; one that left no trace is idle."""
    board, state = Board(at.run, at.last), at.state
    judgements, report = state.get("judgements", []), state.get("report")
    traces: list[tuple[AgentName, bool, dict[str, JsonValue]]] = [
        ("planner", bool(state.get("questions")), {"strategy": state.get("strategy", "")}),
        ("searcher", bool(state.get("asked")), {"queries": len(state.get("asked", []))}),
        ("reader", bool(state.get("pages")), {"pages": len(state.get("pages", []))}),
        ("analyzer", bool(state.get("pages")), {"claims": len(state.get("claims", []))}),
        ("judge", bool(judgements), {"score": judgements[-1].overall} if judgements else {}),
        ("writer", report is not None, {"status": report.status} if report else {}),
    ]
    for agent, has_worked, result in traces:
        if has_worked:
            board.works(agent, "")
            board.ends(agent, **result)
    return board.states


def messages_at_rest(at: Sight) -> list[AgentMessage]:
    """What the roles must have told each other, round by round, at the times those rounds were saved."""
    told = [*_of_rounds(at), *(_of_loss(failure, at.last) for failure in at.state.get("failures", []))]
    return [
        AgentMessage(
            id=name_of(at.run, "message", str(number)),
            query_id=at.run,
            sender=sender,
            recipient=recipient,
            type=kind,
            content=content,
            at=when,
        )
        for number, (when, sender, recipient, kind, content) in enumerate(told)
    ]


Told = tuple[datetime, AgentName, AgentName | None, MessageType, dict[str, JsonValue]]


def _of_rounds(at: Sight) -> Iterator[Told]:
    for judgement in at.state.get("judgements", []):
        when = at.times.get(f"round {judgement.round}", at.last)
        queries: list[JsonValue] = [
            query.text for query in at.state.get("asked", []) if query.round == judgement.round
        ]
        if queries:
            yield when, "planner", "searcher", "request", {"action": "search", "queries": queries}
        yield when, "judge", None, "notification", _verdict(judgement)
    if report := at.state.get("report"):
        yield at.last, "writer", None, "notification", {"status": report.status}


def _verdict(judgement: Judgement) -> dict[str, JsonValue]:
    return {"round": judgement.round, "score": judgement.overall, "stop": judgement.stop}


def _of_loss(failure: Failure, when: datetime) -> Told:
    return when, _WHERE.get(failure.where, "planner"), None, "error", dict(failure.model_dump())

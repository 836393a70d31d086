"""The roles of a run that nobody listened to, from what its state says was done.

Does not know events or databases.
"""

from collections.abc import Iterator
from datetime import datetime

from pydantic import JsonValue

from fathom.agents import Board
from fathom.state import Failure, Judgement
from fathom.viewing import Sight
from fathom.views import AgentMessage, AgentName, AgentState, MessageType, name_of

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

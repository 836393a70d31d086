"""The roles of a run, derived from its events: what each does, and their messages.

Events go in, in their order; states and messages come out.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import get_args

from pydantic import JsonValue

from fathom import events
from fathom.events import Payload, Progress
from fathom.runs.views import (
    AgentMessage,
    AgentName,
    AgentState,
    AgentStatus,
    MessageType,
    ViewedRun,
    stable_id,
)
from fathom.state import Judgement

AGENTS: tuple[AgentName, ...] = get_args(AgentName)
_ROUND_ROLES: tuple[AgentName, ...] = ("searcher", "reader", "analyzer")
RoleMessage = tuple[AgentName, AgentName | None, MessageType, dict[str, JsonValue]]
TimedMessage = tuple[datetime, AgentName, AgentName | None, MessageType, dict[str, JsonValue]]


class AgentTracker:
    """All agents of one run; every change of a status goes along the arrows of `AgentState`."""

    def __init__(self, run_id: str, at: datetime) -> None:
        self._at = at
        self._states = {
            agent: AgentState(
                id=stable_id(run_id, "agent", agent), agent=agent, query_id=run_id, updated_at=at
            )
            for agent in AGENTS
        }
        self._done: dict[AgentName, int] = {}
        self._begun: dict[AgentName, int] = {}

    @property
    def states(self) -> list[AgentState]:
        """Every agent as it is now."""
        return list(self._states.values())

    def tell(self, event: Progress) -> None:
        """One event more."""
        self._at = max(self._at, event.at)  # a clock that was set back does not turn time round
        match event.payload:
            case events.EffortSized():
                self._begin("planner", "thinking", "how much the question is worth")
            case events.PlanGenerated(strategy=strategy, questions=questions, queries=queries):
                self.works("planner", "the plan")
                self.ends("planner", strategy=strategy, questions=[*questions], queries=[*queries])
            case events.SufficiencyEvaluated(judgement=judgement):
                self._end_round()
                self.works("judge", f"round {judgement.round}")
                self.ends("judge", gaps=len(judgement.gaps), **_reflection(judgement))
            case events.Failed(error=error):
                self._fail(error)
            case events.Completed():
                for state in self.states:
                    if state.status == "working":
                        self.ends(state.agent)
            case payload:
                self._apply_work_event(payload)

    def _apply_work_event(self, payload: Payload) -> None:
        match payload:
            case events.SearchStarted(query=query):
                self._start_task("searcher", query)
            case events.SearchCompleted(hits=hits):
                self._finish_task("searcher", "hits", hits)
            case events.ExtractionStarted(pages=pages):
                if self._states["searcher"].status == "working":
                    self.ends("searcher")
                for page in pages:
                    self._start_task("reader", page.title)
            case events.ContentExtracted(chars=chars):
                self.works("reader", payload.title)  # an update reads pages without a selection
                self._finish_task("reader", "chars", chars)
            case events.AnalysisStarted(title=title):
                self._start_task("analyzer", title)
            case events.AnalysisCompleted(claims=claims):
                self._finish_task("analyzer", "claims", claims)
            case events.ReportStarted(sections=sections):
                for title in sections:
                    self._start_task("writer", title)
            case events.ReportSection(title=title):
                self.works("writer", title)
                self._finish_task("writer", "sections", 1)
            case events.ReportWritten(status=status):
                self.works("writer", "the report")
                self.ends("writer", status=status)
            case _:
                return

    def works(self, agent: AgentName, task: str) -> None:
        """Mark an agent as working."""
        self._begin(agent, "working", task)

    def _begin(self, agent: AgentName, status: AgentStatus, task: str) -> None:
        """Have an agent think, or think and work; after an end it starts anew."""
        state = self._states[agent]
        if state.status in ("completed", "failed"):
            self._done[agent] = self._begun[agent] = 0
            state = state.moved("idle", self._at, progress=0.0, intermediate_result={}, error="")
        if state.status == "idle":
            state = state.moved("thinking", self._at, current_task=task)
        if state.status == "thinking" and status == "working":
            state = state.moved("working", self._at, current_task=task)
        self._states[agent] = state

    def ends(self, agent: AgentName, **result: JsonValue) -> None:
        """Mark an agent's task as completed."""
        state = self._states[agent]
        found = {**state.intermediate_result, **result}
        self._states[agent] = state.moved(
            "completed", self._at, progress=1.0, current_task="", intermediate_result=found
        )

    def _start_task(self, agent: AgentName, task: str) -> None:
        """One piece of work more."""
        self.works(agent, task)
        self._begun[agent] = self._begun.get(agent, 0) + 1
        changes = {"current_task": task, "progress": self._share(agent)}
        self._states[agent] = self._states[agent].model_copy(update=changes)

    def _finish_task(self, agent: AgentName, what: str, count: int) -> None:
        """One piece of its work is done."""
        state = self._states[agent]
        self._done[agent] = self._done.get(agent, 0) + 1
        before = state.intermediate_result.get(what, 0)
        found = {**state.intermediate_result, what: (before if isinstance(before, int) else 0) + count}
        changes = {"progress": self._share(agent), "intermediate_result": found, "updated_at": self._at}
        self._states[agent] = state.model_copy(update=changes)

    def _share(self, agent: AgentName) -> float:
        return min(1.0, self._done.get(agent, 0) / max(1, self._begun.get(agent, 0)))

    def _end_round(self) -> None:
        for agent in _ROUND_ROLES:
            if self._states[agent].status == "working":
                self.ends(agent)

    def _fail(self, error: str) -> None:
        for state in self.states:
            if state.status in ("thinking", "working"):
                self._states[state.agent] = state.moved("failed", self._at, error=error)


def agent_states_from_events(run_id: str, told: Iterable[Progress], began: datetime) -> list[AgentState]:
    """Return the state of every agent after the last event."""
    board = AgentTracker(run_id, began)
    for event in told:
        board.tell(event)
    return board.states


def agent_messages_from_events(run_id: str, told: Iterable[Progress]) -> list[AgentMessage]:
    """Return the messages between roles, in order."""
    messages = ((event.at, *said) for event in told for said in _messages_of_event(event.payload))
    return _number_messages(run_id, messages)


def _number_messages(run_id: str, told: Iterable[TimedMessage]) -> list[AgentMessage]:
    return [
        AgentMessage(
            id=stable_id(run_id, "message", str(number)),
            query_id=run_id,
            sender=sender,
            recipient=recipient,
            type=kind,
            content=content,
            at=when,
        )
        for number, (when, sender, recipient, kind, content) in enumerate(told)
    ]


def _messages_of_event(payload: Payload) -> Iterator[RoleMessage]:
    match payload:
        case events.PlanGenerated(queries=[]):
            yield "planner", "analyzer", "request", {"action": "recall", "questions": [*payload.questions]}
        case events.PlanGenerated(queries=queries):
            yield "planner", "searcher", "request", {"action": "search", "queries": [*queries]}
        case events.SearchCompleted(query=query, hits=hits, lost=lost):
            yield "searcher", "reader", "response", {"query": query, "hits": hits}
            yield from (("searcher", None, "error", failure.model_dump()) for failure in lost)
        case events.ContentExtracted(address=address, chars=chars, lost=lost):
            if not lost:
                yield "reader", "analyzer", "response", {"address": address, "chars": chars}
            yield from (("reader", None, "error", failure.model_dump()) for failure in lost)
        case events.AnalysisCompleted(address=address, claims=claims, lost=lost):
            yield "analyzer", "judge", "response", {"address": address, "claims": claims}
            yield from (("analyzer", None, "error", failure.model_dump()) for failure in lost)
        case events.SufficiencyEvaluated(judgement=judgement):
            gaps: list[JsonValue] = [gap.description for gap in judgement.gaps]
            yield "judge", None, "notification", {**_judgement_numbers(judgement), "gaps": gaps}
        case events.ReportWritten(status=status):
            yield "writer", None, "notification", {"status": status}
        case events.Checkpoint(why=why) if why != "round":
            yield "planner", None, "notification", {"waits": why}
        case events.Failed(error=error, how_to_go_on=way):
            yield "planner", None, "error", {"error": error, "how_to_go_on": way}
        case _:
            return


_ROLE_OF_FAILURE: dict[str, AgentName] = {"search": "searcher", "reading": "reader", "analysis": "analyzer"}


def agent_states_from_state(at: ViewedRun) -> list[AgentState]:
    """Return the state of every role from the run's state; a role without results is idle."""
    board, state = AgentTracker(at.run, at.last), at.state
    judgements, report = state.get("judgements", []), state.get("report")
    traces: list[tuple[AgentName, bool, dict[str, JsonValue]]] = [
        ("planner", bool(state.get("questions")), {"strategy": state.get("strategy", "")}),
        ("searcher", bool(state.get("asked")), {"queries": len(state.get("asked", []))}),
        ("reader", bool(state.get("pages")), {"pages": len(state.get("pages", []))}),
        ("analyzer", bool(state.get("pages")), {"claims": len(state.get("claims", []))}),
        ("judge", bool(judgements), _reflection(judgements[-1]) if judgements else {}),
        ("writer", report is not None, {"status": report.status} if report else {}),
    ]
    for agent, has_worked, result in traces:
        if has_worked:
            board.works(agent, "")
            board.ends(agent, **result)
    return board.states


def agent_messages_from_state(at: ViewedRun) -> list[AgentMessage]:
    """Return the messages that the run's state implies, round by round."""
    return _number_messages(at.run, _messages_of_state(at))


def _messages_of_state(at: ViewedRun) -> Iterator[TimedMessage]:
    for judgement in at.state.get("judgements", []):
        when = at.times.get(f"round {judgement.round}", at.last)
        queries: list[JsonValue] = [
            query.text for query in at.state.get("asked", []) if query.round == judgement.round
        ]
        if queries:
            yield when, "planner", "searcher", "request", {"action": "search", "queries": queries}
        yield when, "judge", None, "notification", _judgement_numbers(judgement)
    if report := at.state.get("report"):
        yield at.last, "writer", None, "notification", {"status": report.status}
    for failure in at.state.get("failures", []):
        role = _ROLE_OF_FAILURE.get(failure.where, "planner")
        yield at.last, role, None, "error", dict(failure.model_dump())


def _judgement_numbers(judgement: Judgement) -> dict[str, JsonValue]:
    return {"round": judgement.round, **_reflection(judgement)}


def _reflection(judgement: Judgement) -> dict[str, JsonValue]:
    """Return the judgement of a round: quality, relevance, and what is still needed."""
    return {
        "score": judgement.overall,
        "quality": judgement.quality,
        "relevance": (judgement.rubric.relevance - 1) / 4,
        "needs_more": judgement.stop is None,
        "feedback": "; ".join(gap.description for gap in judgement.gaps) or judgement.rubric.evidence,
        "stop": judgement.stop,
    }

"""Fathom as a graph of messages: a question becomes a report, the next message a follow-up in its thread.

For Studio's chat, chat front ends, A2A, and supervisors of other agents. The message `/update` brings the
last report up to date. A conversation that rests is listed, shown, exported and asked on as a run: that of
its last message. Does not know the command line.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, cast
from uuid import NAMESPACE_URL, uuid5

from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage
from langgraph.channels import EphemeralValue
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages, push_message
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Checkpointer
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from fathom.errors import BadInput
from fathom.events import ReportChunk, ReportDraft
from fathom.graph import DependencyFactory, ResearchGraph, build_graph
from fathom.graph.dependencies import EnvironmentDependencies
from fathom.planning.follow_up_questions import complete_question
from fathom.request import ResearchRequest
from fathom.runs.event_mapper import EventMapper
from fathom.runs.follow_up import (
    BRANCH_FIELDS,
    FinishedRun,
    FollowUpRequest,
    UpdateRequest,
    make_update,
    merge_evidence,
)
from fathom.state import (
    EarlierRun,
    Report,
    ResearchInput,
    ResearchState,
    RunConfig,
    RunState,
    ThreadKnowledge,
)

UPDATE = "/update"
_PRIVATE = SkipJsonSchema()  # type: ignore[type-arg]  # in no schema: Studio does not show it


class ChatInput(TypedDict):
    """Input of a turn: the messages that are new, or all of them."""

    messages: Annotated[list[AnyMessage], add_messages]


class Conversation(TypedDict, total=False):
    """A conversation, the last report, and what the next turn builds on."""

    messages: Annotated[list[AnyMessage], add_messages]
    question: Annotated[str, Field(description="The question of this turn, as it can be understood alone.")]
    report: Annotated[Report, Field(description="The last report.")]
    thread: Annotated[ThreadKnowledge, _PRIVATE]
    last: Annotated[EarlierRun, _PRIVATE]
    run_config: Annotated[RunConfig, _PRIVATE]


# Beside these, the state of the last turn's research, until the next message comes: what reads runs reads it.
_LAST_RUN = dict.fromkeys(
    ResearchState.__annotations__.keys() - Conversation.__annotations__.keys(),
    Annotated[Any, _PRIVATE, EphemeralValue],
)
ChatState: Any = TypedDict("ChatState", {**_LAST_RUN, **Conversation.__annotations__}, total=False)  # type: ignore[misc]


ChatGraph = CompiledStateGraph[Any, RunConfig, ChatInput, Any]


@dataclass(frozen=True)
class Turn:
    """What one message asks of the research graph."""

    given: ResearchInput
    run_config: RunConfig
    message_id: str  # of the answer


def build_chat(dependencies: DependencyFactory | None = None, checkpointer: Checkpointer = None) -> ChatGraph:
    """Build the chat graph around a research graph with these dependencies, by default the environment's."""
    make = dependencies or EnvironmentDependencies()
    inner = build_graph(make)

    async def answer(state: Conversation, *, runtime: Runtime[RunConfig]) -> dict[str, Any]:
        """Research the last message and say the report.

        Reads:  messages, question, thread, last, run_config
        Writes: messages, question, report, thread, last, run_config, and the state of the research
        """
        turn = read_turn(state, runtime.context)
        found = await _research(inner, turn)
        finished = FinishedRun(found["run"], found, datetime.now(UTC))
        report = found["report"]
        # With the operator's settings in it: the next turn searches the same documents.
        stored = await (await asyncio.to_thread(make.run_configs)).config_of(found["run"])
        told = {"status": report.status, "citations": len(report.citations), "run": found["run"]}
        said = AIMessage(report.markdown, id=turn.message_id, name="fathom", response_metadata=told)
        return {
            **{name: value for name, value in found.items() if name in _LAST_RUN},
            "messages": [said],
            "question": turn.given["question"],
            "report": report,
            "thread": merge_evidence([finished], state.get("thread")),
            "last": make_update(found["run"], found, finished.ended.date()).earlier,
            "run_config": RunConfig.model_validate_json(stored or "{}"),
        }

    b: StateGraph[Any, RunConfig, ChatInput, Any] = StateGraph(
        ChatState, context_schema=RunConfig, input_schema=ChatInput
    )
    b.add_node("answer", answer)
    b.add_edge(START, "answer")
    b.add_edge("answer", END)
    return b.compile(checkpointer=checkpointer, name="chat")


def read_turn(state: Conversation, context: RunConfig | None) -> Turn:
    """Return what the last message of a person asks: a question, a follow-up, or an update."""
    asked = [message for message in state["messages"] if isinstance(message, HumanMessage)]
    text = asked[-1].text.strip() if asked else ""
    if not text:
        raise BadInput("The question is empty.")
    message_id = str(uuid5(NAMESPACE_URL, f"fathom:{asked[-1].id}"))
    if text.lower() == UPDATE:
        update = _update_request(state)
        return Turn(update.given(), update.run_config(), message_id)
    said = context or RunConfig()
    known = state.get("thread")
    if known is None:
        question = complete_question(text, asked[-2].text) if len(asked) > 1 else text
        request = ResearchRequest(query=question, config=said)
        return Turn({"question": request.query}, said, message_id)
    kept = {name: getattr(said, name) for name in said.model_fields_set - BRANCH_FIELDS}
    follow_up = FollowUpRequest(
        ResearchRequest(query=text, **kept), state.get("run_config") or RunConfig(), known
    )
    return Turn(follow_up.given(), follow_up.run_config(), message_id)


def _update_request(state: Conversation) -> UpdateRequest:
    last = state.get("last")
    if last is None:
        raise BadInput(f"There is no report yet to bring up to date; ask a question before {UPDATE}.")
    return UpdateRequest(state["question"], state.get("run_config") or RunConfig(), last)


async def _research(research: ResearchGraph, turn: Turn) -> RunState:
    """Run the research graph as part of this one, telling events and every section that was checked."""
    tell, mapper = get_stream_writer(), EventMapper(turn.message_id, turn.run_config)
    state: ResearchState = {}
    depth = len(str(get_config()["configurable"]["checkpoint_ns"]).split("|"))  # of this node's own graph
    # No thread of its own: its steps and its review are kept in the conversation's.
    stream = research.astream(
        turn.given, context=turn.run_config, stream_mode=["tasks", "values"], subgraphs=True
    )
    async for part in stream:
        place, mode, task = cast(tuple[Sequence[str], str, Any], part)
        if mode == "values":
            state = cast(ResearchState, task) if len(place) == depth else state
            continue
        for event in mapper.events(place, task):
            if not isinstance(event.payload, ReportDraft):
                tell(event.model_dump(mode="json"))
            if isinstance(event.payload, ReportChunk):
                push_message(AIMessageChunk(content=event.payload.text, id=turn.message_id), state_key=None)
    return mapper.with_config(state)


graph = build_chat()

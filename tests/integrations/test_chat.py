"""The graph of messages: a question becomes a report, the next message a follow-up, /update an update."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command
from standins.documents import CHEESE, QUESTION, stocked, written

from fathom import BadInput, DeepResearcher
from fathom.graph import standard_dependencies
from fathom.integrations.chat import build_chat, read_turn
from fathom.settings import Settings, load_settings
from fathom.state import RunConfig
from fathom.storage.checkpoints import checkpointer

pytestmark = pytest.mark.whole


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path / "home", docs_roots=[tmp_path])


@pytest.fixture
async def chat(settings: Settings) -> AsyncIterator[Any]:
    async with checkpointer(settings.database) as saver:
        yield build_chat(standard_dependencies(settings), saver)


@pytest.fixture
def shelf(tmp_path: Path) -> RunConfig:
    return RunConfig(docs=[str(stocked(tmp_path / "shelf"))], rounds=1)


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


def new_thread() -> Any:
    return {"configurable": {"thread_id": str(uuid4())}}


async def test_the_next_message_is_a_follow_up_that_uses_what_is_known(chat: Any, shelf: RunConfig) -> None:
    thread = new_thread()
    first = await chat.ainvoke(said(QUESTION), thread, context=shelf)
    answer = first["messages"][-1]
    assert isinstance(answer, AIMessage)
    assert answer.text == first["report"].markdown
    assert answer.response_metadata["status"] == "extracts"
    second = await chat.ainvoke(said("Which capacity factor do they reach?"), thread, context=shelf)
    assert [message.type for message in second["messages"]] == ["human", "ai", "human", "ai"]
    assert second["question"] == "Which capacity factor do tidal barrages and offshore wind reach?"
    assert second["asked"] == []  # the pages at hand were enough
    assert [turn.question for turn in second["thread"].turns] == [QUESTION, second["question"]]


async def test_a_follow_up_searches_for_what_is_not_at_hand(
    chat: Any, shelf: RunConfig, tmp_path: Path
) -> None:
    thread = new_thread()
    await chat.ainvoke(said(QUESTION), thread, context=shelf)
    written(tmp_path / "shelf", CHEESE)
    later = await chat.ainvoke(said("How long does a hard cheese ripen?"), thread, context=shelf)
    assert [query.text for query in later["asked"]]
    assert later["report"].status == "extracts"


async def test_documents_of_the_servers_settings_hold_for_the_whole_conversation(
    settings: Settings, shelf: RunConfig, tmp_path: Path
) -> None:
    """A follow-up asks nobody else, and an update may read them."""
    usual = shelf.model_copy(update={"rounds": 2})
    served, thread = settings.model_copy(update={"run": usual, "docs_roots": []}), new_thread()
    async with checkpointer(settings.database) as saver:
        chat: Any = build_chat(standard_dependencies(served), saver)
        await chat.ainvoke(said(QUESTION), thread)
        later = await chat.ainvoke(said("How long does a hard cheese ripen?"), thread)
        assert later["asked"]
        assert later["failures"] == []
        page = tmp_path / "shelf/wind.md"
        page.write_text(page.read_text().replace("45 percent", "52 percent"))
        updated = await chat.ainvoke(said("/update"), thread)
        assert updated["failures"] == []


async def test_an_update_tells_what_changed(chat: Any, shelf: RunConfig, tmp_path: Path) -> None:
    thread = new_thread()
    await chat.ainvoke(said(QUESTION), thread, context=shelf)
    page = tmp_path / "shelf/wind.md"
    page.write_text(page.read_text().replace("45 percent", "52 percent"))
    updated = await chat.ainvoke(said("/update"), thread, context=shelf)
    assert updated["question"] == QUESTION
    assert "What changed" in updated["messages"][-1].text
    assert "52 percent" in updated["messages"][-1].text


async def test_checked_sections_come_as_messages_and_steps_as_events(chat: Any, shelf: RunConfig) -> None:
    parts = [
        part
        async for part in chat.astream(
            said(QUESTION), new_thread(), context=shelf, stream_mode=["messages", "custom", "values"]
        )
    ]
    pieces = [part[1][0] for part in parts if part[0] == "messages"]
    last = [part[1] for part in parts if part[0] == "values"][-1]["messages"][-1]
    assert {piece.id for piece in pieces} == {last.id}
    assert "45 percent" in "".join(piece.text for piece in pieces)
    kinds = [part[1]["kind"] for part in parts if part[0] == "custom"]
    assert kinds.index("plan generated") < kinds.index("round completed") < kinds.index("report chunk")


async def test_a_review_interrupts_the_conversation_and_goes_on(chat: Any, shelf: RunConfig) -> None:
    thread = new_thread()
    config = shelf.model_copy(update={"review": "plan"})
    waiting = await chat.ainvoke(said(QUESTION), thread, context=config)
    assert waiting["__interrupt__"][0].value["queries"]
    answer = {"action": "edit", "queries": ["capacity factor of a barrage"]}
    done = await chat.ainvoke(Command(resume=answer), thread)
    assert [query.text for query in done["asked"] if query.id != "scout"] == answer["queries"]


async def test_a_conversation_is_read_as_a_run_and_not_resumed_as_one(
    chat: Any, shelf: RunConfig, settings: Settings
) -> None:
    thread = new_thread()
    run_id = thread["configurable"]["thread_id"]
    researcher = DeepResearcher(settings)
    done = await chat.ainvoke(said(QUESTION), thread, context=shelf)
    assert (await researcher.result(run_id)).report == done["report"].markdown
    assert [line.question for line in await researcher.runs()] == [QUESTION]
    waiting = new_thread()
    await chat.ainvoke(said(QUESTION), waiting, context=shelf.model_copy(update={"review": "plan"}))
    with pytest.raises(BadInput, match="is a conversation"):
        await researcher.resume(waiting["configurable"]["thread_id"])


@pytest.mark.parametrize("text", ["", "   "])
async def test_an_empty_message_is_refused(chat: Any, text: str) -> None:
    with pytest.raises(BadInput, match=r"The question is empty\."):
        await chat.ainvoke(said(text), new_thread())


async def test_an_update_of_nothing_is_refused(chat: Any) -> None:
    with pytest.raises(BadInput, match="no report yet"):
        await chat.ainvoke(said("/update"), new_thread())


def test_without_a_memory_the_message_before_says_what_is_meant() -> None:
    """A supervisor hands over all messages, and no state of ours."""
    told: list[Any] = [
        HumanMessage("What is the Rance tidal power station?", id="1"),
        AIMessage("A dam with turbines.", id="2"),
        HumanMessage("When did it open?", id="3"),
        AIMessage("", id="4", tool_calls=[{"name": "transfer", "args": {}, "id": "t"}]),
    ]
    turn = read_turn({"messages": told}, None)
    assert turn.given["question"] == "When did the Rance tidal power station open?"

"""Fathom as a tool of somebody's own agent."""

from pathlib import Path

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.runnables import Runnable
from standins.documents import QUESTION, stocked

import fathom
from fathom import BadInput, DeepResearcher
from fathom.settings import load_settings

pytestmark = pytest.mark.whole


class Agent(GenericFakeChatModel):
    """A model that knows its tools by heart."""

    def bind_tools(self, *_: object, **__: object) -> Runnable:  # type: ignore[type-arg]
        return self


def call(**arguments: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "deep_research", "args": arguments, "id": "call"}])


@pytest.fixture
def researcher(tmp_path: Path) -> DeepResearcher:
    return DeepResearcher(load_settings(home=tmp_path / "home", docs_roots=[tmp_path]))


async def test_an_agent_researches_and_asks_on(researcher: DeepResearcher, tmp_path: Path) -> None:
    tool = fathom.as_tool(researcher, docs=[str(stocked(tmp_path / "shelf"))], rounds=1, strategy="rollouts")
    first = await tool.ainvoke(
        {"name": tool.name, "args": {"question": QUESTION}, "id": "1", "type": "tool_call"}
    )
    assert first.artifact.report in first.content
    run_id = first.artifact.run_id
    assert run_id in first.content
    model = Agent(messages=iter([call(question="How high?", follow_up_of=run_id), AIMessage("Done.")]))
    state = await create_agent(model, tools=[tool]).ainvoke(
        {"messages": [{"role": "user", "content": "Go."}]}
    )
    answer = state["messages"][-2]
    assert isinstance(answer, ToolMessage)
    assert [turn.run for turn in answer.artifact.thread] == [run_id]


async def test_what_goes_wrong_is_told_to_the_agent(researcher: DeepResearcher, tmp_path: Path) -> None:
    tool = fathom.as_tool(researcher, docs=[str(tmp_path / "nowhere")])
    told = await tool.ainvoke({"question": QUESTION})
    assert told == f"There is no folder or file {tmp_path / 'nowhere'}."
    assert "no run whose id begins" in await tool.ainvoke({"question": "Why?", "follow_up_of": "zz"})


def test_a_tool_never_waits_for_a_person(researcher: DeepResearcher) -> None:
    with pytest.raises(BadInput, match="review"):
        fathom.as_tool(researcher, review="plan")
    with pytest.raises(BadInput, match="rouns"):
        fathom.as_tool(researcher, rouns=1)

"""How many of our own frames stand between a node and the provider's client."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from fathom.llm.clients import model_clients
from fathom.llm.factory import make_research_model
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.state.model_io import PlanInput

MOST = 8  # with the node, which is called from the test's own frame here
PLAN = """{"strategy": "look", "kind": "fact", "perspectives": [], "hypotheses": [],
"questions": [{"id": "Q1", "text": "How high is it?", "needs": [], "perspective": ""}],
"queries": [{"question": "Q1", "text": "tower height", "family": "web"}]}"""


class Measured(BaseChatModel):
    """A chat model that notes who called it."""

    model: str = "measured"
    frames: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "measured"

    async def ainvoke(self, *given: Any, **words: Any) -> AIMessage:
        """Note the frames below: LangChain goes on in another task."""
        frame: FrameType | None = sys._getframe().f_back
        while frame:
            if f"{os.sep}fathom{os.sep}" in frame.f_code.co_filename:
                self.frames.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")
            frame = frame.f_back
        return await super().ainvoke(*given, **words)

    def _generate(self, *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(PLAN))])


@pytest.fixture(autouse=True)
async def clients() -> AsyncIterator[None]:
    async with model_clients():
        yield


async def test_few_of_our_frames_are_between_a_node_and_the_client(tmp_path: Path) -> None:
    model = Measured()
    settings = load_settings(home=tmp_path).with_chat_models(model)
    research = make_research_model(settings, RunConfig(context_tokens=8_192))
    thought = await research.plan(PlanInput("How high is the tower?", 1, 5))
    assert [query.text for query in thought.value.queries] == ["tower height"]
    first = model.frames[: model.frames.index("fallback.py:plan") + 1]
    print(f"{len(first)} frames of ours:", " < ".join(first))
    assert len(first) <= MOST - 1

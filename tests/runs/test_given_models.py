"""Chat models that Python gives to the facade: one for all roles, and others for single roles."""

from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from standins.model import Model
from standins.recorder import Recorder
from standins.replies import Reply
from standins.researcher import form_of, researcher
from standins.shelf import QUESTION, stocked

from fathom import DeepResearcher, ResearchRequest
from fathom.errors import BadInput
from fathom.llm.chat import Chat
from fathom.llm.clients import model_clients
from fathom.settings import load_settings
from fathom.storage import open_storage
from fathom.store import replies


def given(server: Model, name: str) -> ChatOpenAI:
    return ChatOpenAI(model=name, base_url=server.base_url, api_key=SecretStr("k"), max_retries=5)


def test_an_object_plays_every_role_but_those_of_others_in_one_event_loop_after_another(
    tmp_path: Path,
) -> None:
    docs = str(stocked(tmp_path / "shelf"))
    with Model(researcher) as large, Model(researcher) as small:
        one = DeepResearcher(
            load_settings(home=tmp_path),
            model=given(large, "large"),
            models={"verify": given(small, "small")},
        )
        results = [
            one.research_sync(ResearchRequest(query=f"{QUESTION} {n}", docs=[docs], max_rounds=1))
            for n in (1, 2)
        ]
        assert {form_of(request) for request in small.requests} == {"verify"}
        assert {request.model for request in large.requests} == {"large"}
        assert "verify" not in {form_of(request) for request in large.requests}
    assert [result.errors for result in results] == [[], []]


def test_a_role_nobody_plays_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="There is no role paint; the roles are plan, read"):
        DeepResearcher(load_settings(home=tmp_path), models={"paint": "gpt-4.1"})  # type: ignore[dict-item]


async def test_a_call_shows_in_traces_with_role_model_cost_and_reuse_also_when_it_is_reused(
    tmp_path: Path,
) -> None:
    recorder = Recorder()
    with Model(lambda _: Reply.say("Hello.")) as server:

        async def ask(_: str) -> str:
            memory = replies(open_storage(tmp_path / "fathom.sqlite"))
            for run in ("one", "other"):
                chat = Chat(given(server, "m"), server.base_url, memory.within(run))
                await chat.say("plan", [HumanMessage("Hello?")], {})
            return "done"

        async with model_clients():
            await RunnableLambda(ask).ainvoke("go", {"callbacks": [recorder]})
    calls = [run for run in recorder.ended if run.name == "plan call"]
    models = [run for run in recorder.ended if run.run_type in {"llm", "chat_model"}]
    assert [run.extra["metadata"]["is_reused"] for run in calls] == [False, True]
    assert {run.extra["metadata"]["role"] for run in [*calls, *models]} == {"plan"}
    assert {run.extra["metadata"]["model"] for run in [*calls, *models]} == {"m"}
    assert all(run.extra["metadata"]["cost_usd"] == 0.0 for run in calls)
    assert [run.parent_run_id for run in models] == [calls[0].id]
    assert (calls[1].outputs or {})["text"] == "Hello."

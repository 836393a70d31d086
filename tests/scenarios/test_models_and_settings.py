"""Chat models that Python gives to the facade: one for all roles, and others for single roles."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_openai import ChatOpenAI
from langgraph.types import Command
from pydantic import SecretStr
from standins.documents import QUESTION, stocked
from standins.model import Model
from standins.recorder import Recorder
from standins.replies import Reply
from standins.working_model import form_of, researcher

from fathom import DeepResearcher, ResearchRequest
from fathom.errors import BadInput
from fathom.graph import build_graph, standard_dependencies
from fathom.llm.chat import Chat
from fathom.llm.clients import model_clients
from fathom.settings import load_settings
from fathom.state import RunConfig
from fathom.storage import open_storage
from fathom.storage.checkpoints import checkpointer
from fathom.storage.content import Replies


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
            memory = Replies(open_storage(tmp_path / "fathom.sqlite"))
            for run in ("one", "other"):
                chat = Chat(given(server, "m"), server.base_url, memory.within(run))
                await chat.send("plan", [HumanMessage("Hello?")], {})
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


def said(**run_config: object) -> Any:
    """A context as a server passes it on."""
    return run_config


async def stored(state: Any) -> RunConfig:
    """The configuration that is kept for a run."""
    kept = await open_storage(load_settings().database).runs.config_of(state["run"])
    assert kept is not None
    return RunConfig.model_validate_json(kept)


async def test_a_graph_follows_the_file_and_a_context_beats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stocked(tmp_path / "shelf")
    (tmp_path / "fathom.toml").write_text(
        '[run]\ndocs = ["shelf"]\nrounds = 1\nsources = 1\nthreshold = 0.3\n'
    )
    graph = build_graph(standard_dependencies(load_settings()))
    given: Any = {"question": QUESTION}
    usual = await graph.ainvoke(given, context=said(depth="standard"))
    kept = await stored(usual)
    assert (len(usual["pages"]), kept.threshold, kept.depth) == (1, 0.3, "standard")
    spoken = await graph.ainvoke(given, context=said(sources=2))
    assert (len(spoken["pages"]), (await stored(spoken)).rounds) == (2, 1)


async def test_a_run_that_goes_on_does_not_follow_a_file_that_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stocked(tmp_path / "shelf")
    words = '[run]\ndocs = ["shelf"]\nrounds = 1\nreview = "plan"\n'
    (tmp_path / "fathom.toml").write_text(f"{words}sources = 1\n")
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"question": QUESTION}
    async with checkpointer(tmp_path / "kept.sqlite") as saver:
        waiting = await build_graph(standard_dependencies(load_settings()), saver).ainvoke(given, config)
        assert "__interrupt__" in waiting
        (tmp_path / "fathom.toml").write_text(f"{words}sources = 2\n")
        resumed: Any = Command(resume={"action": "approve"})
        ended = await build_graph(standard_dependencies(load_settings()), saver).ainvoke(resumed, config)
    assert (len(ended["pages"]), (await stored(ended)).sources) == (1, 1)

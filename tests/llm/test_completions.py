"""The short way to chat completions: the same on the wire and for those who watch as the long one."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import openai
import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import LLMResult
from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from standins.model import Model
from standins.replies import Reply

from fathom.llm.clients import here, unconnected
from fathom.llm.connections import connections
from fathom.llm.models import prompted_mind
from fathom.llm.outspoken import Outspoken
from fathom.settings import load_settings
from fathom.state import RunConfig

pytestmark = pytest.mark.wire

TALK = [SystemMessage("Be “brief”."), HumanMessage("Hello?"), AIMessage("Yes?"), HumanMessage("Who?")]
SCHEMA = {"name": "X", "strict": True, "schema": {"type": "object", "properties": {"a": {"type": "string"}}}}
FORM = {"response_format": {"type": "json_schema", "json_schema": SCHEMA}}
TOOL = {"type": "function", "function": {"name": "X", "description": "x", "parameters": SCHEMA["schema"]}}
TOOLS = {"tools": [TOOL], "tool_choice": {"type": "function", "function": {"name": "X"}}}


def client(model: Model) -> Outspoken:
    return Outspoken(
        model="stand-in",
        base_url=model.base_url,
        api_key=SecretStr("sk-mine"),
        max_retries=0,
        include_response_headers=True,
        max_completion_tokens=500,
    )


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(lambda _: Reply.give({"a": "b"})) as found:
        yield found


class Watcher(AsyncCallbackHandler):
    """What LangSmith and LangGraph's studio are told of a call."""

    def __init__(self) -> None:
        self.asked: list[list[list[BaseMessage]]] = []
        self.answered: list[LLMResult] = []
        self.failed: list[BaseException] = []

    async def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **_: Any,
    ) -> None:
        self.asked.append(messages)

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        self.answered.append(response)

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        self.failed.append(error)


@pytest.mark.parametrize("is_watched", [False, True], ids=["alone", "watched"])
@pytest.mark.parametrize("options", [{}, FORM, TOOLS, {"max_completion_tokens": 7}])
async def test_the_server_is_asked_the_same_as_by_langchain_itself(
    model: Model, options: dict[str, Any], is_watched: bool
) -> None:
    plain = client(model)
    long = await ChatOpenAI.ainvoke(plain, list(TALK), extra_body=options)
    async with connections():
        for _ in range(2):
            config: RunnableConfig = {"callbacks": [Watcher()] if is_watched else []}
            short = await (await here(plain)).ainvoke(list(TALK), config, extra_body=options)
    one, *others = model.calls
    apart = {"x-stainless-raw-response", "x-request-id", "idempotency-key"}
    for other in others:
        assert other.json == one.json
        assert {n: v for n, v in other.headers.items() if n not in apart} == {
            n: v for n, v in one.headers.items() if n not in apart
        }
    assert short.content == long.content
    assert [call["args"] for call in short.tool_calls] == [call["args"] for call in long.tool_calls]
    assert short.usage_metadata == long.usage_metadata
    assert short.additional_kwargs.keys() == long.additional_kwargs.keys()
    apart = {"headers", "token_usage", "id", "system_fingerprint"}
    assert short.response_metadata.keys() == long.response_metadata.keys()
    assert {n: v for n, v in short.response_metadata.items() if n not in apart} == {
        n: v for n, v in long.response_metadata.items() if n not in apart
    }
    assert short.response_metadata["headers"]["x-request-id"]


async def test_who_watches_is_told_what_was_asked_and_what_was_answered(model: Model) -> None:
    watcher = Watcher()
    async with connections():
        await (await here(client(model))).ainvoke(
            list(TALK), config={"callbacks": [watcher]}, extra_body=FORM
        )
    assert [[message.text for message in talk] for talk in watcher.asked[0]] == [[m.text for m in TALK]]
    (told,) = watcher.answered
    assert told.generations[0][0].text == '{"a": "b"}'
    assert told.llm_output is not None
    assert told.llm_output["token_usage"]["prompt_tokens"] > 0


async def test_who_watches_is_told_of_every_call_and_every_failure() -> None:
    answers = iter(
        [Reply.give({"a": "1"}), Reply.give({"a": "2"}), Reply.too_fast(), Reply.garbage(b"no JSON")]
    )
    watcher = Watcher()
    with Model(lambda _: next(answers)) as model:
        async with connections():
            own = await here(client(model))
            for _ in range(2):
                await own.ainvoke(list(TALK), config={"callbacks": [watcher]})
            for kind in (openai.RateLimitError, ValueError):
                with pytest.raises(kind):
                    await own.ainvoke(list(TALK), config={"callbacks": [watcher]})
    assert len(watcher.asked) == 4
    assert [told.generations[0][0].text for told in watcher.answered] == ['{"a": "1"}', '{"a": "2"}']
    assert [type(error).__name__ for error in watcher.failed] == ["RateLimitError", "Misshapen"]


async def test_a_refusal_is_told() -> None:
    with Model(lambda _: Reply.refuse("I will not.")) as model:
        async with connections():
            said = await (await here(client(model))).ainvoke(list(TALK), extra_body=FORM)
    assert said.additional_kwargs["refusal"] == "I will not."


async def test_an_answer_that_is_wanted_in_pieces_comes_in_pieces() -> None:
    with Model(lambda _: Reply.say("words " * 40)) as model:
        async with connections():
            own = await here(client(model))
            pieces = [piece.text async for piece in own.astream(list(TALK))]
    assert len([piece for piece in pieces if piece]) > 1
    assert "".join(pieces) == "words " * 40
    assert model.requests[0].is_streaming


@pytest.mark.parametrize("name", ["ALL_PROXY", "HTTP_PROXY"])
async def test_the_proxy_of_the_environment_is_asked(
    model: Model, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, model.url)
    plain = Outspoken(model="m", base_url="http://model.invalid/v1", api_key=SecretStr("none"), max_retries=0)
    async with connections():
        await (await here(plain)).ainvoke(list(TALK))
    assert [call.path for call in model.calls] == ["http://model.invalid/v1/chat/completions"]


@pytest.mark.parametrize("raw", [b"<html>Bad gateway</html>", b'"only words"', b"[1]", b'{"choices": null}'])
async def test_an_answer_of_another_shape_is_an_error(raw: bytes) -> None:
    with Model(lambda _: Reply.garbage(raw)) as model:
        async with connections():
            own = await here(client(model))
            with pytest.raises((ValueError, TypeError)):
                await own.ainvoke(list(TALK))


def test_clients_of_all_runs_are_made_with_the_same_certificates(model: Model, tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path, base_url=model.base_url, model="m", small_model="s")
    minds = [prompted_mind(settings, RunConfig()) for _ in range(2)]
    clients = [
        mind.first.ladders[role].chat.client  # type: ignore[attr-defined]
        for mind in minds
        for role in ("read", "write")
    ]
    assert len({id(client) for client in clients}) == 4
    assert {id(client.http_client) for client in clients} == {id(unconnected()[0])}
    assert {id(client.http_async_client) for client in clients} == {id(unconnected()[1])}


async def test_a_loop_has_one_client_of_a_model_until_its_work_ends(model: Model) -> None:
    plain = client(model)
    async with connections():
        first, *others = await asyncio.gather(*(here(plain) for _ in range(5)))
        assert all(other is first for other in [*others, await here(plain)])
        assert await here(client(model)) is not first
    async with connections():
        again = await here(plain)
        assert again is not first
        assert (await again.ainvoke(list(TALK))).text

"""The stand-ins speak as the real client libraries expect."""

import asyncio
import socket
from pathlib import Path
from typing import Literal

import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from fathom.text.token_count import count_tokens
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import Seen, asked_again, longest_chain, most_at_once

pytestmark = pytest.mark.wire

Method = Literal["json_schema", "function_calling", "json_mode"]


class Plan(BaseModel):
    queries: list[str]


def chat(model: Model, **settings: object) -> ChatOpenAI:
    return ChatOpenAI(
        base_url=model.base_url, api_key="sk-secret", model="stand-in", max_retries=0, **settings
    )


def plan(request: ModelRequest) -> Reply:
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["queries"]
    return Reply.give({"queries": [request.user_text, "조력 발전"]})


@pytest.mark.parametrize("method", ["json_schema", "function_calling", "json_mode"])
async def test_a_value_is_put_where_it_was_asked_for(method: Method) -> None:
    answer = plan if method != "json_mode" else lambda _: Reply.give({"queries": ["tides", "조력 발전"]})
    with Model(answer) as model:
        got = await chat(model).with_structured_output(Plan, method=method).ainvoke("tides")
    assert got == Plan(queries=["tides", "조력 발전"])


async def test_the_arguments_of_a_tool_call_can_be_streamed() -> None:
    with Model(plan) as model:
        steps = chat(model).with_structured_output(Plan, method="function_calling").astream("tides")
        assert [step async for step in steps][-1] == Plan(queries=["tides", "조력 발전"])


async def test_words_come_whole_or_in_pieces_with_their_usage() -> None:
    with Model(lambda request: Reply.say("하나 둘 셋 " * 20)) as model:
        whole = await chat(model).ainvoke("count")
        pieces = [piece async for piece in chat(model, stream_usage=True).astream("count")]
    assert whole.content == "".join(str(piece.content) for piece in pieces) == "하나 둘 셋 " * 20
    assert whole.usage_metadata is not None
    assert whole.usage_metadata["output_tokens"] == count_tokens("하나 둘 셋 " * 20 + "\n[]")
    assert [piece.usage_metadata for piece in pieces if piece.usage_metadata]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply.unsupported_format(), openai.BadRequestError),
        (Reply.wrong_key(), openai.AuthenticationError),
        (Reply.no_such_model(), openai.NotFoundError),
        (Reply.too_fast(2), openai.RateLimitError),
        (Reply.out_of_quota(), openai.RateLimitError),
        (Reply.broken(), openai.InternalServerError),
    ],
)
async def test_failures_have_the_form_the_client_knows(
    reply: Reply, error: type[openai.APIStatusError]
) -> None:
    with Model(lambda _: reply) as model:
        with pytest.raises(error) as caught:
            await chat(model).ainvoke("hello")
        assert caught.value.body == reply.error
        assert caught.value.response.headers.get("retry-after") == reply.headers.get("retry-after")


async def test_a_hanging_model_ends_with_its_caller_and_is_not_counted_as_answered() -> None:
    with Model(lambda _: Reply.hang()) as model:
        with pytest.raises(openai.APITimeoutError):
            await chat(model, timeout=0.1).ainvoke("hello")
        assert len(model.calls) == 1
        assert model.answered == []


async def test_who_leaves_during_the_delay_was_not_answered() -> None:
    with Model(lambda _: Reply.say("late").after(0.3)) as model:
        with pytest.raises(openai.APITimeoutError):
            await chat(model, timeout=0.1).ainvoke("hello")
        await asyncio.sleep(0.35)
        assert model.answered == []
        await chat(model).ainvoke("hello")
        assert asked_again(model.calls) == []
        await chat(model).ainvoke("hello")
        assert len(asked_again(model.calls)) == 1


async def test_calls_side_by_side_make_a_chain_of_one() -> None:
    with Model(lambda _: Reply.say("ok").after(0.1)) as model:
        await asyncio.gather(*(chat(model).ainvoke(str(n)) for n in range(8)))
        assert longest_chain(model.calls) == 1
        assert most_at_once(model.calls) == 8
        await chat(model).ainvoke("then")
        assert longest_chain(model.calls) == 2


def test_the_longest_chain_is_not_misled_by_long_calls() -> None:
    def call(arrived: float, answered: float | None) -> Seen:
        return Seen("POST", "/", {}, b"", arrived, 200, answered)

    assert longest_chain([]) == 0
    assert longest_chain([call(0, 10), call(1, 2), call(2, 3), call(4, None), call(5, 6)]) == 3


def no_scene(request: ModelRequest) -> Reply:
    raise KeyError("no such scene")


async def test_a_mistake_in_the_stand_in_is_raised_in_the_test() -> None:
    with pytest.raises(KeyError, match="no such scene"):
        async with Model(no_scene) as model:
            with pytest.raises(openai.APIConnectionError):
                await chat(model).ainvoke("hello")


async def test_nobody_leaves_this_machine(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="offline"), socket.socket() as sock:
        sock.connect(("192.0.2.1", 80))
    with pytest.raises(OSError, match="offline"):
        await asyncio.open_connection("example.org", 443)
    with pytest.raises(OSError, match="offline"), socket.socket() as sock:
        sock.connect_ex(("93.184.216.34", 80))
    with pytest.raises(FileNotFoundError), socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(tmp_path / "nobody"))

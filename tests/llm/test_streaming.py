"""Answers in pieces: where a stream fails, the whole is had, and nothing else is different."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from pydantic import SecretStr
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import Answer, Seen

from fathom.llm.chat import Chat
from fathom.llm.clients import model_clients
from fathom.llm.openai_compatible import CompatibleChatOpenAI
from fathom.llm.rate_limiter import ModelRetryPolicy, RateLimiter
from fathom.llm.roles.writer import prose_so_far
from fathom.storage import open_storage
from fathom.storage.content import Replies
from fathom.text.token_count import count_tokens_at_worst

pytestmark = pytest.mark.wire

HELLO = [HumanMessage("Hello?")]
LONG = "a long answer " * 20


@pytest.fixture(autouse=True)
async def clients() -> AsyncIterator[None]:
    """What a run does: close what was opened."""
    async with model_clients():
        yield


def chat(tmp_path: Path, base_url: str) -> Chat:
    client = CompatibleChatOpenAI(
        model="stand-in", base_url=base_url, api_key=SecretStr("none"), timeout=60, max_retries=0
    )
    memory = Replies(open_storage(tmp_path / "fathom.sqlite"))
    policy = ModelRetryPolicy(2, outage_s=0.5, first_wait_s=0.05, most_wait_s=0.2, greeting_s=0.1)
    return Chat(client, base_url, memory, RateLimiter(), policy, timeout_s=5.0)


class Unstreamed(Model):
    """A server that gives whole answers, whatever is asked for."""

    def answer_to(self, seen: Seen) -> Answer:
        if isinstance(seen.json, dict):
            seen.json["stream"] = False
        return super().answer_to(seen)


class Broken(Model):
    """A server whose streams end in the middle, without a word about it."""

    def answer_to(self, seen: Seen) -> Answer:
        answer = super().answer_to(seen)
        return replace(answer, pieces=[*answer.pieces][:3]) if answer.pieces else answer


@pytest.mark.parametrize("kind", [Unstreamed, Broken])
async def test_who_cannot_stream_is_asked_for_the_whole_and_from_then_on_at_once(
    kind: type[Model], tmp_path: Path
) -> None:
    with kind(lambda _: Reply.say(LONG)) as model:
        asked = chat(tmp_path, model.base_url)
        first = await asked.send("write", HELLO, {})
        assert len(model.calls) == 2
        second = await asked.send("write", [HumanMessage("And you?")], {})
        again = await asked.send("write", HELLO, {})
        assert len(model.calls) == 3
    assert first.text == second.text == again.text == LONG


async def test_who_takes_no_options_for_streams_is_asked_for_the_whole(tmp_path: Path) -> None:
    def answer(request: ModelRequest) -> Reply:
        refused = Reply._failed(400, "Unknown field stream_options.", "invalid_request_error", None)
        return refused if "stream_options" in request.body else Reply.say(LONG)

    with Model(answer) as model:
        assert (await chat(tmp_path, model.base_url).send("write", HELLO, {})).text == LONG


class Uncounted(Model):
    """A server that does not say how many tokens a stream took."""

    def answer_to(self, seen: Seen) -> Answer:
        if isinstance(seen.json, dict):
            seen.json.pop("stream_options", None)
        return super().answer_to(seen)


async def test_a_stream_without_usage_is_counted_by_its_words(tmp_path: Path) -> None:
    with Uncounted(lambda _: Reply.say(LONG)) as model:
        reply = await chat(tmp_path, model.base_url).send("write", HELLO, {})
    assert reply.cost.tokens_out == count_tokens_at_worst(LONG)
    assert reply.cost.tokens_in > 0


async def test_a_failed_stream_is_tried_again_and_an_answered_one_is_not_sent_again(tmp_path: Path) -> None:
    turns = [Reply.broken(), Reply.too_fast(wait_s=0.01), Reply.say(LONG)]
    with Model(lambda request: turns[request.number]) as model:
        asked = chat(tmp_path, model.base_url)
        first = await asked.send("write", HELLO, {})
        assert await asked.send("write", HELLO, {}) == first
        assert [request.is_streaming for request in model.requests] == [True] * 3
    assert first.text == LONG


@pytest.mark.parametrize(
    ("answer", "prose"),
    [
        ("", ""),
        ("<think>Which blocks", ""),
        ('{"blo', ""),
        ('{"blocks": [{"kind": "paragraph", "sentences": [{"text": "It is hi', "It is hi"),
        ('```json\n{"blocks": [{"sentences": [{"text": "One.", "claims": ["E1"]}, {"te', "One."),
        ('{"blocks": [{"sentences": [{"text": "One."}]}, {"sentences": [{"text": "Two', "One.\nTwo"),
        ('{"blocks": [{"rows": [{"cells": [{"text": "a"}, {"text": "b"}]}]}]}', "a | b"),
        ('{"sentences": [{"text": "Without blo', "Without blo"),
        ('{"title": "T", "summary": [{"text": "In short', "In short"),
        ('{"blocks": "none", "summary": 7', ""),
        ("[1, 2", ""),
    ],
)
def test_only_the_prose_of_an_answer_is_a_draft(answer: str, prose: str) -> None:
    assert prose_so_far(answer) == ("", prose)


def test_a_draft_is_the_part_that_is_being_written() -> None:
    first = '{"blocks": [{"part": "S1", "sentences": [{"text": "One."}]}'
    answer = first + ', {"part": "S2", "sentences": [{"text": "Tw'
    assert prose_so_far(answer) == ("S2", "Tw")

"""One turn with a model, through the real client, against a stand-in server."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from pydantic import SecretStr
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import Answer, Seen, StandIn, closed_port

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.llm.call_cost import TokenUsage
from fathom.llm.chat import CachedAnswer, Chat
from fathom.llm.clients import model_clients
from fathom.llm.errors import NotSupported, PromptTooLong
from fathom.llm.openai_compatible import CompatibleChatOpenAI
from fathom.llm.rate_limiter import ModelRetryPolicy, RateLimiter
from fathom.state.records import merge_records
from fathom.storage import open_storage
from fathom.storage.content import Replies

pytestmark = pytest.mark.wire

KEY = "sk-a-secret-that-must-not-leak-4711"
HELLO = [HumanMessage("Hello?")]


@pytest.fixture(autouse=True)
async def clients() -> AsyncIterator[None]:
    """What a run does: close what was opened."""
    async with model_clients():
        yield


def chat(tmp_path: Path, base_url: str, *, retries: int = 1, timeout_s: float = 5.0, run: str = "") -> Chat:
    client = CompatibleChatOpenAI(
        model="stand-in",
        base_url=base_url,
        api_key=SecretStr(KEY),
        timeout=60,
        max_retries=0,
        include_response_headers=True,
    )
    policy = ModelRetryPolicy(retries, outage_s=0.5, first_wait_s=0.05, most_wait_s=0.2, greeting_s=0.1)
    memory = Replies(open_storage(tmp_path / "fathom.sqlite")).within(run)
    return Chat(client, base_url, memory, RateLimiter(), policy, timeout_s)


def saying(*replies: Reply) -> Callable[[ModelRequest], Reply]:
    """The replies in turn, the last one for ever."""
    return lambda request: replies[min(request.number, len(replies) - 1)]


async def test_an_answer_comes_with_its_charge(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello."))) as model:
        reply = await chat(tmp_path, model.base_url).send("plan", HELLO, {})
    assert reply.text == "Hello."
    assert reply.cost.role == "plan"
    assert reply.cost.model == "stand-in"
    assert reply.cost.tokens_in > 0
    assert reply.cost.tokens_out > 0
    assert (reply.cost.usd, reply.cost.is_priced) == (0.0, True)


async def test_a_finished_turn_is_not_sent_again(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello."))) as model:
        first = await chat(tmp_path, model.base_url).send("plan", HELLO, {})
        again = await chat(tmp_path, model.base_url).send("plan", HELLO, {})
        assert len(model.calls) == 1
    assert again == first
    assert merge_records([first.cost], [again.cost]) == [first.cost]


async def test_what_another_run_was_answered_is_free_and_said_to_be_saved(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello."))) as model:
        first = await chat(tmp_path, model.base_url, run="one").send("plan", HELLO, {})
        other = await chat(tmp_path, model.base_url, run="other").send("plan", HELLO, {})
        resumed = await chat(tmp_path, model.base_url, run="one").send("plan", HELLO, {})
        assert len(model.calls) == 1
    assert resumed == first
    assert not first.cost.is_reused
    assert other.cost.is_reused
    assert other.text == first.text
    assert other.cost.usd == 0.0


async def test_who_asks_the_same_at_the_same_time_is_answered_by_one_call(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello.").after(0.2))) as model:
        asked = chat(tmp_path, model.base_url)
        replies = await asyncio.gather(*(asked.send("plan", HELLO, {}) for _ in range(5)))
        assert len(model.calls) == 1
    assert len(set(map(str, replies))) == 1


async def test_who_waited_for_another_ones_call_asks_when_that_one_is_cancelled(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello.").after(0.2))) as model:
        asked = chat(tmp_path, model.base_url)
        first, second = (asyncio.create_task(asked.send("plan", HELLO, {})) for _ in range(2))
        async with asyncio.timeout(10):
            while not model.calls:  # noqa: ASYNC110 - the server lives in a thread
                await asyncio.sleep(0.01)
        first.cancel()
        assert (await second).text == "Hello."
        assert len(model.calls) == 2


async def test_the_same_model_on_another_server_is_another_one(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello."))) as one, Model(saying(Reply.say("Good day."))) as other:
        assert (await chat(tmp_path, one.base_url).send("plan", HELLO, {})).text == "Hello."
        assert (await chat(tmp_path, other.base_url).send("plan", HELLO, {})).text == "Good day."


async def test_a_server_that_says_it_is_full_is_given_its_time(tmp_path: Path) -> None:
    full = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "400ms"}
    with Model(saying(replace(Reply.say("Hello."), headers=full))) as model:
        asked = chat(tmp_path, model.base_url)
        await asked.send("plan", HELLO, {})
        await asked.send("plan", [HumanMessage("And now?")], {})
        first, second = model.calls
    assert first.answered is not None
    assert second.arrived - first.answered >= 0.35


class Dripping(StandIn):
    """Sends a byte now and then, so that no single one is late."""

    def answer_to(self, seen: Seen) -> Answer:
        return Answer(200, {"content-type": "application/json"}, pieces=self._drops())

    def _drops(self) -> Iterator[bytes]:
        for _ in range(40):
            time.sleep(0.05)
            yield b" "


async def test_a_server_that_drips_is_cut_off_all_the_same(tmp_path: Path) -> None:
    with Dripping() as server, pytest.raises(Unavailable, match="did not answer in time"):
        await chat(tmp_path, f"{server.url}/v1", retries=0, timeout_s=0.3).send("plan", HELLO, {})


async def test_another_question_or_another_form_is_another_turn(tmp_path: Path) -> None:
    with Model(saying(Reply.say("{}"))) as model:
        asked = chat(tmp_path, model.base_url)
        first = await asked.send("plan", HELLO, {})
        other = await asked.send("plan", [HumanMessage("Hello!")], {})
        formed = await asked.send("plan", HELLO, {"response_format": {"type": "json_object"}})
        assert len(model.calls) == 3
    assert len({first.cost.key, other.cost.key, formed.cost.key}) == 3


async def test_a_failed_turn_is_sent_again(tmp_path: Path) -> None:
    with Model(saying(Reply.wrong_key(), Reply.say("Hello."))) as model:
        asked = chat(tmp_path, model.base_url)
        with pytest.raises(Refused):
            await asked.send("plan", HELLO, {})
        assert (await asked.send("plan", HELLO, {})).text == "Hello."


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Reply.wrong_key(), Refused, "check OPENAI_API_KEY"),
        (Reply._failed(403, "no", "denied", None), Refused, "check OPENAI_API_KEY"),
        (Reply.no_such_model("stand-in"), Refused, "check the model's name"),
        (Reply.out_of_quota(), Refused, "quota"),
        (Reply._failed(402, "Insufficient Balance", "unknown_error", None), Refused, "account is empty"),
        (Reply.too_fast(wait_s=0.01), Unavailable, "429"),
        (Reply.broken(500), Unavailable, "500"),
        (Reply.broken(503), Unavailable, "503"),
        (Reply.unsupported_format(), NotSupported, "did not take the request"),
        (Reply.too_long(), PromptTooLong, "maximum context length"),
        (Reply.garbage(), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": []}'), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": null}'), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": [{}]}'), Unreadable, "no known format"),
        (Reply.garbage(b'"hello"'), Unreadable, "no known format"),
        (Reply.garbage(b"null"), Unreadable, "no known format"),
        (Reply.garbage(b'{"hello": "world"}'), Unreadable, "no known format"),
        (Reply.garbage(b"[1, 2"), Unreadable, "no known format"),
        (Reply.garbage(b""), Unreadable, "no known format"),
        (Reply.garbage(b"[" * 100_000), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": [1]}'), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": [{"message": "hello"}]}'), Unreadable, "no known format"),
        (Reply.garbage(b'{"error": {"message": "overloaded", "code": 7}}'), Unreadable, "overloaded"),
    ],
)
async def test_a_failure_is_told_by_who_can_act(
    tmp_path: Path, reply: Reply, error: type[ProviderError], words: str
) -> None:
    with Model(saying(reply)) as model, pytest.raises(error, match=words) as caught:
        await chat(tmp_path, model.base_url).send("plan", HELLO, {})
    assert type(caught.value) is error
    assert KEY not in str(caught.value)


async def test_an_answer_longer_than_any_is_not_taken_in(tmp_path: Path) -> None:
    with Model(saying(Reply.garbage(b"[" + b"1," * 25_000_000))) as model:
        began = time.monotonic()
        with pytest.raises(Unreadable, match=r"it is longer than 16,777,216 bytes"):
            await chat(tmp_path, model.base_url, timeout_s=60.0).send("plan", HELLO, {})
        assert len(model.calls) == 1
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("body", ['{"a": "\\ud800 and on"}', '{"a": "\\ud83d\\ude00 and on"}'])
async def test_halves_of_characters_do_not_get_any_further(tmp_path: Path, body: str) -> None:
    said = json.loads(body)["a"]
    content = json.dumps({"choices": [{"message": {"content": said, "reasoning": said}}]})
    with Model(saying(Reply.garbage(content.encode()))) as model:
        reply = await chat(tmp_path, model.base_url).send("plan", HELLO, {})
    assert reply.text.encode().decode() in {"\ufffd and on", "\U0001f600 and on"}


async def test_what_is_unavailable_is_tried_again_and_what_is_refused_is_not(tmp_path: Path) -> None:
    with Model(saying(Reply.broken(), Reply.broken(), Reply.say("Hello."))) as model:
        assert (await chat(tmp_path, model.base_url, retries=2).send("plan", HELLO, {})).text == "Hello."
        assert len(model.calls) == 3
    with Model(saying(Reply.wrong_key())) as model:
        with pytest.raises(Refused):
            await chat(tmp_path, model.base_url, retries=2).send("plan", HELLO, {})
        assert len(model.calls) == 1


async def test_a_limit_is_waited_out_for_as_long_as_the_server_says(tmp_path: Path) -> None:
    with Model(saying(Reply.too_fast(wait_s=0.4), Reply.say("Hello."))) as model:
        began = time.monotonic()
        patient = replace(chat(tmp_path, model.base_url), retry_policy=ModelRetryPolicy(1, outage_s=60.0))
        reply = await patient.send("plan", HELLO, {})
        assert time.monotonic() - began >= 0.4
        assert len(model.calls) == 2
    assert reply.text == "Hello."


async def test_nobody_at_the_address_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        await chat(tmp_path, f"http://127.0.0.1:{closed_port()}/v1", retries=0).send("plan", HELLO, {})


async def test_no_answer_in_time_is_unavailable(tmp_path: Path) -> None:
    with Model(saying(Reply.hang())) as model, pytest.raises(Unavailable, match="did not answer in time"):
        await chat(tmp_path, model.base_url, retries=0, timeout_s=0.3).send("plan", HELLO, {})


@pytest.mark.parametrize("reply", [Reply.say(""), Reply.refuse()])
async def test_an_empty_answer_and_a_refusal_are_no_words(tmp_path: Path, reply: Reply) -> None:
    with Model(saying(reply)) as model:
        assert (await chat(tmp_path, model.base_url).send("plan", HELLO, {})).text == ""


async def test_a_cut_off_answer_comes_back_as_far_as_it_got(tmp_path: Path) -> None:
    with Model(saying(Reply.cut('{"claims": ['))) as model:
        assert (await chat(tmp_path, model.base_url).send("read", HELLO, {})).text == '{"claims": ['


@pytest.mark.sqlite
async def test_the_key_goes_to_the_server_and_nowhere_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    echoing = Reply._failed(400, f"Bad request with Bearer {KEY}", "invalid_request_error", None)
    with Model(saying(Reply.say("Hello."), Reply.broken(), Reply.wrong_key(), echoing)) as model:
        asked = chat(tmp_path, model.base_url, retries=0)
        assert (await asked.send("plan", HELLO, {})).text == "Hello."
        told = []
        for n in range(3):
            with pytest.raises(ProviderError) as caught:
                await asked.send("plan", [HumanMessage(f"And {n}?")], {})
            told.append(str(caught.value))
        assert model.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "\n".join(told)
    assert KEY not in repr(asked)
    assert KEY not in "\n".join(record.getMessage() for record in caplog.records)
    assert KEY not in "".join(capfd.readouterr())
    assert KEY.encode() not in (tmp_path / "fathom.sqlite").read_bytes()


async def test_a_mistake_of_ours_is_not_told_as_an_answer_in_no_known_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fathom.llm.openai_compatible._FIELDS", None)  # so that our own code stumbles
    with Model(saying(Reply.say("Hello."))) as model, pytest.raises(TypeError):
        await chat(tmp_path, model.base_url).send("plan", HELLO, {})


def test_a_cached_answer_is_read_as_it_was_written_whatever_its_fields_become() -> None:
    usage = TokenUsage(900, 30, 5, 7, 800, 20, 3, 0.5)
    answer = CachedAnswer("Hello.", usage, is_cut=True)
    assert CachedAnswer.read(answer.to_json()) == answer
    stored = json.loads(answer.to_json())
    del stored["usage"]["price_factor"]
    stored["usage"]["from_a_later_version"] = 1
    assert CachedAnswer.read(json.dumps(stored)).usage == usage._replace(price_factor=1.0)


@pytest.mark.parametrize("is_cut", [True, False])
def test_an_answer_that_an_earlier_version_cached_as_a_list_is_still_read(is_cut: bool) -> None:
    usage = TokenUsage(900, 30, 5, 7, 800, 20, 3, 0.5)
    assert CachedAnswer.read(json.dumps(["Hello.", *usage, is_cut])) == CachedAnswer("Hello.", usage, is_cut)

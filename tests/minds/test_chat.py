"""One turn with a model, through the real client, against a stand-in server."""

import logging
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from pydantic import SecretStr
from standins.model import Model, ModelRequest
from standins.replies import Reply
from standins.server import closed_port

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.minds.chat import Chat, NotSupported
from fathom.state.reducers import merged
from fathom.store import calls

KEY = "sk-a-secret-that-must-not-leak-4711"
HELLO = [HumanMessage("Hello?")]


def chat(tmp_path: Path, base_url: str, *, retries: int = 1, timeout_s: float = 5.0) -> Chat:
    client = ChatOpenAI(
        model="stand-in", base_url=base_url, api_key=SecretStr(KEY), timeout=timeout_s, max_retries=retries
    )
    return Chat(client, base_url, calls(tmp_path / "fathom.sqlite"))


def saying(*replies: Reply) -> Callable[[ModelRequest], Reply]:
    """The replies in turn, the last one for ever."""
    return lambda request: replies[min(request.number, len(replies) - 1)]


async def test_an_answer_comes_with_its_charge(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello."))) as model:
        reply = await chat(tmp_path, model.base_url).say("plan", HELLO, {})
    assert reply.text == "Hello."
    assert reply.charge.role == "plan"
    assert reply.charge.model == "stand-in"
    assert reply.charge.tokens_in > 0
    assert reply.charge.tokens_out > 0
    assert (reply.charge.usd, reply.charge.is_priced) == (0.0, True)


async def test_a_finished_turn_is_not_sent_again(tmp_path: Path) -> None:
    with Model(saying(Reply.say("Hello."))) as model:
        first = await chat(tmp_path, model.base_url).say("plan", HELLO, {})
        again = await chat(tmp_path, model.base_url).say("plan", HELLO, {})
        assert len(model.calls) == 1
    assert again == first
    assert merged([first.charge], [again.charge]) == [first.charge]


async def test_another_question_or_another_form_is_another_turn(tmp_path: Path) -> None:
    with Model(saying(Reply.say("{}"))) as model:
        asked = chat(tmp_path, model.base_url)
        first = await asked.say("plan", HELLO, {})
        other = await asked.say("plan", [HumanMessage("Hello!")], {})
        formed = await asked.say("plan", HELLO, {"response_format": {"type": "json_object"}})
        assert len(model.calls) == 3
    assert len({first.charge.key, other.charge.key, formed.charge.key}) == 3


async def test_a_failed_turn_is_sent_again(tmp_path: Path) -> None:
    with Model(saying(Reply.wrong_key(), Reply.say("Hello."))) as model:
        asked = chat(tmp_path, model.base_url)
        with pytest.raises(Refused):
            await asked.say("plan", HELLO, {})
        assert (await asked.say("plan", HELLO, {})).text == "Hello."


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Reply.wrong_key(), Refused, "check OPENAI_API_KEY"),
        (Reply._failed(403, "no", "denied", None), Refused, "check OPENAI_API_KEY"),
        (Reply.no_such_model("stand-in"), Refused, "check the model's name"),
        (Reply.out_of_quota(), Refused, "quota"),
        (Reply.too_fast(wait_s=0.01), Unavailable, "429"),
        (Reply.broken(500), Unavailable, "500"),
        (Reply.broken(503), Unavailable, "503"),
        (Reply.unsupported_format(), NotSupported, "did not take the request"),
        (Reply.too_long(), NotSupported, "maximum context length"),
        (Reply.garbage(), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": []}'), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": null}'), Unreadable, "no known format"),
        (Reply.garbage(b'{"choices": [{}]}'), Unreadable, "no known format"),
        (Reply.garbage(b'"hello"'), Unreadable, "no known format"),
        (Reply.garbage(b"null"), Unreadable, "no known format"),
        (Reply.garbage(b'{"hello": "world"}'), Unreadable, "no known format"),
        (Reply.garbage(b"[1, 2"), Unreadable, "no known format"),
        (Reply.garbage(b""), Unreadable, "no known format"),
    ],
)
async def test_a_failure_is_told_by_who_can_act(
    tmp_path: Path, reply: Reply, error: type[ProviderError], words: str
) -> None:
    with Model(saying(reply)) as model, pytest.raises(error, match=words) as caught:
        await chat(tmp_path, model.base_url).say("plan", HELLO, {})
    assert type(caught.value) is error
    assert KEY not in str(caught.value)


async def test_what_is_unavailable_is_tried_again_and_what_is_refused_is_not(tmp_path: Path) -> None:
    with Model(saying(Reply.broken())) as model:
        with pytest.raises(Unavailable):
            await chat(tmp_path, model.base_url, retries=2).say("plan", HELLO, {})
        assert len(model.calls) == 3
    with Model(saying(Reply.wrong_key())) as model:
        with pytest.raises(Refused):
            await chat(tmp_path, model.base_url, retries=2).say("plan", HELLO, {})
        assert len(model.calls) == 1


async def test_a_limit_is_waited_out_for_as_long_as_the_server_says(tmp_path: Path) -> None:
    with Model(saying(Reply.too_fast(wait_s=0.7), Reply.say("Hello."))) as model:
        began = time.monotonic()
        reply = await chat(tmp_path, model.base_url).say("plan", HELLO, {})
        assert time.monotonic() - began >= 0.7
        assert len(model.calls) == 2
    assert reply.text == "Hello."


async def test_nobody_at_the_address_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be reached"):
        await chat(tmp_path, f"http://127.0.0.1:{closed_port()}/v1", retries=0).say("plan", HELLO, {})


async def test_no_answer_in_time_is_unavailable(tmp_path: Path) -> None:
    with Model(saying(Reply.hang())) as model, pytest.raises(Unavailable, match="did not answer in time"):
        await chat(tmp_path, model.base_url, retries=0, timeout_s=0.3).say("plan", HELLO, {})


@pytest.mark.parametrize("reply", [Reply.say(""), Reply.refuse()])
async def test_an_empty_answer_and_a_refusal_are_no_words(tmp_path: Path, reply: Reply) -> None:
    with Model(saying(reply)) as model:
        assert (await chat(tmp_path, model.base_url).say("plan", HELLO, {})).text == ""


async def test_a_cut_off_answer_comes_back_as_far_as_it_got(tmp_path: Path) -> None:
    with Model(saying(Reply.cut('{"claims": ['))) as model:
        assert (await chat(tmp_path, model.base_url).say("read", HELLO, {})).text == '{"claims": ['


async def test_the_key_goes_to_the_server_and_nowhere_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    echoing = Reply._failed(400, f"Bad request with Bearer {KEY}", "invalid_request_error", None)
    with Model(saying(Reply.say("Hello."), Reply.broken(), Reply.wrong_key(), echoing)) as model:
        asked = chat(tmp_path, model.base_url, retries=0)
        assert (await asked.say("plan", HELLO, {})).text == "Hello."
        told = []
        for n in range(3):
            with pytest.raises(ProviderError) as caught:
                await asked.say("plan", [HumanMessage(f"And {n}?")], {})
            told.append(str(caught.value))
        assert model.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "\n".join(told)
    assert KEY not in repr(asked)
    assert KEY not in "\n".join(record.getMessage() for record in caplog.records)
    assert KEY not in "".join(capfd.readouterr())
    assert KEY.encode() not in (tmp_path / "fathom.sqlite").read_bytes()

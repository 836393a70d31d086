"""Every provider's real package against a stand-in that speaks its wire format: all four behave alike."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel
from standins.model import Model
from standins.replies import Reply
from standins.server import closed_port
from standins.vendors import CACHED, THOUGHT, TOKENS_IN, TOKENS_OUT, Anthropic, Google, Ollama

from fathom.budget import Budget
from fathom.errors import BadInput, ProviderError, Refused, Unavailable, Unreachable, Unreadable
from fathom.llm import choose_research_model
from fathom.llm.chat import Chat
from fathom.llm.clients import client_for_loop, model_clients
from fathom.llm.errors import NotSupported, PromptTooLong
from fathom.llm.factory import make_chat_model, make_research_model, model_identity
from fathom.llm.fallback import FallbackModel
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.prompt_budget import ContextWindow
from fathom.llm.rate_limiter import ModelRetryPolicy, RateLimiter
from fathom.llm.structured_output import StructuredOutput
from fathom.prompts import FilledPrompt
from fathom.settings import Settings, load_settings
from fathom.settings.model_names import PROVIDERS, split_name
from fathom.state import Role, RunConfig
from fathom.storage import open_storage
from fathom.storage.content import Replies

pytestmark = pytest.mark.wire

KEY = "sk-a-secret-that-must-not-leak-4711"
HELLO = [HumanMessage("Hello?")]
PROMPT = FilledPrompt("planner@1", "You name a city.", "Which city has the deepest harbour?")
ROTTERDAM = {"name": "Rotterdam", "depth_m": 24}
NAMES = {
    "openai": "openai:gpt-4.1-mini",
    "anthropic": "anthropic:claude-sonnet-4-6",
    "google_genai": "google_genai:gemini-2.5-flash",
    "ollama": "ollama:qwen3",
}
SERVERS: dict[str, Any] = {"openai": Model, "anthropic": Anthropic, "google_genai": Google, "ollama": Ollama}
KEYED = ["openai", "anthropic", "google_genai"]
every = pytest.mark.parametrize("provider", [*NAMES])
whole_or_streamed = pytest.mark.parametrize("role", ["plan", "write"])


class City(BaseModel):
    """A city and how deep its harbour is."""

    name: str
    depth_m: int


@pytest.fixture(autouse=True)
async def clients() -> AsyncIterator[None]:
    """What a run does: close what was opened."""
    async with model_clients():
        yield


def settings_for(provider: str, url: str, home: Path, **more: Any) -> Settings:
    urls = {"openai": {"base_url": f"{url}/v1"}, "anthropic": {"anthropic_url": url},
            "google_genai": {"gemini_url": url}, "ollama": {"ollama_url": url}}  # fmt: skip
    keys = {"openai_api_key": KEY, "anthropic_api_key": KEY, "gemini_api_key": KEY}
    return load_settings(**{"home": home, **keys, **urls[provider], **more})


def chat(provider: str, url: str, home: Path, *, retries: int = 0, timeout_s: float = 20.0) -> Chat:
    settings = settings_for(provider, url, home)
    client = make_chat_model(settings, NAMES[provider], 777)
    policy = ModelRetryPolicy(retries, outage_s=0.5, first_wait_s=0.05, most_wait_s=0.2, greeting_s=0.1)
    memory = Replies(open_storage(home / "fathom.sqlite"))
    server = settings.server_of(NAMES[provider])
    return Chat(client, server, memory, RateLimiter(), policy, timeout_s, full_name=NAMES[provider])


def saying(*turns: Reply) -> Callable[[Any], Reply]:
    return lambda request: turns[min(request.number, len(turns) - 1)]


@every
@whole_or_streamed
async def test_an_answer_comes_with_its_tokens(provider: str, role: Role, tmp_path: Path) -> None:
    with SERVERS[provider](saying(Reply.say("Hello."))) as server:
        reply = await chat(provider, server.url, tmp_path).send(role, HELLO, {})
        again = await chat(provider, server.url, tmp_path).send(role, HELLO, {})
        assert len(server.calls) == 1
    assert reply.text == again.text == "Hello."
    assert reply.cost.model == NAMES[provider]
    if provider != "openai":
        assert (reply.cost.tokens_in, reply.cost.tokens_out) == (TOKENS_IN, TOKENS_OUT)
    if provider in {"anthropic", "google_genai"}:
        assert reply.cost.tokens_cached == CACHED
    if provider == "google_genai":
        assert reply.cost.tokens_reasoning == THOUGHT


def refusing(*kinds: str) -> Callable[[Any], Reply]:
    """A server that does not take schemas, or tools."""

    def answer(request: Any) -> Reply:
        kind = "tool" if request.tool else "schema" if request.schema else "words"
        refused = Reply._failed(400, f"No {kind} here.", "invalid_request_error", None)
        return refused if kind in kinds else Reply.give(ROTTERDAM)

    return answer


@every
@pytest.mark.parametrize("absent", [(), ("schema",), ("schema", "tool")])
async def test_a_form_is_had_by_schema_by_tool_or_in_words(
    provider: str, absent: tuple[str, ...], tmp_path: Path
) -> None:
    with SERVERS[provider](refusing(*absent)) as server:
        output = StructuredOutput(chat(provider, server.url, tmp_path), ContextWindow(8_192))
        found = await output.ask("plan", PROMPT, City)
        assert len(server.calls) == len(absent) + 1
        asked = server.requests[0].schema
    assert found.form == City(name="Rotterdam", depth_m=24)
    assert [cost.strategy for cost in found.costs] == [("schema", "tool", "words")[len(absent)]]
    assert asked is not None
    assert set(asked["properties"]) == {"name", "depth_m"}


@every
async def test_a_broken_answer_is_repaired(provider: str, tmp_path: Path) -> None:
    turns = [Reply.say("Sorry?")] * 3 + [
        Reply.give(ROTTERDAM),
        Reply.say('{"name": "Rotterdam", "depth_m": 24}'),
    ]
    with SERVERS[provider](saying(*turns)) as server:
        output = StructuredOutput(chat(provider, server.url, tmp_path), ContextWindow(8_192))
        found = await output.ask("plan", PROMPT, City)
    assert found.form.depth_m == 24
    assert found.costs[-1].strategy == "repair"


@every
@whole_or_streamed
async def test_one_refusal_for_the_rate_is_one_request_and_says_how_long_to_wait(
    provider: str, role: Role, tmp_path: Path
) -> None:
    with SERVERS[provider](saying(Reply.too_fast(wait_s=2))) as server:
        with pytest.raises(Unavailable, match="429") as caught:
            await chat(provider, server.url, tmp_path).send(role, HELLO, {})
        assert len(server.calls) == 1
    assert (caught.value.status, type(caught.value)) == (429, Unavailable)
    if provider != "ollama":  # whose client keeps no headers
        assert caught.value.wait_s == 2


OVERFLOWS = {
    "openai": ("This model's maximum context length is 8192 tokens. However, you sent 9001.", 8192),
    "anthropic": ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
    "google_genai": (
        "The input token count (9001) exceeds the maximum number of tokens allowed (8192).", 8192),
    "ollama": ("the input length exceeds the context length", None),
}  # fmt: skip


@every
@whole_or_streamed
async def test_more_than_it_holds_is_told_with_the_size(provider: str, role: Role, tmp_path: Path) -> None:
    words, size = OVERFLOWS[provider]
    reply = Reply._failed(400, words, "invalid_request_error", None)
    with SERVERS[provider](saying(reply)) as server, pytest.raises(PromptTooLong) as caught:
        await chat(provider, server.url, tmp_path).send(role, HELLO, {})
    assert caught.value.size == size


FAILURES: list[tuple[Reply, type[ProviderError]]] = [
    (Reply._failed(401, f"bad key {KEY}", "authentication_error", None), Refused),
    (Reply._failed(404, "no such model", "not_found_error", None), Refused),
    (Reply._failed(400, f"odd request with {KEY}", "invalid_request_error", None), NotSupported),
    (Reply.broken(500), Unavailable),
    (Reply.broken(503), Unavailable),
    (Reply.broken(529), Unavailable),
]


@every
@whole_or_streamed
@pytest.mark.parametrize(("reply", "kind"), FAILURES, ids=lambda it: getattr(it, "status", None))
async def test_a_failure_is_told_by_who_can_act_and_without_the_key(
    provider: str, role: Role, reply: Reply, kind: type[ProviderError], tmp_path: Path
) -> None:
    with SERVERS[provider](saying(reply)) as server, pytest.raises(kind) as caught:
        await chat(provider, server.url, tmp_path).send(role, HELLO, {})
    assert type(caught.value) is kind
    # Who does not take a request may not take one for a stream: it is asked once more, for the whole.
    assert len(server.calls) == (2 if role == "write" and kind is NotSupported else 1)
    if provider in KEYED:
        assert KEY not in str(caught.value)


@every
@whole_or_streamed
@pytest.mark.parametrize("raw", [b"<html>Bad gateway</html>", b"{", b"[1]", b"null"])
async def test_an_answer_of_another_shape_is_unreadable(
    provider: str, role: Role, raw: bytes, tmp_path: Path
) -> None:
    with SERVERS[provider](saying(Reply.garbage(raw))) as server:
        asked = chat(provider, server.url, tmp_path)
        if provider == "google_genai" and raw in {b"[1]", b"null"}:  # which its client takes for an empty one
            assert (await asked.send(role, HELLO, {})).text == ""
            return
        with pytest.raises(Unreadable):
            await asked.send(role, HELLO, {})


@every
@whole_or_streamed
async def test_nobody_there_is_unreachable_and_costs_nothing(
    provider: str, role: Role, tmp_path: Path
) -> None:
    budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 1.0, 0.15)
    asked = chat(provider, f"http://127.0.0.1:{closed_port()}", tmp_path).within(budget)
    with pytest.raises(Unreachable, match="cannot be reached"):
        await asked.send(role, HELLO, {})
    assert (await budget.account()).usd == 0.0


@every
@whole_or_streamed
async def test_no_answer_in_time_is_unavailable(provider: str, role: Role, tmp_path: Path) -> None:
    with SERVERS[provider](saying(Reply.hang())) as server, pytest.raises(Unavailable, match="in time"):
        await chat(provider, server.url, tmp_path, timeout_s=1.0).send(role, HELLO, {})


@every
@whole_or_streamed
async def test_a_refusal_of_the_model_is_no_words(provider: str, role: Role, tmp_path: Path) -> None:
    with SERVERS[provider](saying(Reply.refuse())) as server:
        assert (await chat(provider, server.url, tmp_path).send(role, HELLO, {})).text == ""


@every
@whole_or_streamed
async def test_a_cut_off_answer_comes_back_as_far_as_it_got(
    provider: str, role: Role, tmp_path: Path
) -> None:
    with SERVERS[provider](saying(Reply.cut('{"claims": ['))) as server:
        asked = chat(provider, server.url, tmp_path)
        assert (await asked.send(role, HELLO, {"max_completion_tokens": 5})).text == '{"claims": ['
        request = server.requests[0]
    limit = request.body["max_completion_tokens"] if provider == "openai" else request.limit
    assert limit == 5


@every
async def test_an_answer_comes_in_pieces_for_those_who_watch(provider: str, tmp_path: Path) -> None:
    with SERVERS[provider](saying(Reply.say("a long answer " * 5))) as server:
        client = await client_for_loop(chat(provider, server.url, tmp_path).client)
        pieces = [piece.text async for piece in client.astream(HELLO)]
        assert server.requests[0].is_streaming
    assert len([piece for piece in pieces if piece]) > 1
    assert "".join(pieces) == "a long answer " * 5


class Tokens(AsyncCallbackHandler):
    """Whoever listens to the tokens of models."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_: Any) -> None:
        """Remember the words, and those of tool calls."""
        said = [chunk.message.text, *(part["args"] for part in chunk.message.tool_call_chunks)]
        self.heard += [words for words in said if words]


@every
@pytest.mark.parametrize("absent", [(), ("schema",), ("schema", "tool")])
async def test_callbacks_hear_what_is_written_and_forms_come_whole(
    provider: str, absent: tuple[str, ...], tmp_path: Path
) -> None:
    with SERVERS[provider](refusing(*absent)) as server:
        output = StructuredOutput(chat(provider, server.url, tmp_path), ContextWindow(8_192))

        async def ask(role: Role) -> Any:
            return await output.ask(role, replace(PROMPT, id=f"{role}@1", user=role), City)

        silence, heard = Tokens(), Tokens()
        planned = await RunnableLambda(ask).ainvoke("plan", {"callbacks": [silence]})
        if provider != "ollama":  # whose package always streams
            assert not any(request.is_streaming for request in server.requests)
            assert not silence.heard
        written = await RunnableLambda(ask).ainvoke("write", {"callbacks": [heard]})
        assert server.requests[-1].is_streaming
    assert written.form == planned.form == City(**ROTTERDAM)
    assert "Rotterdam" in "".join(heard.heard)
    assert [c.tokens_out for c in written.costs] == [c.tokens_out for c in planned.costs]


@every
def test_two_event_loops_in_turn_both_get_answers(provider: str, tmp_path: Path) -> None:
    with SERVERS[provider](saying(Reply.say("Hello."))) as server:
        asked = chat(provider, server.url, tmp_path)

        async def once(words: str) -> str:
            async with model_clients():
                return (await asked.send("plan", [HumanMessage(words)], {})).text

        assert [asyncio.run(once(words)) for words in ("one", "two")] == ["Hello."] * 2


@every
async def test_a_whole_model_is_made_from_a_name_and_a_role_is_tuned(provider: str, tmp_path: Path) -> None:
    with SERVERS[provider](saying(Reply.give({"verdicts": []}))) as server:
        own = settings_for(
            provider, server.url, tmp_path, temperatures={"verify": 0.5}, reasoning_efforts={"verify": "low"}
        )
        made = make_research_model(own, RunConfig(model=NAMES[provider], context_tokens=8_192))
        assert isinstance(made, FallbackModel)
        assert isinstance(made.first, LLMResearchModel)
        output = made.first.outputs_by_role["verify"]
        await output.chat.send("verify", HELLO, {})
        await output.chat.send("read", HELLO, {})
        tuned, plain = [str(request.body) for request in server.requests]
    assert "0.5" in tuned
    assert "0.5" not in plain
    assert "low" in tuned.lower()


def test_a_reasoning_model_has_room_to_think_beside_its_answer(tmp_path: Path) -> None:
    def room(model: str, **more: Any) -> tuple[int, int]:
        own = load_settings(home=tmp_path, openai_api_key=KEY, anthropic_api_key=KEY, **more)
        made: Any = make_research_model(own, RunConfig(model=model))
        output = made.first.outputs_by_role["write"]
        return output.window.most_answer, output.chat.client.max_tokens

    assert room("gpt-4.1") == (8192, 8192)
    assert room("gpt-5") == (8192, 8192 + 8192)
    assert room("gpt-5", reasoning_effort="high") == (8192, 8192 + 16384)
    assert room("gpt-5", reasoning_effort="none") == (8192, 8192)
    assert room("anthropic:claude-sonnet-4-6", reasoning_effort="low") == (8192, 8192 + 4096)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("anthropic:claude-x", "set ANTHROPIC_API_KEY"),
        ("google_genai:gemini-x", "set GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("openai:gpt-x", "set OPENAI_API_KEY"),
        ("groq:llama", "pip install 'langchain-groq'"),
        ("no/such/model.gguf", "There is no model file"),
    ],
)
def test_what_is_missing_is_said_in_one_sentence_before_the_run(
    name: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as caught:
        make_research_model(load_settings(home=tmp_path), RunConfig(model=name))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_misspelt_provider_is_refused_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Did you mean anthropic"):
        make_research_model(
            load_settings(home=tmp_path, openai_api_key=KEY), RunConfig(model="antropic:claude")
        )
    with pytest.raises(BadInput, match="Did you mean anthropic"):
        choose_research_model(load_settings(home=tmp_path), RunConfig(model="anthropc:claude"))
    on_a_server = load_settings(home=tmp_path, base_url="http://127.0.0.1:9/v1")
    assert make_research_model(on_a_server, RunConfig(model="llama3:8b"))


def test_a_missing_package_is_said_with_the_extra_that_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langchain.chat_models import base

    base._get_chat_model_creator.cache_clear()
    monkeypatch.setitem(sys.modules, "langchain_anthropic", None)
    with pytest.raises(BadInput, match=r"pip install 'fathom-research\[anthropic\]'"):
        make_research_model(
            load_settings(home=tmp_path, anthropic_api_key=KEY), RunConfig(model="anthropic:c")
        )


def test_the_providers_are_those_of_langchain() -> None:
    from langchain.chat_models.base import _BUILTIN_PROVIDERS

    assert set(_BUILTIN_PROVIDERS) == PROVIDERS
    assert split_name("google-genai:gemini-2.5-pro") == ("google_genai", "gemini-2.5-pro")
    assert split_name("llama3:8b") == ("openai", "llama3:8b")
    assert split_name("./models/Qwen.GGUF") == ("gguf", "./models/Qwen.GGUF")


IDENTITY = """
import json, sys
from langchain_openai import ChatOpenAI
from langchain_anthropic import ChatAnthropic
from fathom.llm.factory import model_identity
from fathom.storage import open_storage
models = [
    ChatOpenAI(model="m", api_key="k", base_url="http://127.0.0.1:9/v1", temperature=0.5, max_retries=3),
    ChatAnthropic(model="c", api_key="k", max_tokens=7),
]
print(json.dumps([model_identity(model) for model in models], sort_keys=True))
"""


def test_what_identifies_a_model_object_is_equal_in_two_processes_and_has_no_key() -> None:
    seeds = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    told = [
        subprocess.run(
            [sys.executable, "-c", IDENTITY], env=env, capture_output=True, text=True, check=True
        ).stdout
        for env in seeds
    ]
    assert told[0] == told[1]
    assert '"temperature": 0.5' in told[0]
    assert "http://127.0.0.1:9/v1" in told[0]
    assert '"k"' not in told[0]


def test_two_models_with_other_parameters_are_not_the_same() -> None:
    from langchain_openai import ChatOpenAI

    one, other = (ChatOpenAI(model="m", api_key="k", temperature=t) for t in (0.1, 0.2))
    assert model_identity(one) != model_identity(other)

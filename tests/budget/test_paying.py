"""One turn with a model and what it costs: set aside before, settled after, through the real client."""

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from pydantic import SecretStr
from standins.model import Model, ModelRequest, usage_of
from standins.replies import Reply
from standins.server import deaf_port

from fathom.budget import Budget
from fathom.budget.prices import UNPRICED_FAILURE, ModelPrice, Prices, stamp_costs
from fathom.errors import OutOfBudget, ProviderError, Unavailable
from fathom.llm.call_cost import TokenUsage
from fathom.llm.chat import Chat
from fathom.llm.factory import make_research_model
from fathom.llm.openai_compatible import CompatibleChatOpenAI
from fathom.llm.rate_limiter import ModelRetryPolicy, RateLimiter
from fathom.settings import load_settings
from fathom.state import Cost, RunConfig
from fathom.storage import content, open_storage

PRICES = Prices({"m": ModelPrice(input=10, output=100, cached=1), "small": ModelPrice(input=0.1, output=1)})
HELLO = [HumanMessage("How much does tidal power cost?")]
FAST = ModelRetryPolicy(retries=1, outage_s=30.0, first_wait_s=0.01)
# Whoever answers is waited for, on the slowest machine; this is for those of whom it is known that they hang.
HUNG_S = 2.0


def purse_in(home: Path, budget_usd: float = 1.0) -> Budget:
    return Budget(open_storage(home / "fathom.sqlite").costs, "run", budget_usd, 0.15)


def chat(home: Path, url: str, budget: Budget, model: str = "m", **words: Any) -> Chat:
    client = CompatibleChatOpenAI(
        model=model, base_url=url, api_key=SecretStr("x"), max_retries=0, max_completion_tokens=4000
    )
    given = {"limiter": RateLimiter(), "retry_policy": FAST, "timeout_s": 30.0, "prices": PRICES, **words}
    return Chat(client, url, content.Replies(open_storage(home / "fathom.sqlite")), **given).within(budget)


def saying(reply: Reply) -> Any:
    return lambda _: reply


async def test_a_turn_costs_what_the_reply_says_it_took(tmp_path: Path) -> None:
    budget = purse_in(tmp_path)
    with Model(saying(Reply.say("A lot."))) as model:
        reply = await chat(tmp_path, model.base_url, budget).send("read", HELLO, {})
        tokens_in, tokens_out = usage_of(model.requests[0], Reply.say("A lot."))
    usd = (10 * tokens_in + 100 * tokens_out) / 1e6
    assert reply.cost.usd == pytest.approx(usd)
    assert (await budget.account()).usd == pytest.approx(usd)
    assert model.requests[0].body["max_completion_tokens"] == 4000


async def test_a_turn_that_was_taken_is_not_paid_again_and_another_run_saves_it(tmp_path: Path) -> None:
    budget, other = purse_in(tmp_path), replace(purse_in(tmp_path), run="other")
    with Model(saying(Reply.say("A lot."))) as model:
        first, again = [
            await chat(tmp_path, model.base_url, budget).send("read", HELLO, {}) for _ in range(2)
        ]
        saved = await chat(tmp_path, model.base_url, other).send("read", HELLO, {})
        assert len(model.calls) == 1
    assert first.cost == again.cost
    assert (saved.cost.usd, saved.cost.saved_usd) == (0.0, first.cost.usd)
    assert (await other.account()).usd == 0.0


async def test_when_the_money_is_short_a_shorter_answer_is_asked_for(tmp_path: Path) -> None:
    with Model(saying(Reply.say("A lot."))) as model:
        await chat(tmp_path, model.base_url, purse_in(tmp_path, 0.25)).send("read", HELLO, {})
        with pytest.raises(OutOfBudget):
            await chat(tmp_path, model.base_url, purse_in(tmp_path, 0.1)).send(
                "read", [HumanMessage("?")], {}
            )
    (asked,) = model.requests
    assert 1024 <= asked.body["max_completion_tokens"] < 2125


async def test_a_server_that_heeds_no_limit_breaks_the_cap_by_one_call_at_most(tmp_path: Path) -> None:
    """It is asked for 4,000 tokens at most, 0.4 USD, and takes more than four times as many."""
    budget = purse_in(tmp_path, 3.0)
    with Model(saying(Reply.say("word " * 20_000))) as model:
        asked = chat(tmp_path, model.base_url, budget)
        first = await asked.send("read", HELLO, {})
        for words in ("And wind?", "And the sun?"):
            with pytest.raises(OutOfBudget):
                await asked.send("read", [HumanMessage(words)], {})
        assert len(model.calls) == 1
    assert 1.5 < first.cost.usd < 3.0
    assert (await budget.account()).usd == pytest.approx(first.cost.usd)


async def test_what_does_not_fit_is_not_sent_and_a_cheaper_model_writes(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, 0.05)
    with Model(saying(Reply.say("A lot."))) as model:
        small = chat(tmp_path, model.base_url, budget, "small")
        large = chat(tmp_path, model.base_url, budget, cheaper=small)
        with pytest.raises(OutOfBudget):
            await large.send("plan", HELLO, {})
        assert model.calls == []
        reply = await large.send("write", HELLO, {})
    assert reply.cost.model == "small"
    assert [request.model for request in model.requests] == ["small"]


async def test_what_the_large_one_may_have_cost_is_told_also_when_the_small_one_fails(
    tmp_path: Path,
) -> None:
    """The first try of the large one hangs, there is no money for a second, and the small one says no."""
    budget = purse_in(tmp_path, 0.5)

    def moody(request: ModelRequest) -> Reply:
        return Reply.hang() if request.model == "m" else Reply.wrong_key()

    with Model(moody) as model, pytest.raises(ProviderError) as failed:
        small = chat(tmp_path, model.base_url, budget, "small")
        large = chat(tmp_path, model.base_url, budget, cheaper=small, timeout_s=HUNG_S)
        await large.send("write", HELLO, {})
    assert {request.model for request in model.requests} == {"m", "small"}
    (lost,) = failed.value.costs
    assert (lost.model, lost.usd) == ("m", (await budget.account()).usd)


async def test_a_step_that_says_little_is_made_with_little_money(tmp_path: Path) -> None:
    """0.05 USD are 500 tokens of an answer: enough to check, and not to read."""
    with Model(saying(Reply.say("None."))) as model:
        with pytest.raises(OutOfBudget):
            await chat(tmp_path, model.base_url, purse_in(tmp_path, 0.05)).send("read", HELLO, {})
        assert model.calls == []
        await chat(tmp_path, model.base_url, purse_in(tmp_path, 0.05)).send("check", HELLO, {})
        assert 256 <= model.requests[0].body["max_completion_tokens"] < 500
    assert (await purse_in(tmp_path, 0.05).account()).usd <= 0.05


async def test_a_connection_that_was_never_made_costs_nothing(tmp_path: Path) -> None:
    with deaf_port() as port:
        own = load_settings(
            home=tmp_path, base_url=f"http://127.0.0.1:{port}/v1", call_timeout_s=0.6, call_retries=0
        )
        client = make_research_model(own, RunConfig(model="m")).first.outputs_by_role["read"].chat  # type: ignore[attr-defined]
        budget = purse_in(tmp_path)
        with pytest.raises(Unavailable) as failed:
            await replace(client, prices=PRICES).within(budget).send("read", HELLO, {})
    assert failed.value.costs == []
    assert (await budget.account()).usd == 0.0


@pytest.mark.parametrize("reply", [Reply.too_fast(None), Reply.broken(503), Reply.wrong_key()])
async def test_a_refusal_costs_nothing(tmp_path: Path, reply: Reply) -> None:
    budget = purse_in(tmp_path)
    with Model(saying(reply)) as model, pytest.raises(ProviderError) as failed:
        await chat(tmp_path, model.base_url, budget, retry_policy=ModelRetryPolicy(retries=0)).send(
            "read", HELLO, {}
        )
    assert failed.value.costs == []
    assert (await budget.account()).usd == 0.0


async def test_where_nobody_listens_nobody_is_paid(tmp_path: Path) -> None:
    budget = purse_in(tmp_path)
    silent = chat(tmp_path, "http://127.0.0.1:9/v1", budget, retry_policy=ModelRetryPolicy(retries=0))
    with pytest.raises(ProviderError):
        await silent.send("read", HELLO, {})
    assert (await budget.account()).usd == 0.0


@pytest.mark.parametrize("reply", [Reply.hang(), Reply.broken(504), Reply.garbage()])
async def test_what_may_have_been_answered_stays_counted_at_its_worst(tmp_path: Path, reply: Reply) -> None:
    budget = purse_in(tmp_path)
    with Model(saying(reply)) as model, pytest.raises(ProviderError) as failed:
        words: dict[str, Any] = {"retry_policy": ModelRetryPolicy(retries=0), "timeout_s": HUNG_S}
        await chat(tmp_path, model.base_url, budget, **words).send("read", HELLO, {})
    (lost,) = failed.value.costs
    assert lost.usd == (await budget.account()).usd > 0.4  # the whole answer


async def test_each_try_that_nobody_answered_counts_and_the_charge_has_them_all(tmp_path: Path) -> None:
    budget = purse_in(tmp_path, 2.0)

    def second_time(request: ModelRequest) -> Reply:
        return Reply.say("A lot.") if request.number else Reply.hang()

    with Model(second_time) as model:
        reply = await chat(tmp_path, model.base_url, budget, timeout_s=HUNG_S).send("read", HELLO, {})
    assert reply.cost.usd == pytest.approx((await budget.account()).usd)
    assert reply.cost.usd > 0.4


async def test_cached_input_costs_less_and_silence_about_tokens_costs_the_worst() -> None:
    details = {"cache_read": 900}
    used: Any = {
        "input_tokens": 1000,
        "output_tokens": 10,
        "total_tokens": 1010,
        "input_token_details": details,
    }
    told = TokenUsage.from_message(AIMessage("x", usage_metadata=used), TokenUsage(9, 9))
    assert told == TokenUsage(1000, 10, 900)
    usd = PRICES.usd("m", "http://x.example", *told[:3])
    assert usd == pytest.approx((100 * 10 + 900 * 1 + 10 * 100) / 1e6)
    assert TokenUsage.from_message(AIMessage("x"), TokenUsage(5000, 4000)) == TokenUsage(5000, 4000)


def test_a_model_without_a_price_is_told_once_and_charges_say_where_and_when() -> None:
    costs = [Cost(call=c, role="read", model="m", is_priced=False) for c in "ab"]
    update = stamp_costs({"costs": costs, "claims": []}, "analyzer", 2)
    assert [(c.node, c.round) for c in update["costs"]] == [("analyzer", 2)] * 2
    (failure,) = update["failures"]
    assert (failure.where, failure.what) == (UNPRICED_FAILURE, "m")
    assert stamp_costs({"queries": []}, "review", 1) == {"queries": []}
    assert stamp_costs(None, "review", 1) is None


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from fathom.storage.records import PaidCall
from fathom.budget import Budget
from fathom.storage import open_storage

async def sent():
    budget = Budget(open_storage(Path(sys.argv[1])).costs, "run", 1.0, 0.15)
    async with await budget.reserve(PaidCall("call", "read", "m"), 0.6, is_writing=False):
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(sent())
"""


@pytest.mark.sqlite
async def test_killed_between_sending_and_settling_a_run_cannot_spend_it_twice(tmp_path: Path) -> None:
    database = tmp_path / "fathom.sqlite"
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", KILLED, str(database)], env={**os.environ}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    budget = purse_in(tmp_path)
    assert (await budget.account()).usd == pytest.approx(0.6)
    with Model(saying(Reply.say("A lot."))) as model, pytest.raises(OutOfBudget):
        await chat(tmp_path, model.base_url, budget, model="m").send(
            "read", [HumanMessage("long " * 20_000)], {}
        )
    assert model.calls == []

"""What the model's own search may cost: set aside at its most, before a server that charges all it may."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from standins.openai_search import KEY, OpenAiSearchServer, cited, failure
from standins.server import Answer, Seen, closed_port

from fathom.budget import Budget, Meter, use_meter
from fathom.budget.prices import ModelPrice, Prices
from fathom.errors import OutOfBudget, ProviderError
from fathom.http import RetryPolicy
from fathom.search import Capability
from fathom.search.engines.model_search import ModelSearch
from fathom.search.federated import FederatedSearch
from fathom.search.wrappers import PROCESS_HEALTH, MonitoredEngine
from fathom.state import Hit, Query
from fathom.storage import open_storage
from fathom.storage.records import PaidCall
from fathom.text.token_count import count_tokens

QUERY = Query(id="q1", text="조력 발전의 비용, tidal power cost", question="Q1", round=1)
PAGE = ("https://a.example/1", "T", "S.")
PRICES = Prices({"m": ModelPrice(input=2.0, output=8.0), "gpt-4.1-mini": ModelPrice(input=2.0, output=8.0)})
SEARCH = {"type": "web_search_call", "status": "completed", "action": {"type": "search"}}


class Greedy(OpenAiSearchServer):
    """Fills the context after its first look at the query, and answers as long as it is allowed to."""

    def answer_to(self, seen: Seen) -> Answer:
        """The answer, with all the tokens there can be."""
        used = {"input_tokens": count_tokens(json.dumps(seen.json)) + 128_000}
        self.answer |= {"usage": {**used, "output_tokens": seen.json["max_output_tokens"]}}
        assert seen.json["max_tool_calls"] == 1
        return super().answer_to(seen)


def engine(url: str, model: str = "m", **words: Any) -> ModelSearch:
    return ModelSearch(KEY, model, f"{url}/v1", prices=PRICES, **words)


async def spent(home: Path, search: ModelSearch, cap: float = 1.0) -> float:
    """What the run's purse has paid, whatever became of the search."""
    budget = Budget(open_storage(home / "fathom.sqlite").costs, "run", cap, 0.0)
    with use_meter(Meter(budget, PaidCall("call", "search", "model"), 0.0)):
        try:
            await search(QUERY, limit=2)
        except OutOfBudget:
            raise
        except ProviderError:
            pass
    return (await budget.account()).usd


async def test_a_server_that_charges_all_it_may_stays_below_what_was_set_aside(tmp_path: Path) -> None:
    fits = 0.01 + (128_000 + 8_000) * 2e-6 + 4_096 * 8e-6
    with Greedy(cited(PAGE)) as server:
        paid = await spent(tmp_path, engine(server.url), fits)
        assert 0.01 + 128_000 * 2e-6 + 4_096 * 8e-6 < paid <= fits


@pytest.mark.parametrize("cap", [0.02, 0.1, 0.29])
async def test_a_search_that_does_not_fit_at_its_most_is_not_sent(tmp_path: Path, cap: float) -> None:
    with Greedy(cited(PAGE)) as server:
        with pytest.raises(OutOfBudget):
            await spent(tmp_path, engine(server.url), cap)
        assert server.records == []


async def test_a_shorter_answer_is_asked_for_when_answers_are_to_be_short(tmp_path: Path) -> None:
    with Greedy(cited(PAGE)) as server:
        await spent(tmp_path, engine(server.url, most_out=512))
    assert server.records[0].json["max_output_tokens"] == 512


async def test_it_settles_to_what_is_reported_and_pays_every_search_and_no_opened_page(
    tmp_path: Path,
) -> None:
    answer = cited(PAGE)  # which searched once and opened a page
    with OpenAiSearchServer(answer) as server:
        assert await spent(tmp_path / "a", engine(server.url)) == pytest.approx(
            0.01 + 9_299 * 2e-6 + 577 * 8e-6
        )
        # A server that does not keep to one search is paid for all of them.
        server.answer = {**answer, "output": [SEARCH, SEARCH, *answer["output"]]}
        assert await spent(tmp_path / "b", engine(server.url)) == pytest.approx(
            0.03 + 9_299 * 2e-6 + 577 * 8e-6
        )


async def test_where_what_was_found_is_charged_as_a_block_the_block_is_paid(tmp_path: Path) -> None:
    with OpenAiSearchServer(cited(PAGE)) as server:
        paid = await spent(tmp_path, engine(server.url, "gpt-4.1-mini"))
    assert paid == pytest.approx(0.01 + (9_299 + 8_000) * 2e-6 + 577 * 8e-6)


@pytest.mark.parametrize(
    "usage",
    [
        None,
        "many",
        {},
        {"input_tokens": -50_000_000, "output_tokens": 5},
        {"input_tokens": 10**30, "output_tokens": 5},
        {"input_tokens": "5", "output_tokens": "5"},
        {"input_tokens": True, "output_tokens": True},
    ],
)
async def test_an_answer_that_does_not_say_its_tokens_stays_at_the_most(tmp_path: Path, usage: Any) -> None:
    with OpenAiSearchServer({**cited(PAGE), "usage": usage}) as server:
        assert await spent(tmp_path, engine(server.url)) > 0.01 + 128_000 * 2e-6 + 4_096 * 8e-6


class Failing(OpenAiSearchServer):
    """Fails in one way."""

    def __init__(self, way: Answer) -> None:
        super().__init__({})
        self.way = way

    def answer_to(self, seen: Seen) -> Answer:
        """That way."""
        return self.way


@pytest.mark.parametrize(
    "way", [failure(400, "Bad request."), failure(404, "No such model."), failure(429, "Slow."), Answer(503)]
)
async def test_a_no_costs_nothing(tmp_path: Path, way: Answer) -> None:
    with Failing(way) as server:
        assert await spent(tmp_path, engine(server.url)) == 0.0


async def test_where_nobody_listens_nobody_is_paid(tmp_path: Path) -> None:
    assert await spent(tmp_path, engine(f"http://127.0.0.1:{closed_port()}")) == 0.0


@pytest.mark.parametrize("way", [Answer(504), Answer(hangs=True)])
async def test_what_may_have_been_answered_is_paid_at_its_most(tmp_path: Path, way: Answer) -> None:
    with Failing(way) as server:
        assert await spent(tmp_path, engine(server.url, timeout_s=0.3)) > 0.25


class Elsewhere:
    """An engine that costs nothing."""

    name = "elsewhere"
    capabilities: frozenset[Capability] = frozenset({"web"})

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """One page."""
        return [Hit(query=query.id, address=PAGE[0], title="T", snippet="S.", engine=self.name, rank=1)]


async def test_the_search_that_was_too_dear_is_told_and_the_others_serve(tmp_path: Path) -> None:
    budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 0.1, 0.0)
    with Greedy(cited(PAGE)) as server:
        both = FederatedSearch((engine(server.url), Elsewhere()), prices={"model": lambda _: 0.01}).within(
            budget
        )
        found = await both.search(QUERY, limit=2)
        assert server.records == []
    PROCESS_HEALTH.until.clear()
    assert [hit.engine for hit in found.hits] == ["elsewhere"]
    (failure,) = found.failures
    assert failure.where == "search: model"
    assert failure.why == "model was not asked: too little of the 0.1 USD is left."
    assert [(cost.model, cost.usd) for cost in found.costs] == [("elsewhere", 0.0)]


@pytest.mark.parametrize("fails", [False, True])
async def test_an_engine_that_heeds_no_limit_is_not_asked_again_in_that_run(
    tmp_path: Path, fails: bool
) -> None:
    """It is asked for one search, and charges for a hundred; that it fails afterwards changes nothing."""
    budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 0.5, 0.0)
    answer = cited(PAGE)
    error = {"status": "failed", "error": {"code": "server_error"}} if fails else {}
    greedy = {**answer, **error, "output": [*[SEARCH] * 100, *([] if fails else answer["output"])]}
    with OpenAiSearchServer(greedy) as server:
        both = FederatedSearch(
            (
                MonitoredEngine(engine(server.url), policy=RetryPolicy(first_wait_s=0.01, jitter_s=0.0)),
                Elsewhere(),
            ),
            prices={"model": lambda _: 0.01},
        )
        first = await both.within(budget).search(QUERY, limit=2)
        again = await both.within(budget).search(QUERY.model_copy(update={"text": "wind"}), limit=2)
        assert len(server.records) == 1
        other = FederatedSearch(both.engines, prices=both.prices).within(replace(budget, run="another"))
        await other.search(QUERY, limit=2)
        assert len(server.records) == 2
    PROCESS_HEALTH.until.clear()
    assert {hit.engine for hit in first.hits} == {"elsewhere"} if fails else {"model", "elsewhere"}
    (told,) = {(failure.what, failure.why) for failure in [*first.failures, *again.failures]}
    assert told[0] == "its price"
    assert "model took 1.0" in told[1]
    assert told[1].endswith("at most, and is not asked again in this run.")
    assert (await budget.account()).usd > 1.0
    assert sum(cost.usd for cost in first.costs) == pytest.approx((await budget.account()).usd)
    assert [(cost.model, cost.usd) for cost in again.costs] == [("elsewhere", 0.0)]

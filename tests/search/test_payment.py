"""What searches cost: request by request, from the run's purse, and a second page is a second request."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from standins.openai_search import KEY, OpenAiSearchServer, cited
from standins.raw_server import Heard, Rough
from standins.recorder import traced_in_a_graph
from standins.server import Answer, Seen, StandIn, deaf_port, json_answer

from fathom.budget import Budget, Meter, use_meter
from fathom.errors import OutOfBudget, ProviderError, Unreachable, Unreadable
from fathom.search.api_client import ApiClient
from fathom.search.engines import engines_for
from fathom.search.engines.model_search import ModelSearch
from fathom.search.federated import FederatedSearch
from fathom.search.wrappers import PROCESS_HEALTH
from fathom.settings import load_settings
from fathom.state import Query, RunConfig
from fathom.state.records import merge_records
from fathom.storage import open_storage
from fathom.storage.records import PaidCall

QUERY = Query(id="q1", text="tidal power", question="Q1", round=1)


class Brave(StandIn):
    """Two results a page, and more after the first; or one of the ways to fail."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__()
        self._answers = list(answers)

    def answer_to(self, seen: Seen) -> Answer:
        """A page, unless something else was prepared."""
        if self._answers:
            return self._answers.pop(0)
        page = int(seen.params.get("offset", 0))
        rows = [{"url": f"https://a.example/{page}/{n}", "title": "T", "description": "D"} for n in range(2)]
        return json_answer({"query": {"more_results_available": page == 0}, "web": {"results": rows}})


def engines_at(
    home: Path, url: str, usd: float = 1.0, run: str = "run", **words: Any
) -> tuple[FederatedSearch, Budget]:
    own = load_settings(home=home, brave_api_key="key", engine_urls={"brave": url}, **words)
    budget = Budget(open_storage(home / "fathom.sqlite").costs, run, usd, 0.0)
    return engines_for(own, RunConfig(engines=["brave"])).within(budget), budget


async def test_two_pages_are_two_requests_and_are_paid_as_two(tmp_path: Path) -> None:
    with Brave() as brave:
        engines, budget = engines_at(tmp_path, brave.url)
        found = await engines.search(QUERY, limit=4)
        assert len(brave.records) == 2
    (cost,) = found.costs
    assert cost.usd == (await budget.account()).usd == pytest.approx(0.010)
    assert (cost.role, cost.model) == ("search", "brave")


async def test_a_price_of_ones_own_is_paid(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("[engines]\nbrave = 0.02\n")
    with Brave() as brave:
        engines, budget = engines_at(tmp_path, brave.url)
        await engines.search(QUERY, limit=2)
    assert (await budget.account()).usd == pytest.approx(0.02)


async def test_a_request_that_does_not_fit_is_not_sent_and_the_engine_stays_on(tmp_path: Path) -> None:
    with Brave() as brave:
        poor, budget = engines_at(tmp_path, brave.url, usd=0.004)
        with pytest.raises(OutOfBudget):
            await poor.search(QUERY, limit=2)
        assert brave.records == []
        assert (await budget.account()).is_out
        rich = Budget(budget.costs, "rich", 1.0, 0.0)
        assert (await poor.within(rich).search(QUERY, limit=2)).hits  # another run may ask


async def test_a_refusal_costs_nothing_and_what_is_tried_again_is_paid_once(tmp_path: Path) -> None:
    limited = json_answer({"error": {"code": "RATE_LIMITED"}}, 429, {"x-ratelimit-reset": "0"})
    with Brave(limited) as brave:
        engines, budget = engines_at(tmp_path, brave.url)
        found = await engines.search(QUERY, limit=2)
        assert len(brave.records) == 2
    assert found.costs[0].usd == (await budget.account()).usd == pytest.approx(0.005)


@pytest.mark.parametrize(
    ("url", "usd"), [("http://127.0.0.1:9", 0.0), ("hangs", 0.005), ("gateway", 0.005), ("forbids", 0.0)]
)
async def test_what_never_left_costs_nothing_and_what_may_have_been_answered_does(
    tmp_path: Path, url: str, usd: float
) -> None:
    budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 1.0, 0.0)
    ways = {"hangs": Answer(hangs=True), "gateway": Answer(504), "forbids": Answer(403)}
    with Brave(*([ways[url]] if url in ways else [])) as brave:
        wire = ApiClient("brave", brave.url if url in ways else url, timeout_s=0.3)
        with (
            use_meter(Meter(budget, PaidCall("call", "search", "brave"), 0.005)),
            pytest.raises(ProviderError),
        ):
            await wire.send("GET", "/")
    assert (await budget.account()).usd == usd


async def test_a_connection_that_was_never_made_costs_nothing(tmp_path: Path) -> None:
    budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 1.0, 0.0)
    with (
        deaf_port() as port,
        use_meter(Meter(budget, PaidCall("call", "search", "brave"), 0.005)),
        pytest.raises(Unreachable, match=r"brave cannot be reached \(ConnectTimeout\)"),
    ):
        await ApiClient("brave", f"http://127.0.0.1:{port}", timeout_s=0.4).send("GET", "/")
    assert (await budget.account()).usd == 0.0


async def test_an_answer_may_take_as_long_as_was_said() -> None:
    with Brave(Answer(200, {"content-type": "application/json"}, b"{}", delay_s=5.5)) as brave:
        assert await ApiClient("brave", brave.url, timeout_s=20.0).send("GET", "/") == b"{}"


async def test_an_answer_without_end_is_not_taken_in_and_may_have_cost_something(tmp_path: Path) -> None:
    async def endless(_: Heard, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not writer.transport.is_closing():
            writer.write(b" " * 1_000_000)
            await writer.drain()

    budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 1.0, 0.0)
    with use_meter(Meter(budget, PaidCall("call", "search", "brave"), 0.005)):
        async with Rough(endless) as server:
            with pytest.raises(Unreadable, match="brave answered more than 20,000,000 bytes"):
                await ApiClient("brave", server.url, timeout_s=20.0).send("GET", "/")
    assert (await budget.account()).usd == 0.005


async def test_a_search_that_failed_and_was_made_again_is_one_charge(tmp_path: Path) -> None:
    """What may have been charged for the first time is in the charge of the second, and nowhere else."""
    with Brave(json_answer({}, 504, {"retry-after": "60"})) as brave:
        engines, budget = engines_at(tmp_path, brave.url)
        with pytest.raises(ProviderError) as failed:
            await engines.search(QUERY, limit=2)
    with Brave() as brave:
        again, _ = engines_at(tmp_path, brave.url)
        PROCESS_HEALTH.until.clear()
        found = await again.search(QUERY, limit=2)
    told = merge_records(failed.value.costs, found.costs)
    assert sum(cost.usd for cost in told) == pytest.approx((await budget.account()).usd)


async def test_a_model_that_searches_may_have_done_so_behind_a_gateway_that_gave_up(tmp_path: Path) -> None:
    budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 1.0, 0.0)
    with Brave(Answer(504)) as server:
        engine = ModelSearch("key", "unpriced", server.url)
        with (
            use_meter(Meter(budget, PaidCall("call", "search", "model"), 0.01)),
            pytest.raises(ProviderError),
        ):
            await engine(QUERY, limit=2)
    assert (await budget.account()).usd == pytest.approx(0.01)


@pytest.mark.parametrize("fee", [0.0, 0.05])
async def test_a_model_that_searches_is_paid_as_a_person_said_and_its_tokens_besides(
    tmp_path: Path, fee: float
) -> None:
    (tmp_path / "prices.toml").write_text(
        f"[engines]\nmodel = {fee}\n[models.m]\ninput = 1000\noutput = 1000\n"
    )
    answer = {**cited(("https://a.example/1", "T", "S.")), "usage": {"input_tokens": 3, "output_tokens": 4}}
    with OpenAiSearchServer(answer) as server:
        own = load_settings(home=tmp_path, openai_api_key=KEY, model="m", base_url=f"{server.url}/v1")
        budget = Budget(open_storage(tmp_path / "fathom.sqlite").costs, "run", 1000.0, 0.0)
        found = await engines_for(own, RunConfig(engines=["model"])).within(budget).search(QUERY, limit=2)
    assert (await budget.account()).usd == pytest.approx(fee + 0.007)
    assert found.costs[0].usd == pytest.approx(fee + 0.007)


async def test_a_search_another_run_made_is_free_and_says_what_it_saved(tmp_path: Path) -> None:
    with Brave() as brave:
        first, _ = engines_at(tmp_path, brave.url)
        await first.search(QUERY, limit=2)
        other, budget = engines_at(tmp_path, brave.url, run="other")
        (cost,) = (await other.search(QUERY, limit=2)).costs
        assert len(brave.records) == 1
    assert (cost.usd, cost.saved_usd) == (0.0, 0.005)
    assert (await budget.account()).usd == 0.0


async def test_every_search_shows_in_callbacks_with_its_engine_round_results_cost_and_reuse(
    tmp_path: Path,
) -> None:
    with Brave() as brave:
        engines, _ = engines_at(tmp_path, brave.url)

        async def work() -> None:
            await engines.search(QUERY, limit=2)
            await engines.search(QUERY, limit=2)

        recorder = await traced_in_a_graph(work)
    node = recorder.named("asker")
    first, again = [run for run in recorder.ended if run.name == "brave"]
    for run in (first, again):
        assert (run.run_type, run.parent_run_id) == ("retriever", node.id)
        assert run.inputs == {"query": "tidal power"}
        assert run.outputs is not None
        found = [document.metadata["address"] for document in run.outputs["documents"]]
        assert found == ["https://a.example/0/0", "https://a.example/0/1"]
    names = ("engine", "round", "results", "cost_usd", "is_reused")
    told = [tuple(run.extra["metadata"][name] for name in names) for run in (first, again)]
    assert told == [("brave", 1, 2, 0.005, False), ("brave", 1, 2, 0.0, True)]


async def test_a_search_that_failed_shows_why_and_what_it_may_have_cost(tmp_path: Path) -> None:
    with Brave(json_answer({}, 504, {"retry-after": "60"})) as brave:
        engines, _ = engines_at(tmp_path, brave.url)

        async def work() -> None:
            with pytest.raises(ProviderError):
                await engines.search(QUERY, limit=2)

        search = (await traced_in_a_graph(work)).named("brave")
    assert "HTTP 504" in (search.error or "")
    assert search.extra["metadata"]["cost_usd"] == 0.005

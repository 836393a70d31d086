"""Orders for a run, left and taken from anywhere."""

import asyncio
from pathlib import Path

import pytest

from fathom.errors import BadInput
from fathom.storage import open_storage
from fathom.storage.run_tables import SignalTable


@pytest.fixture
def signals(tmp_path: Path) -> SignalTable:
    return open_storage(tmp_path / "fathom.sqlite").signals


async def test_an_added_query_belongs_to_the_round_that_took_it_first(signals: SignalTable) -> None:
    await signals.give("run", "add", "  seals\n in nets ")
    assert await signals.of("run").waiting() == ["seals in nets"]
    first = await signals.of("run").added(2)
    assert list(first.values()) == ["seals in nets"]
    await signals.give("run", "add", "eels")
    assert list((await signals.of("run").added(2)).values()) == ["seals in nets", "eels"]
    assert await signals.of("run").added(3) == {}
    assert await signals.of("run").waiting() == []
    assert list((await signals.of("run").added(2)).values()) == ["seals in nets", "eels"]


async def test_a_query_that_one_place_took_does_not_come_back_in_another(signals: SignalTable) -> None:
    await signals.give("run", "add", "seals")
    assert list((await signals.of("run").added(1)).values()) == ["seals"]
    assert await signals.of("run").added(1, "gathering of 2 in") == {}
    await signals.give("run", "add", "eels")
    assert list((await signals.of("run").added(1, "gathering of 2 in")).values()) == ["eels"]
    assert list((await signals.of("run").added(1)).values()) == ["seals"]


async def test_a_pause_is_over_everywhere_but_where_it_was_seen(signals: SignalTable) -> None:
    await signals.give("run", "pause")
    assert await signals.runs_to_pause() == {"run"}
    assert await signals.of("run").is_pausing("review 1")
    assert await signals.of("run").is_pausing("review 1")
    assert not await signals.of("run").is_pausing("review 2")
    assert await signals.runs_to_pause() == set()


async def test_go_takes_a_pause_back_that_nobody_has_seen(signals: SignalTable) -> None:
    await signals.give("run", "pause")
    await signals.give("run", "go")
    assert not await signals.of("run").is_pausing("review 1")
    assert [order.word for order in await signals.pending("run")] == ["go"]
    await signals.resumed("run")
    assert await signals.pending("run") == []


async def test_whoever_goes_on_has_done_with_the_pause_and_not_with_the_rest(signals: SignalTable) -> None:
    for word, text in (("pause", ""), ("add", "eels"), ("stop", "")):
        await signals.give("run", word, text)
    await signals.resumed("run")
    assert [order.word for order in await signals.pending("run")] == ["add", "stop"]
    await signals.ended("run")
    assert await signals.pending("run") == []


async def test_a_stop_is_seen_by_all_until_one_place_has_carried_it_out(signals: SignalTable) -> None:
    await signals.give("run", "stop")
    assert [await signals.of("run").is_stopping() for _ in range(3)] == [True, True, True]
    assert await signals.of("run").is_stopping("judge 2")
    assert await signals.of("run").is_stopping("judge 2")
    assert not await signals.of("run").is_stopping()


async def test_orders_of_one_run_never_reach_another(signals: SignalTable) -> None:
    await asyncio.gather(*(signals.give(f"run {n}", "add", f"query {n}") for n in range(20)))
    taken = await asyncio.gather(*(signals.of(f"run {n}").added(1) for n in range(20)))
    assert [list(one.values()) for one in taken] == [[f"query {n}"] for n in range(20)]
    await signals.give("", "stop")
    assert not await signals.of(None).is_stopping()


async def test_two_that_take_at_once_agree(signals: SignalTable) -> None:
    await signals.give("run", "add", "eels")
    taken = await asyncio.gather(*(signals.of("run").added(n) for n in (1, 2, 1, 2)))
    assert sorted(list(one.values()) for one in taken) == [[], [], ["eels"], ["eels"]]


@pytest.mark.parametrize(
    ("word", "text", "why"),
    [
        ("halt", "", "no order 'halt'; there are pause, go, stop, add"),
        ("add", "  ", "Add needs a query"),
        ("stop", "now", "Stop takes no words"),
        ("add", "x" * 401, "at most 400 characters, this one has 401"),
    ],
)
async def test_an_order_that_makes_no_sense_is_refused(
    signals: SignalTable, word: str, text: str, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        await signals.give("run", word, text)
    assert await signals.pending("run") == []

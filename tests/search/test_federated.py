"""Several engines as one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from fathom.errors import OutOfBudget, ProviderError, Refused, Unavailable, Unreadable
from fathom.search import Capability
from fathom.search.federated import FederatedSearch, fuse_rankings
from fathom.state import Failure, Hit, Query

QUERY = Query(id="q1", text="tides", question="s1", round=1)


@dataclass(frozen=True)
class Fake:
    """Finds the addresses it was given, or fails."""

    name: str
    finds: tuple[str, ...] | ProviderError
    capabilities: frozenset[Capability] = frozenset()

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        if isinstance(self.finds, ProviderError):
            raise self.finds
        return [
            Hit(query=query.id, address=a, title="", snippet="", engine=self.name, rank=n)
            for n, a in enumerate(self.finds[:limit], start=1)
        ]


async def found(*engines: Fake, limit: int = 9) -> list[tuple[str, str, int]]:
    hits, failures, _ = await FederatedSearch(engines).search(QUERY, limit=limit)
    assert failures == []
    return [(hit.address, hit.engine, hit.rank) for hit in hits]


async def test_what_several_engines_find_comes_first() -> None:
    got = await found(
        Fake("one", ("https://a.example", "https://b.example", "https://c.example")),
        Fake("two", ("https://d.example", "http://www.b.example/?utm_source=x")),
    )
    assert got == [
        ("https://b.example", "one", 1),
        ("https://a.example", "one", 2),
        ("https://d.example", "two", 3),
        ("https://c.example", "one", 4),
    ]


async def test_a_page_keeps_the_hit_of_the_engine_that_ranked_it_best() -> None:
    got = await found(
        Fake("one", ("https://x.example", "http://a.example")), Fake("two", ("https://a.example",))
    )
    assert got[0] == ("https://a.example", "two", 1)


async def test_one_engine_keeps_its_order_without_its_repetitions() -> None:
    got = await found(Fake("one", ("https://a.example/", "https://b.example", "https://a.example#top")))
    assert [address for address, _, _ in got] == ["https://a.example/", "https://b.example"]


async def test_the_limit_holds_for_all_together() -> None:
    got = await found(Fake("one", ("https://a.example",)), Fake("two", ("https://b.example",)), limit=1)
    assert len(got) == 1


async def test_a_failing_engine_is_a_loss_while_the_others_serve() -> None:
    engines = FederatedSearch((Fake("one", Refused("no quota")), Fake("two", ("https://a.example",))))
    hits, failures, _ = await engines.search(QUERY, limit=5)
    assert [hit.engine for hit in hits] == ["two"]
    assert failures == [Failure(where="search: one", what="tides", why="no quota", code="refused")]


async def test_nothing_found_is_not_a_failure() -> None:
    assert (await FederatedSearch((Fake("one", ()),)).search(QUERY, limit=5))[:2] == ([], [])
    hits, failures, _ = await FederatedSearch((Fake("one", ()), Fake("two", Unavailable("busy")))).search(
        QUERY, limit=5
    )
    assert (hits, len(failures)) == ([], 1)


async def test_the_error_of_the_only_engine_rises_as_it_is() -> None:
    error = Unavailable("busy", wait_s=3)
    with pytest.raises(Unavailable) as caught:
        await FederatedSearch((Fake("one", error),)).search(QUERY, limit=5)
    assert caught.value is error


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (Unavailable("busy", wait_s=3), Refused("no quota"), Unavailable),
        (Refused("no quota"), Unavailable("busy", wait_s=3), Unavailable),
        (Refused("no quota"), Unreadable("busy"), Unreadable),
    ],
)
async def test_when_all_fail_the_error_names_them_all(
    first: ProviderError, second: ProviderError, kind: type[ProviderError]
) -> None:
    with pytest.raises(kind) as caught:
        await FederatedSearch((Fake("one", first), Fake("two", second))).search(QUERY, limit=5)
    assert str(caught.value) == f"no engine served (one: {first}; two: {second})"
    assert getattr(caught.value, "wait_s", 3) == 3


class Busy:
    """Counts how many are inside at once."""

    name = "busy"
    capabilities: frozenset[Capability] = frozenset()
    inside = most = 0

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.01)
        self.inside -= 1
        return []


def test_at_most_five_searches_run_at_once_in_every_event_loop() -> None:
    async def many(busy: Busy) -> None:
        await asyncio.gather(*(FederatedSearch((busy, busy)).search(QUERY, limit=5) for _ in range(10)))

    for _ in range(2):
        busy = Busy()
        asyncio.run(many(busy))
        assert busy.most == 5


async def test_a_mistake_of_ours_is_not_a_loss() -> None:
    class Mistaken(Busy):
        async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
            raise KeyError("ours")

    with pytest.raises(KeyError):
        await FederatedSearch((Mistaken(), Fake("two", ()))).search(QUERY, limit=5)


async def test_a_spare_engine_steps_in_only_when_all_others_fail_and_that_is_told() -> None:
    down, spare = Fake("one", Unavailable("busy")), Fake("two", ("https://a.example/",))
    hits, failures, _ = await FederatedSearch((down,), spare=(spare, Fake("three", ()))).search(
        QUERY, limit=5
    )
    assert [h.address for h in hits] == ["https://a.example/"]
    assert [failure.where for failure in failures] == ["search: one"]
    unused = Fake("spare", Unavailable("must not be asked"))
    assert (await FederatedSearch((spare,), spare=(unused,)).search(QUERY, limit=5)).failures == []


async def test_what_a_search_costs_is_told_once_a_query_and_engine() -> None:
    engines = FederatedSearch(
        (Fake("one", ()), Fake("two", Unavailable("x"))),
        prices={"one": lambda _: 0.002, "two": lambda _: 1.0},
    )
    first, again = [(await engines.search(QUERY, limit=5)).costs for _ in range(2)]
    assert [(c.model, c.usd, c.role) for c in first] == [("one", 0.002, "search")]
    assert first == again


def test_a_page_found_twice_keeps_the_most_that_is_known_of_it() -> None:
    thin = Hit(query="q", address="https://a.example/x", title="", snippet="s", engine="one", rank=1)
    more = {"snippet": "longer words", "doi": "10.1/x", "authors": ["A. Writer"], "cited_by": 3}
    rich = thin.model_copy(update={"address": "https://www.a.example/x/", **more})
    (found,) = fuse_rankings([[thin], [rich]])
    assert (found.address, found.snippet, found.doi) == ("https://a.example/x", "longer words", "10.1/x")
    assert (found.authors, found.cited_by) == (["A. Writer"], 3)


def fake(name: str, finds: tuple[str, ...] | ProviderError, kind: Capability) -> Fake:
    return Fake(name, finds, frozenset({kind}))


async def test_an_engine_that_is_down_is_replaced_by_one_of_its_kind_and_that_is_told() -> None:
    engines = FederatedSearch(
        (fake("web", Unavailable("HTTP 503"), "web"), fake("papers", ("https://p.example",), "academic")),
        spare=(
            fake("other papers", ("https://q.example",), "academic"),
            fake("down too", Unavailable("busy"), "web"),
            fake("second", ("https://s.example",), "web"),
            fake("third", ("https://t.example",), "web"),
        ),
    )
    hits, failures, costs = await engines.search(QUERY, limit=5)
    assert {hit.engine for hit in hits} == {"papers", "second"}
    assert [(f.where, f.why, f.stand_in) for f in failures] == [
        ("search: web", "HTTP 503", "second"),
        ("search: down too", "busy", "second"),
    ]
    assert sorted((cost.model, cost.results) for cost in costs) == [("papers", 1), ("second", 1)]


async def test_one_that_failed_beside_another_of_its_kind_is_not_replaced() -> None:
    engines = FederatedSearch(
        (fake("one", Refused("no quota"), "web"), fake("two", (), "web")),
        spare=(fake("three", ("https://a.example",), "web"),),
    )
    assert (await engines.search(QUERY, limit=5)).hits == []


async def test_where_the_money_is_used_up_nobody_steps_in() -> None:
    engines = FederatedSearch(
        (fake("one", OutOfBudget("nothing left"), "web"),),
        spare=(fake("two", ("https://a.example",), "web"),),
    )
    with pytest.raises(OutOfBudget):
        await engines.search(QUERY, limit=5)


async def test_specialists_are_asked_where_a_query_is_about_their_subject() -> None:
    engines = FederatedSearch(
        (fake("semantic-scholar", ("https://s.example",), "academic"),),
        specialists=(
            fake("pubmed", ("https://p.example",), "academic"),
            fake("arxiv", ("https://x.example",), "academic"),
        ),
        is_academic=True,
    )

    async def asked(text: str) -> set[str]:
        found = await engines.search(QUERY.model_copy(update={"text": text}), limit=5)
        return {cost.model for cost in found.costs}

    assert await asked("metformin in patients with diabetes") == {"semantic-scholar", "pubmed"}
    assert await asked("당뇨 환자의 사망률") == {"semantic-scholar", "pubmed"}
    assert await asked("transformers as language models") == {"semantic-scholar", "arxiv"}
    assert await asked("tidal lagoons") == {"semantic-scholar"}
    plain = replace(engines, is_academic=False)
    found = await plain.search(QUERY.model_copy(update={"text": "diabetes patients"}), limit=5)
    assert {cost.model for cost in found.costs} == {"semantic-scholar"}


async def test_papers_may_have_a_number_of_their_own() -> None:
    many = tuple(f"https://p.example/{n}" for n in range(9))
    engines = FederatedSearch((fake("papers", many, "academic"), fake("web", many[:1], "web")), max_papers=4)
    hits, _, costs = await engines.search(QUERY, limit=2)
    assert len(hits) == 4
    assert {cost.model: cost.results for cost in costs} == {"papers": 4, "web": 1}


async def test_papers_are_paid_for_as_many_as_were_asked_for() -> None:
    prices = dict.fromkeys(("papers", "web"), lambda hits: hits / 100)
    engines = (fake("papers", (), "academic"), fake("web", (), "web"))
    _, _, costs = await FederatedSearch(engines, max_papers=40, prices=prices).search(QUERY, limit=2)
    assert {cost.model: cost.usd for cost in costs} == {"papers": 0.4, "web": 0.02}


def test_a_text_that_one_engine_delivered_is_not_ascribed_to_another() -> None:
    plain = Hit(query="q", address="https://a.example/x", title="", snippet="s", engine="one", rank=1)
    other = plain.model_copy(update={"engine": "two", "title": "T", "delivered": "0" * 64})
    (found,) = fuse_rankings([[plain], [other]])
    assert (found.engine, found.title, found.delivered) == ("one", "T", "")

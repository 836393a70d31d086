"""The best pages of a round, each once, none again."""

from fakes.records import hit, query
from fakes.services import NO_SIGNALS, FakePageLeases, FakePages
from langgraph.types import Overwrite

from fathom.nodes.selector import selector
from fathom.state import Fork, Hit, ResearchState, RunConfig, load_hits


async def chosen(*hits: Hit, sources: int = 10, visited: tuple[str, ...] = ()) -> list[str]:
    state: ResearchState = {"hits": list(hits), "visited": list(visited)}
    update = await selector(
        state,
        run_config=RunConfig(sources=sources),
        page_leases=FakePageLeases(),
        signals=NO_SIGNALS,
        pages=FakePages(),
    )
    emptied: object = update["hits"]
    assert emptied == Overwrite([])
    assert len(update["visited"]) == len(update["chosen"])
    return [h.address for h in update["chosen"]]


async def test_one_page_under_several_spellings_is_one_page() -> None:
    spellings = (
        hit("https://www.a.example/x/?utm_source=mail"),
        hit("http://a.example/x", 2),
        hit("https://A.example/x#part", 1, "r1q2"),
        hit("https://arxiv.org/pdf/2401.00001v2", 3),
        hit("https://arxiv.org/abs/2401.00001", 1, "r1q2"),
    )
    assert await chosen(*spellings) == [
        "https://www.a.example/x/?utm_source=mail",
        "https://arxiv.org/pdf/2401.00001v2",
    ]


async def test_a_page_is_never_visited_twice() -> None:
    first = await selector(
        {"hits": [hit("https://a.example/x?utm_id=1")]},
        run_config=RunConfig(),
        page_leases=FakePageLeases(),
        signals=NO_SIGNALS,
        pages=FakePages(),
    )
    again = await chosen(
        hit("http://www.a.example/x"), hit("https://b.example", 2), visited=tuple(first["visited"])
    )
    assert again == ["https://b.example"]


async def test_a_fork_reads_again_for_what_nobody_had_asked_before_it_and_only_in_its_first_round() -> None:
    known = hit("https://a.example/x", 1, "r1q1")
    state: ResearchState = {
        "visited": ["https://a.example/x"],
        "asked": [query("tides", "r1q1"), query("tides again", "r2q1", number=2)],
        "fork": Fork(run="r", round=1, direction="noise"),
    }
    noise = query("noise", "r2q2", "Q2", 2)
    later = noise.model_copy(update={"id": "r3q1", "round": 3})
    for found, asked, is_read in [("r2q1", noise, False), ("r2q2", noise, True), ("r3q1", later, False)]:
        hits = [known.model_copy(update={"query": found})]
        given: ResearchState = {**state, "hits": hits, "asked": [*state["asked"], noise, asked]}
        update = await selector(
            given, run_config=RunConfig(), page_leases=FakePageLeases(), signals=NO_SIGNALS, pages=FakePages()
        )
        assert bool(update["chosen"]) == is_read, found


async def test_what_several_queries_find_comes_before_what_one_finds() -> None:
    hits = [hit(f"https://h{n}.example", n, "r1q1") for n in range(1, 6)]
    hits += [hit("https://h4.example", 3, "r1q2"), hit("https://x.example", 5, "r1q3")]
    order = await chosen(*hits)
    assert order.index("https://h4.example") < order.index("https://h3.example")


async def test_every_query_gets_its_best_pages_before_a_popular_one_gets_more() -> None:
    popular = [hit(f"https://p{n}.example", n, q) for n in range(1, 9) for q in ("r1q1", "r1q2")]
    order = await chosen(*popular, hit("https://rare.example", 1, "r1q3"), sources=4)
    assert "https://rare.example" in order


async def test_one_host_does_not_take_every_place() -> None:
    many = [hit(f"https://a.example/{n}", n) for n in range(1, 7)]
    order = await chosen(*many, hit("https://b.example", 7), hit("https://c.example", 8), sources=5)
    assert order[:3] == ["https://a.example/1", "https://a.example/2", "https://a.example/3"]
    assert set(order[3:]) == {"https://b.example", "https://c.example"}
    assert len(await chosen(*many)) == 6


async def test_files_are_not_one_host() -> None:
    files = [hit(f"file:///notes/{n}.md", n) for n in range(1, 7)]
    assert await chosen(*files, hit("https://b.example", 7)) == [
        *(h.address for h in files),
        "https://b.example",
    ]


async def test_there_are_never_more_pages_than_allowed_and_perhaps_none() -> None:
    assert len(await chosen(*(hit(f"https://h{n}.example", n) for n in range(1, 9)), sources=2)) == 2
    assert await chosen() == []


async def test_a_broken_address_does_not_break_the_round() -> None:
    assert set(await chosen(hit("http://[broken"), hit("https://a.example", 2), hit("", 3))) >= {
        "https://a.example"
    }


async def test_what_a_round_found_is_kept_also_where_it_is_not_read() -> None:
    shelf, hits = FakePages(), [hit(f"https://a{n}.example/", n, authors=["A. Writer"]) for n in (1, 2, 3)]
    update = await selector(
        {"hits": hits},
        run_config=RunConfig(sources=1),
        page_leases=FakePageLeases(),
        signals=NO_SIGNALS,
        pages=shelf,
    )
    assert len(update["chosen"]) == 1
    (kept,) = update["results"]
    assert load_hits(await shelf.get(kept)) == hits

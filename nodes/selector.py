"""The selector: it chooses the pages of the round, once, from what all queries found or what is at hand."""

from collections import Counter

from langgraph.types import Overwrite

from fathom.http.urls import canonical_address, parse_host
from fathom.nodes.ports import ControlSignalsPort, PageLeasesPort, PagesPort
from fathom.planning.follow_up import recall_thread
from fathom.planning.reading_list import origin_hits
from fathom.state import SCOUT, Hit, ResearchState, RunConfig, ThreadKnowledge

_PER_HOST = 3
_SURE_PER_QUERY = 2
_RRF = 60


async def selector(
    state: ResearchState,
    *,
    run_config: RunConfig,
    page_leases: PageLeasesPort,
    signals: ControlSignalsPort,
    pages: PagesPort,
) -> ResearchState:
    """Choose unseen pages by fused rank, a few per host, at most the round's number of sources.

    A page that was read is not chosen again, except for a fork's new sub-questions, which it was not read
    for. In a branch, a page that another branch took is left to that one. After a person's stop none is
    chosen. In a follow-up's first round the pages come from what its thread knows, without a search. Sources
    that pages of earlier rounds name for their statements come before other hits, a few a round.

    Reads:  hits, visited, asked, fork, run, direction, known, questions, claims, pages
    Writes: chosen, visited, offered, hits; in a follow-up's first round known, recalled, claims, pages,
            visited, failures
    """
    known = state.get("known")
    if known and known.is_at_hand:
        return await _recall_for_follow_up(known, state, run_config, pages)
    origins = origin_hits(state, run_config)
    hits = [*_unseen_hits(state), *origins]
    best: dict[str, Hit] = {}
    scores: dict[str, float] = {}
    # A page that a planned query found is that query's, so that what came of it can be told later.
    for hit in sorted(hits, key=lambda h: h.query == SCOUT):
        address = canonical_address(hit.address)
        scores[address] = scores.get(address, 0.0) + 1 / (_RRF + hit.rank)
        best.setdefault(address, hit)
    firsts, named = _best_of_each_query(hits), {canonical_address(hit.address) for hit in origins}
    ranked = sorted(best, key=lambda a: (a not in named, a not in firsts, -scores[a]))
    chosen = [] if await signals.is_stopping() else _few_per_host(ranked)
    if branch := state.get("direction"):
        chosen = await page_leases.take(state["run"], branch.id, chosen, branch.sources)
    chosen = chosen[: run_config.max_sources]
    return {
        "chosen": [best[a] for a in chosen],
        "visited": chosen,
        "offered": list(best),
        # Unread hits are dropped: what matters is found again, and checkpoints stay small.
        "hits": Overwrite([]),  # type: ignore[typeddict-item]
    }


async def _recall_for_follow_up(
    known: ThreadKnowledge, state: ResearchState, run_config: RunConfig, pages: PagesPort
) -> ResearchState:
    """What the thread has for the new sub-questions; the rest is dropped, so that checkpoints stay small."""
    found = await recall_thread(known, state["questions"], run_config.max_sources, pages.get)
    return {
        "known": known.model_copy(update={"pages": [], "claims": [], "is_recalled": True}),
        "recalled": found.again,
        "claims": found.claims,
        "pages": found.pages,
        "visited": [canonical_address(page.address) for page in found.pages],
        "failures": found.failures,
    }


def _unseen_hits(state: ResearchState) -> list[Hit]:
    """What was found and not read yet, or not for what a fork's first round asks and nobody had asked."""
    seen, fork, asked = set(state.get("visited", [])), state.get("fork"), state.get("asked", [])
    begun = fork.round if fork else 0
    before = {query.question for query in asked if query.round <= begun}
    anew = {q.id for q in asked if fork and q.round == begun + 1 and q.question not in before}
    return [h for h in state.get("hits", []) if h.query in anew or canonical_address(h.address) not in seen]


def _best_of_each_query(hits: list[Hit]) -> set[str]:
    """The best new pages of each query, so that no sub-question goes unread because another is popular."""
    by_query: dict[str, list[str]] = {}
    for hit in sorted(hits, key=lambda h: h.rank):
        places = by_query.setdefault(hit.query, [])
        if len(places) < _SURE_PER_QUERY:
            places.append(canonical_address(hit.address))
    return {address for places in by_query.values() for address in places}


def _few_per_host(addresses: list[str]) -> list[str]:
    """Hosts take turns: what exceeds a host's share moves to the end. Files have no host."""
    counts: Counter[str] = Counter()
    first: list[str] = []
    rest: list[str] = []
    for address in addresses:
        place = parse_host(address)
        counts[place] += 1
        (rest if place and counts[place] > _PER_HOST else first).append(address)
    return first + rest

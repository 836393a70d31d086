"""Selector node: choose the pages of the round from all search hits or from stored pages."""

from collections import Counter

from langgraph.types import Overwrite

from fathom.http.urls import canonical_address, parse_host
from fathom.nodes.ports import ControlSignalsPort, PageLeasesPort, PagesPort
from fathom.planning.reading_list import origin_hits, recall_thread
from fathom.state import SCOUT, Hit, ResearchState, RunConfig, ThreadKnowledge, dump_hits

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
    """Choose unseen pages by fused rank, a few per host, up to the round's number of sources.

    A page is read once, except for new sub-questions of a fork. In a branch, pages leased by another branch
    are left out. After a user's stop none is chosen. A follow-up's first round takes its pages from the
    thread, without a search. Sources named by pages of earlier rounds come before other hits, a few a round.

    Reads:  hits, visited, asked, fork, run, direction, known, questions, claims, pages
    Writes: chosen, visited, offered, results, hits; in a follow-up's first round known, recalled, claims,
            pages, visited, failures
    """
    known = state.get("known")
    if known and known.is_at_hand:
        return await _recall_for_follow_up(known, state, run_config, pages)
    origins = origin_hits(state, run_config)
    hits = [*_unseen_hits(state), *origins]
    best: dict[str, Hit] = {}
    scores: dict[str, float] = {}
    # Credit a planned query, not the scouting one, so that its results can be reported later.
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
        # Hits are kept outside the state: relevant ones are found again, and checkpoints stay small.
        "results": [await pages.put(dump_hits(list(best.values())))] if best else [],
        "hits": Overwrite([]),  # type: ignore[typeddict-item]
    }


async def _recall_for_follow_up(
    known: ThreadKnowledge, state: ResearchState, run_config: RunConfig, pages: PagesPort
) -> ResearchState:
    """Recall what the thread has for the new sub-questions; drop the rest to keep checkpoints small."""
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
    """Return hits that were not read yet, or not read for the new sub-questions of a fork's first round."""
    seen, fork, asked = set(state.get("visited", [])), state.get("fork"), state.get("asked", [])
    begun = fork.round if fork else 0
    before = {query.question for query in asked if query.round <= begun}
    anew = {q.id for q in asked if fork and q.round == begun + 1 and q.question not in before}
    return [h for h in state.get("hits", []) if h.query in anew or canonical_address(h.address) not in seen]


def _best_of_each_query(hits: list[Hit]) -> set[str]:
    """Return the best new pages of each query, so that a popular sub-question does not crowd out another."""
    by_query: dict[str, list[str]] = {}
    for hit in sorted(hits, key=lambda h: h.rank):
        places = by_query.setdefault(hit.query, [])
        if len(places) < _SURE_PER_QUERY:
            places.append(canonical_address(hit.address))
    return {address for places in by_query.values() for address in places}


def _few_per_host(addresses: list[str]) -> list[str]:
    """Alternate hosts: move what exceeds a host's share to the end. Files have no host."""
    counts: Counter[str] = Counter()
    first: list[str] = []
    rest: list[str] = []
    for address in addresses:
        place = parse_host(address)
        counts[place] += 1
        (rest if place and counts[place] > _PER_HOST else first).append(address)
    return first + rest

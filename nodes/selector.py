"""The selector: the best pages of the round, chosen once from what all queries found."""

from collections import Counter
from urllib.parse import urlsplit

from langgraph.types import Overwrite

from fathom.search.addresses import canonical
from fathom.state import Hit, Knobs, ResearchState

_PER_HOST = 3
_RRF = 60


async def selector(state: ResearchState, *, knobs: Knobs) -> ResearchState:
    """Choose unseen pages by fused rank, a few per host, at most the round's number of sources.

    Reads:  hits, visited
    Writes: chosen, visited, hits
    """
    seen = set(state.get("visited", []))
    best: dict[str, Hit] = {}
    scores: Counter[str] = Counter()
    for hit in state.get("hits", []):
        address = canonical(hit.address)
        if address not in seen:
            scores[address] += 1 / (_RRF + hit.rank)  # type: ignore[assignment]
            best.setdefault(address, hit)
    ranked = sorted(best, key=lambda address: -scores[address])
    chosen = _few_per_host(ranked)[: knobs.sources]
    # Unread hits are dropped: what matters is found again, and checkpoints stay small.
    return {"chosen": [best[a] for a in chosen], "visited": chosen, "hits": Overwrite([])}  # type: ignore[typeddict-item]


def _few_per_host(addresses: list[str]) -> list[str]:
    """Hosts take turns: what exceeds a host's share moves to the end. Files have no host."""
    counts: Counter[str] = Counter()
    first: list[str] = []
    rest: list[str] = []
    for address in addresses:
        host = urlsplit(address).hostname or ""
        counts[host] += 1
        (rest if host and counts[host] > _PER_HOST else first).append(address)
    return first + rest

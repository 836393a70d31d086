"""Origins as hits: the sources that read pages name for what they say, offered to be read next.

Only links of pages that came from the web themselves, for claims that matter: a run over a folder of files
does not go to the web because a file links it, and no model can name an address here. Does not fetch.
"""

from collections.abc import Iterator

from fathom.evidence.origins import origin_of
from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.search.addresses import canonical, name_of
from fathom.search.scope import Scope
from fathom.state import Claim, Hit, Origin, Page, Quote, ResearchState, RunConfig
from fathom.text.normal import one_line

ORIGIN = "origin"  # the engine of such a hit
_MOST_A_ROUND = 3
_SNIPPET_CHARS = 300


def origin_hits(state: ResearchState, run_config: RunConfig) -> list[Hit]:
    """Return hits for unread origins, first those that the most and the most relevant claims lead to.

    At most a few, and at most half of what a round may read. The hosts that a run is limited to are its
    origins' limits too.
    """
    scope = Scope(tuple(run_config.include_domains), tuple(run_config.exclude_domains))
    found: dict[str, list[tuple[Claim, Quote, Origin]]] = {}
    for claim, quote, origin in _unread(state):
        found.setdefault(canonical(origin.address), []).append((claim, quote, origin))
    ranked = sorted(found.values(), key=lambda led: (-len(led), -max(claim.relevance for claim, *_ in led)))
    hits = [_hit(*led[0], rank, state) for rank, led in enumerate(ranked, 1)]
    most = min(_MOST_A_ROUND, max(1, run_config.max_sources // 2))
    return [hit for hit in hits if scope.admits(hit)][:most]


def has_unread_origins(state: ResearchState) -> bool:
    """Return whether a source that matters is named and was not read, whether or not the run may read it."""
    return next(_unread(state), None) is not None


def _unread(state: ResearchState) -> Iterator[tuple[Claim, Quote, Origin]]:
    read: dict[str, Page] = {page.sha: page for page in state.get("pages", []) if page.origins}
    visited = {*state.get("visited", []), *(canonical(page.address) for page in state.get("pages", []))}
    for claim in state.get("claims", []) if read else ():
        for quote in claim.quotes if claim.relevance >= ANSWERED_FROM else ():
            page = read.get(quote.page)
            if page is None or not page.address.startswith(("http://", "https://")):
                continue
            origin = origin_of(quote, page)
            if origin and canonical(origin.address) not in visited:
                yield claim, quote, origin


def _hit(claim: Claim, quote: Quote, origin: Origin, rank: int, state: ResearchState) -> Hit:
    asked = (query.id for query in reversed(state.get("asked", [])) if query.question == claim.question)
    return Hit(
        query=next(asked, ""),
        address=origin.address,
        title=name_of(origin.address),
        snippet=one_line(quote.text)[:_SNIPPET_CHARS],
        engine=ORIGIN,
        rank=rank,
    )

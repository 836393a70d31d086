"""Searcher node: search hits for one query."""

from fathom.errors import ProviderError
from fathom.nodes.ports import ControlSignalsPort, EnginesPort
from fathom.state import Assignment, ResearchState, RunConfig


async def searcher(
    state: Assignment, *, engines: EnginesPort, run_config: RunConfig, signals: ControlSignalsPort
) -> ResearchState:
    """Search for one query; a failed search is recorded and does not stop the run.

    After a user's stop nothing is searched.

    Reads:  query
    Writes: asked, hits, failures, costs
    """
    query = state["query"]
    if await signals.is_stopping():
        return {}
    try:
        found = await engines.search(query, limit=run_config.max_hits)
    except ProviderError as error:
        failure = error.failure("search", query.text)
        return {"asked": [query], "failures": [failure], "costs": error.costs}
    return {"asked": [query], "hits": found.hits, "failures": found.failures, "costs": found.costs}

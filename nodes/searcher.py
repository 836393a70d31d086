"""The searcher: hits for one query."""

from fathom.errors import ProviderError
from fathom.nodes.ports import Engines, Orders
from fathom.state import Assignment, Knobs, Loss, ResearchState


async def searcher(state: Assignment, *, engines: Engines, knobs: Knobs, orders: Orders) -> ResearchState:
    """Collect hits for one query; a lost branch is told, it does not end the run.

    Once a person has said stop, nothing new is searched.

    Reads:  query
    Writes: asked, hits, losses, charges
    """
    query = state["query"]
    if await orders.is_stopping():
        return {}
    try:
        found = await engines.search(query, limit=knobs.max_sources)
    except ProviderError as error:
        loss = Loss(where="search", what=query.text, why=str(error))
        return {"asked": [query], "losses": [loss], "charges": error.charges}
    return {"asked": [query], "hits": found.hits, "losses": found.losses, "charges": found.charges}

"""Search and read outside a run, with the engines and the reader that a run would have.

Only ids that a search of this lookup returned can be read, so that nobody can make Fathom fetch any address.
"""

import asyncio
import uuid

from fathom.errors import BadInput
from fathom.graph.dependencies import RunDependencies, standard_dependencies
from fathom.reading import Document
from fathom.settings import Settings
from fathom.state import Hit, Query, short_hash

_MOST_KNOWN = 1000


class SourceLookup:
    """Searches and reads, all together within the budget of one run."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._budget_name = f"lookup-{uuid.uuid4().hex}"
        self._found: dict[str, Hit] = {}

    async def search(self, words: str, *, limit: int = 10) -> dict[str, Hit]:
        """Return hits by ids for `read`; raise a ProviderError if every engine failed."""
        if not words.strip():
            raise BadInput("The query is empty.")
        working = await asyncio.to_thread(self._dependencies)
        query = Query(id=short_hash(words), text=words.strip()[:400], question="", round=1)
        outcome = await working.engines.search(query, limit=limit)
        by_id = {short_hash(hit.address): hit for hit in outcome.hits[:limit]}
        known = {name: hit for name, hit in self._found.items() if name not in by_id} | by_id
        self._found = dict(list(known.items())[-_MOST_KNOWN:])
        return by_id

    async def read(self, name: str) -> tuple[Hit, Document]:
        """Return a hit of an earlier search and its text."""
        if name not in self._found:
            raise BadInput("There is no document with this id; search first, and fetch an id of its results.")
        hit = self._found[name]
        return hit, await (await asyncio.to_thread(self._dependencies)).reader(hit)

    def _dependencies(self) -> RunDependencies:
        config = self._settings.run
        made = standard_dependencies(self._settings.with_allowed(config))(config)
        return made.for_run(self._budget_name, None, config)

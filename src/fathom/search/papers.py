"""What catalogues of papers know beyond a search: who cites a paper, whom it cites, whether it was retracted.

Does not know any catalogue, nor when a question asks for it. What a catalogue does not tell costs no hit.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fathom.errors import ProviderError
from fathom.state import Failure, Hit, LinkKind, Query

_ARXIV = re.compile(r"arxiv\.org/abs/((?:[a-z.-]+/\d{7}|\d{4}\.\d{4,5}))", re.IGNORECASE)
_FOLLOWED = 2  # papers of one search
_MOST_REMEMBERED = 5000
_WORDS: dict[LinkKind, str] = {"citations": "cites", "references": "cited by"}

# For DOIs, which of them were retracted.
RetractionCheck = Callable[[Collection[str]], Awaitable[Collection[str]]]


class LinkSource(Protocol):
    """A catalogue that knows who cites whom; `DOI:…` and `ARXIV:…` are its ids."""

    @property
    def name(self) -> str:
        """The word by which users know it."""

    async def citations(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that cite this one."""

    async def references(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that this one cites."""


@dataclass(frozen=True)
class PaperCatalogue:
    """Follows papers and marks retracted ones; catalogues are asked in turn until one answers."""

    links: Sequence[LinkSource] = ()
    retractions: Mapping[str, RetractionCheck] = field(default_factory=dict)  # by the catalogue's name
    known: dict[str, str] = field(default_factory=dict, repr=False)  # DOI: who says it was retracted, or ""

    async def complete(self, query: Query, hits: list[Hit], limit: int) -> tuple[list[Hit], list[Failure]]:
        """The hits, with the papers around them if the query wants those, and retracted ones marked."""
        found, failures = await self._follow(query, hits, limit) if query.links else ([], [])
        marked, lost = await self._mark_retracted([*hits, *found])
        return marked, [*failures, *lost]

    async def _follow(self, query: Query, hits: list[Hit], limit: int) -> tuple[list[Hit], list[Failure]]:
        """The papers around the first ones that a catalogue can name, as hits of the same query."""
        papers = [(paper_id(hit), hit) for hit in hits]
        known, failures = {hit.address for hit in hits}, list[Failure]()
        linked: list[Hit] = []
        for name, paper in [(name, hit) for name, hit in papers if name][:_FOLLOWED]:
            for kind in query.links:
                around, lost = await self._around(name, kind, limit)
                failures += lost
                words = f"{_WORDS[kind]} “{paper.title}”"
                new = [hit for hit in around if hit.address not in known]
                known |= {hit.address for hit in new}
                linked += [hit.model_copy(update={"query": query.id, "linked": words}) for hit in new]
        ranked = enumerate(linked[:limit], start=2)  # behind the paper itself
        return [hit.model_copy(update={"rank": rank}) for rank, hit in ranked], failures

    async def _around(self, name: str, kind: LinkKind, limit: int) -> tuple[list[Hit], list[Failure]]:
        failures: list[Failure] = []
        for source in self.links:
            try:
                ask = source.citations if kind == "citations" else source.references
                return await ask(name, limit), failures
            except ProviderError as error:
                failures.append(
                    Failure(where=f"papers: {source.name}", what=f"{kind} of {name}", why=str(error))
                )
        return [], failures

    async def _mark_retracted(self, hits: list[Hit]) -> tuple[list[Hit], list[Failure]]:
        """The hits, those of retracted papers marked with who says so; each DOI is asked about once."""
        self.known.update({hit.doi.lower(): hit.retracted for hit in hits if hit.doi and hit.retracted})
        asked = list(dict.fromkeys(h.doi.lower() for h in hits if h.doi and h.doi.lower() not in self.known))
        failures: list[Failure] = []
        for who, check in self.retractions.items() if asked else ():
            try:
                gone = {doi.lower() for doi in await check(asked)}
            except ProviderError as error:
                why = f"whether papers were retracted is not known: {error}"
                failures.append(Failure(where=f"papers: {who}", what="retractions", why=why))
                continue
            while len(self.known) > _MOST_REMEMBERED:
                self.known.pop(next(iter(self.known)))
            self.known.update({doi: who if doi in gone else "" for doi in asked})
            failures = []  # another one knew it
            break
        marks = [hit.retracted or self.known.get(hit.doi.lower(), "") for hit in hits]
        return [
            h.model_copy(update={"retracted": m}) if m else h for h, m in zip(hits, marks, strict=True)
        ], failures


def paper_id(hit: Hit) -> str:
    """The name by which catalogues know a paper; nothing, if it is none."""
    if found := _ARXIV.search(hit.address):
        return f"ARXIV:{found[1]}"
    return f"DOI:{hit.doi}" if hit.doi else ""

"""Exa: the web by meaning, with the passages of each page that fit the query.

Does not know retries, or which of its hits are worth reading. A thin adapter: the service's own package
brings a model vendor's along, and hides statuses in the words of a ValueError.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pydantic import BaseModel

from fathom.search import (
    MAX_SNIPPET_CHARS,
    Capability,
    ResultRow,
    Scope,
    bare_domain,
    iso_date,
    keep_text,
    to_hits,
)
from fathom.search.api_client import ApiClient, check_key
from fathom.settings import ExaType
from fathom.state import Hit, Query
from fathom.storage.content import PageTable

_FOR_ONE_PRICE = 10
_MAX_RESULTS = 100
_MAX_TEXT_CHARS = 200_000
_MALFORMED = (400, 422)


class _ExaResult(BaseModel):
    url: str
    title: str | None = None
    publishedDate: str | None = None  # noqa: N815 - Exa's name
    author: str | None = None
    highlights: list[str] | None = None
    text: str | None = None
    image: str | None = None


class _ExaAnswer(BaseModel):
    results: list[_ExaResult]


@dataclass(frozen=True)
class Exa:
    """https://exa.ai/docs/reference/search

    Key: `EXA_API_KEY`. Quirks: 402 means the credits or the key's budget are used up; titles, dates and
    authors may be missing; it knows no language and no operators; up to ten results with highlights or
    text are one price, each one more costs a tenth of a cent; `keyword` is a legacy type. A deep search
    asks for the text of each page too, if there is where to keep it.
    """

    api_key: str = field(repr=False)
    base_url: str = "https://api.exa.ai"
    search_type: ExaType = "auto"
    is_deep: bool = False
    has_images: bool = False
    texts: PageTable | None = field(default=None, repr=False)
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    usd_per_call: float = 0.007
    pause_s: float = 0.1
    today: Callable[[], date] = field(default=date.today, repr=False)
    name: str = field(default="exa", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"web", "semantic", "content"}), init=False)

    def __post_init__(self) -> None:
        check_key(self.name, "EXA_API_KEY", self.api_key)

    def units(self, limit: int) -> float:
        """How many times the usual price one request is: each result beyond ten costs a seventh of it."""
        return 1.0 + max(0, min(limit, _MAX_RESULTS) - _FOR_ONE_PRICE) / 7

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The best pages, each with what it says about the query."""
        headers = {"x-api-key": self.api_key}
        wire = ApiClient(self.name, self.base_url, headers, self.api_key, self.timeout_s, _MALFORMED)
        body = {
            "query": query.text,
            "type": self.search_type,
            "numResults": min(limit, _MAX_RESULTS),
            "contents": {
                "highlights": {"maxCharacters": MAX_SNIPPET_CHARS},
                **({"text": {"maxCharacters": _MAX_TEXT_CHARS}} if self.is_deep and self.texts else {}),
            },
            **self._limits(),
        }
        answer = await wire.post("/search", body, _ExaAnswer)
        rows = [await self._row(result) for result in answer.results]
        return to_hits(self.name, query, rows, limit=limit)

    def _limits(self) -> dict[str, Any]:
        """Exa takes hosts to look in or hosts to avoid; both at once only shrink the first list."""
        scope = self.scope
        wanted = [bare_domain(domain) for domain in scope.include_domains]
        unwanted = [bare_domain(domain) for domain in scope.exclude_domains]
        return {
            "includeDomains": wanted or None,
            "excludeDomains": None if wanted else unwanted or None,
            "startPublishedDate": f"{scope.since}T00:00:00.000Z" if scope.since else None,
            "endPublishedDate": f"{scope.until}T23:59:59.999Z" if scope.until else None,
        }

    async def _row(self, result: _ExaResult) -> ResultRow:
        return ResultRow(
            address=result.url,
            title=result.title,
            snippet=" … ".join(result.highlights or []) or result.text,
            published=iso_date(result.publishedDate, today=self.today()),
            authors=(author,) if (author := (result.author or "").strip()) else (),
            image=result.image if self.has_images else None,
            delivered=await keep_text(self.texts if self.is_deep else None, result.text),
        )

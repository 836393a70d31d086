"""SearXNG: one's own search engine over many others.

Does not know retries, or which of its hits are worth reading.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import httpx2
from pydantic import BaseModel

from fathom.errors import BadInput, ProviderError, Refused, Unavailable
from fathom.http.urls import is_web_address
from fathom.search import Capability, ResultRow, Scope, add_site_operators, iso_date, to_hits
from fathom.search.api_client import ApiClient
from fathom.state import Hit, Query

SearxngKind = Literal["web", "news", "images"]
_CATEGORIES: dict[SearxngKind, str] = {"web": "general", "news": "news", "images": "images"}
_MAX_PAGES = 5
_RANGES = {"day": 1, "month": 30, "year": 365}
_HINT = "enable the json format in its settings (search.formats), or let this machine in"


class _SearxngResult(BaseModel):
    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None  # noqa: N815 - SearXNG's name
    img_src: str | None = None


class _SearxngAnswer(BaseModel):
    results: list[_SearxngResult]
    unresponsive_engines: list[Any] | None = None


class _SearxngClient(ApiClient):
    def failed(self, response: httpx2.Response) -> ProviderError:
        """It refuses formats that are not enabled as it refuses strangers."""
        error = super().failed(response)
        if response.status_code == httpx2.codes.FORBIDDEN:
            return Refused(f"{error}; {_HINT}")
        return error


@dataclass(frozen=True)
class Searxng:
    """https://docs.searxng.org/dev/search_api.html

    Key: none, but an instance: `SEARXNG_URL`. Quirks: JSON must be enabled in its settings, else 403 with
    a page; no page size; if all its engines fail it says 200, no results, and who did not respond; a `!`
    in front of a word is a command to it; dates reach back a day, a month or a year.
    """

    base_url: str
    kind: SearxngKind = "web"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    today: Callable[[], date] = field(default=date.today, repr=False)
    name: str = "searxng"
    capabilities: frozenset[Capability] = frozenset({"web", "news"})

    def __post_init__(self) -> None:
        if not self.base_url.strip():
            raise BadInput(f"{self.name} needs SEARXNG_URL.")
        if not is_web_address(self.base_url):
            raise BadInput("SEARXNG_URL must start with http:// or https://.")

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The best results, page by page until the limit is full or a page brings nothing new."""
        found: dict[str, ResultRow] = {}
        for page in range(1, _MAX_PAGES + 1):
            answer = await self._page(query.text, page)
            if not found and not answer.results and answer.unresponsive_engines:
                raise Unavailable(f"{self.name} had no answer from {_names(answer.unresponsive_engines)}")
            known = len(found)
            for row in map(self._row, answer.results):
                found.setdefault(row.address or "", row)
            if len(found) == known or len(found) >= limit:
                break
        return to_hits(self.name, query, found.values(), limit=limit)

    async def _page(self, text: str, page: int) -> _SearxngAnswer:
        headers = {"Accept-Language": self.scope.language or "en"}
        # A slash at the end, so that an instance may live under a path.
        place = self.base_url.rstrip("/") + "/"
        wire = _SearxngClient(self.name, place, headers, timeout_s=self.timeout_s, malformed=[400])
        words = " ".join(word.lstrip("!:") for word in text.split())
        params = {
            "q": add_site_operators(words, self.scope),
            "format": "json",
            "categories": _CATEGORIES[self.kind],
            "language": self.scope.language,
            "pageno": page,
            "time_range": self._range(),
        }
        return await wire.get("search", params, _SearxngAnswer)

    def _range(self) -> str | None:
        """The shortest range that reaches back far enough; the rest is sorted out later."""
        if self.scope.since is None:
            return None
        age_days = (self.today() - self.scope.since).days
        return next((name for name, days in _RANGES.items() if age_days <= days), None)

    def _row(self, result: _SearxngResult) -> ResultRow:
        published = iso_date(result.publishedDate, today=self.today())
        image = result.img_src if self.kind == "images" else None
        return ResultRow(result.url, result.title, result.content, published, image=image)


def _names(engines: list[Any]) -> str:
    """Who did not respond: names, or pairs of a name and a reason."""
    told = [" ".join(map(str, e)) if isinstance(e, list) else str(e) for e in engines]
    return ", ".join(told)[:200]

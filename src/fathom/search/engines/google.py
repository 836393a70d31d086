"""Google's Programmable Search: the web, for those who have had it since before it was closed.

Does not know retries, or which of its hits are worth reading.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import httpx2
from pydantic import AliasPath, BaseModel, Field

from fathom.errors import BadInput, BadQuery, ProviderError, Refused, Unavailable
from fathom.search import Capability, ResultRow, Scope, add_site_operators, iso_date, language_code, to_hits
from fathom.search.api_client import ApiClient, check_key
from fathom.state import Hit, Query

_MAX_QUERY_CHARS = 600  # it travels in the address, and Korean takes nine bytes a letter there
_PAGE = 10
_MAX_RESULTS = 100
_DATE_TAGS = ("article:published_time", "og:published_time", "date", "citation_publication_date", "dc.date")
_PDF = "application/pdf"
_SPENT = (b"dailyLimitExceeded", b"per day", b"billingNotEnabled")


class _GoogleItem(BaseModel):
    link: str
    title: str | None = None
    snippet: str | None = None
    mime: str | None = None
    tags: list[dict[str, Any]] | None = Field(None, validation_alias=AliasPath("pagemap", "metatags"))


class _GoogleAnswer(BaseModel):
    kind: str
    items: list[_GoogleItem] | None = None  # missing when nothing was found


class _GoogleClient(ApiClient):
    def failed(self, response: httpx2.Response) -> ProviderError:
        """A bad key is a 400, a day's quota a 429, a minute's sometimes a 403: the reasons tell."""
        error, status, body = super().failed(response), response.status_code, response.content
        if b"API_KEY_INVALID" in body or b"API key not valid" in body or any(s in body for s in _SPENT):
            return Refused(str(error))
        if status == httpx2.codes.FORBIDDEN and b"ateLimitExceeded" in body:
            return Unavailable(str(error))
        return BadQuery(str(error)) if status == httpx2.codes.BAD_REQUEST else error


@dataclass(frozen=True)
class Google:
    """https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list

    Key: `GOOGLE_API_KEY`, sent as a header so that no address shows it, and the engine's id:
    `GOOGLE_CSE_ID`. Quirks: closed to new customers, and to all from 2027; ten results a request, a
    hundred in all, `start` counts from 1; a bad key and a bad engine id are 400s like a bad query;
    `items` is missing when nothing was found; dates stand in the pages' own tags.
    """

    api_key: str = field(repr=False)
    engine_id: str
    base_url: str = "https://www.googleapis.com"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    usd_per_call: float = 0.005
    today: Callable[[], date] = field(default=date.today, repr=False)
    name: str = field(default="google", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"web"}), init=False)

    def __post_init__(self) -> None:
        check_key(self.name, "GOOGLE_API_KEY", self.api_key)
        if not self.engine_id.strip():
            raise BadInput(f"{self.name} needs GOOGLE_CSE_ID.")

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The best results; ten a request, as long as pages come full."""
        found: list[_GoogleItem] = []
        for start in range(1, min(limit, _MAX_RESULTS) + 1, _PAGE):
            size = min(limit - start + 1, _PAGE, _MAX_RESULTS - start + 1)
            items = (await self._page(query.text, size, start)).items or []
            found += items
            if len(items) < size:
                break
        return to_hits(self.name, query, map(self._row, found), limit=limit)

    async def _page(self, text: str, size: int, start: int) -> _GoogleAnswer:
        headers = {"X-Goog-Api-Key": self.api_key}
        wire = _GoogleClient(self.name, self.base_url, headers, self.api_key, timeout_s=self.timeout_s)
        language = language_code(self.scope.language)
        days = self.scope.days(self.today(), ":", "%Y%m%d")
        params = {
            "cx": self.engine_id,
            "q": add_site_operators(text, self.scope, max_chars=_MAX_QUERY_CHARS),
            "num": size,
            "start": start,
            "lr": f"lang_{'zh-CN' if language == 'zh' else language}" if language else None,
            "sort": f"date:r:{days}" if days else None,
        }
        return await wire.get("/customsearch/v1", params, _GoogleAnswer)

    def _row(self, item: _GoogleItem) -> ResultRow:
        written = next((tag[name] for tag in item.tags or [] for name in _DATE_TAGS if tag.get(name)), None)
        published = iso_date(str(written or ""), today=self.today())
        return ResultRow(
            item.link, item.title, item.snippet, published, pdf=item.link if item.mime == _PDF else None
        )

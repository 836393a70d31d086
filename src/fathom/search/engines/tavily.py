"""Tavily: web and news search made for language models.

Does not know retries, or which of its hits are worth reading.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import AliasPath, BaseModel, Field

from fathom.search.api_client import ApiClient, check_key
from fathom.search.protocol import Capability, ResultRow, iso_date, keep_text, to_hits
from fathom.state import Hit, Query
from fathom.storage.content import PageTable

_MAX_QUERY_CHARS = 400
_MAX_RESULTS = 20
_ASIDE_S = 5.0


class _TavilyResult(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    raw_content: str | None = None
    published_date: str | None = None


class _TavilyAnswer(BaseModel):
    results: list[_TavilyResult]


class _TavilyUsage(BaseModel):
    key: dict[str, Any]
    limit: int | None = Field(None, validation_alias=AliasPath("key", "limit"))
    used: int | None = Field(None, validation_alias=AliasPath("key", "usage"))
    plan_limit: int | None = Field(None, validation_alias=AliasPath("account", "plan_limit"))
    plan_used: int | None = Field(None, validation_alias=AliasPath("account", "plan_usage"))


@dataclass(frozen=True)
class Tavily:
    """https://docs.tavily.com/documentation/api-reference/endpoint/search

    Key: `TAVILY_API_KEY`. Quirks: queries over 400 characters are a 400; `site:` and other operators do not
    work; publishing dates come with news only; 432 and 433 mean the plan or the budget is used up. A deep
    search is `advanced`, costs two credits, and brings the text of each page if there is where to keep it.
    """

    api_key: str = field(repr=False)
    base_url: str = "https://api.tavily.com"
    topic: Literal["general", "news", "finance"] = "general"
    timeout_s: float = 30.0
    usd_per_call: float = 0.008  # one credit, paid as you go
    is_deep: bool = False
    texts: PageTable | None = field(default=None, repr=False)
    name: str = field(default="tavily", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"web", "news", "content"}), init=False)

    def __post_init__(self) -> None:
        check_key(self.name, "TAVILY_API_KEY", self.api_key)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The best pages for the query; the service's limit of 20 holds."""
        body = {
            "query": query.text[:_MAX_QUERY_CHARS],
            "topic": self.topic,
            "max_results": min(limit, _MAX_RESULTS),
            "search_depth": "advanced" if self.is_deep else None,
            "include_raw_content": "markdown" if self.is_deep and self.texts else None,
        }
        answer = await self._client(self.timeout_s).post("/search", body, _TavilyAnswer)
        rows = [await self._row(result) for result in answer.results]
        return to_hits(self.name, query, rows, limit=limit)

    async def credit_left(self) -> str:
        """How many credits the key and the plan leave; nothing, if neither has a limit."""
        usage = await self._client(_ASIDE_S).get("/usage", {}, _TavilyUsage)
        limits = [(usage.limit, usage.used), (usage.plan_limit, usage.plan_used)]
        left = [limit - (used or 0) for limit, used in limits if limit is not None]
        return str(max(0, min(left))) if left else ""

    def units(self, _limit: int) -> float:
        """How many credits one request is."""
        return 2.0 if self.is_deep else 1.0

    def _client(self, timeout_s: float) -> ApiClient:
        headers = {"Authorization": f"Bearer {self.api_key}"}
        return ApiClient(self.name, self.base_url, headers, self.api_key, timeout_s)

    async def _row(self, result: _TavilyResult) -> ResultRow:
        delivered = await keep_text(self.texts, result.raw_content)
        published = iso_date(result.published_date)
        return ResultRow(result.url, result.title, result.content, published, delivered=delivered)

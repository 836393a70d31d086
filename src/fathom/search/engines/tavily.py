"""Tavily: web and news search made for language models.

Does not know retries, or which of its hits are worth reading.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import httpx
from pydantic import BaseModel
from tavily import AsyncTavilyClient
from tavily.errors import TimeoutError as TavilyTimeoutError

from fathom.errors import Refused, Unavailable, Unreachable, Unreadable
from fathom.http import error_for_status
from fathom.http.client import load_tls_context
from fathom.search import Capability, ResultRow, iso_date, keep_text, to_hits
from fathom.search.api_client import ApiClient, check_key, error_text, parse_answer
from fathom.state import Hit, Query
from fathom.storage.content import PageTable

_MAX_QUERY_CHARS = 400
_MAX_RESULTS = 20
_MAX_SAID_CHARS = 200
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class _TavilyResult(BaseModel):
    url: str
    title: str | None = None
    content: str | None = None
    raw_content: str | None = None
    published_date: str | None = None


class _TavilyKeyUsage(BaseModel):
    usage: int | None = None
    limit: int | None = None


class _TavilyPlanUsage(BaseModel):
    plan_usage: int | None = None
    plan_limit: int | None = None


class _TavilyUsage(BaseModel):
    key: _TavilyKeyUsage
    account: _TavilyPlanUsage = _TavilyPlanUsage()


class _TavilyAnswer(BaseModel):
    results: list[_TavilyResult]


@dataclass(frozen=True)
class Tavily:
    """https://docs.tavily.com/documentation/api-reference/endpoint/search

    Key: `TAVILY_API_KEY`. Without one the SDK would silently search in its keyless mode; we refuse.
    Quirks: queries over 400 characters are a 400; `site:` and other operators do not work; publishing
    dates come with news only; 432 and 433 mean the plan or the budget is used up; the SDK drops
    `Retry-After` and takes an answer without results for an empty one, so answers are judged before it
    sees them. A client is made for each search: one shared between event loops breaks. A deep search is
    `advanced`, costs two credits, and brings the text of each page if there is where to keep it.
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
        """The best pages for the query; the SDK's limit of 20 holds."""
        answer = await self._search(query.text[:_MAX_QUERY_CHARS], min(limit, _MAX_RESULTS))
        rows = [await self._row(result) for result in answer.results]
        return to_hits(self.name, query, rows, limit=limit)

    async def credit_left(self) -> str:
        """How many credits the key and the plan leave; nothing, if neither has a limit."""
        headers = {"Authorization": f"Bearer {self.api_key}"}
        wire = ApiClient(self.name, self.base_url, headers, self.api_key, timeout_s=5.0)
        usage = await wire.get("/usage", {}, _TavilyUsage)
        limits = [(usage.key.limit, usage.key.usage), (usage.account.plan_limit, usage.account.plan_usage)]
        left = [limit - (used or 0) for limit, used in limits if limit is not None]
        return str(max(0, min(left))) if left else ""

    def units(self, _limit: int) -> float:
        """How many credits one request is."""
        return 2.0 if self.is_deep else 1.0

    async def _row(self, result: _TavilyResult) -> ResultRow:
        delivered = await keep_text(self.texts, result.raw_content)
        published = iso_date(result.published_date)
        return ResultRow(result.url, result.title, result.content, published, delivered=delivered)

    def _depth_words(self) -> dict[str, Any]:
        if not self.is_deep:
            return {}
        return {"search_depth": "advanced", "include_raw_content": "markdown" if self.texts else False}

    async def _search(self, text: str, limit: int) -> _TavilyAnswer:
        # What these errors say is not passed on: it may quote the request, and so the key.
        hooks: dict[str, list[Callable[..., Any]]] = {
            "response": [partial(_check_response, key=self.api_key)]
        }
        verify = await load_tls_context()
        async with httpx.AsyncClient(base_url=self.base_url, event_hooks=hooks, verify=verify) as client:
            sdk = AsyncTavilyClient(self.api_key, client=client)
            try:
                async with asyncio.timeout(self.timeout_s):
                    return _TavilyAnswer.model_validate(
                        await sdk.search(
                            text,
                            topic=self.topic,
                            max_results=limit,
                            timeout=self.timeout_s,
                            **self._depth_words(),
                        )
                    )
            except _UNSENT as error:
                raise Unreachable(f"tavily cannot be reached ({type(error).__name__})") from None
            except (TimeoutError, TavilyTimeoutError) as error:
                kind = Unreachable if isinstance(error.__context__, _UNSENT) else Unavailable
                raise kind(f"tavily did not answer within {self.timeout_s:g} s") from None
            except (httpx.LocalProtocolError, httpx.UnsupportedProtocol):
                raise Refused("tavily cannot be asked: the key or the address is malformed") from None
            except httpx.TransportError as error:
                raise Unavailable(f"tavily cannot be reached ({type(error).__name__})") from None
            except httpx.DecodingError:
                raise Unreadable("tavily answered something that cannot be decoded") from None


async def _check_response(response: httpx.Response, *, key: str) -> None:
    """Let good answers pass; the others become our errors while their headers are still known."""
    body = await response.aread()
    if response.status_code != httpx.codes.OK:
        retry_after = response.headers.get("retry-after")
        said = error_text(body).replace(key, "***")[:_MAX_SAID_CHARS]
        raise error_for_status("tavily", response.status_code, retry_after=retry_after, said=said)
    parse_answer("tavily", body, _TavilyAnswer)

"""Serper: Google's results for the web, for news, for papers and for images.

Does not know retries, or which of its hits are worth reading.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import httpx2
from pydantic import BaseModel

from fathom.errors import BadQuery, ProviderError, Refused
from fathom.search import Capability, ResultRow, Scope, add_site_operators, iso_date, language_code, to_hits
from fathom.search.api_client import ApiClient, check_key
from fathom.state import Hit, Query

SerperKind = Literal["web", "news", "scholar", "images"]
_PATHS: dict[SerperKind, str] = {
    "web": "/search",
    "news": "/news",
    "scholar": "/scholar",
    "images": "/images",
}
_FOR_ONE_CREDIT = 10
_ASIDE_S = 5.0
_MAX_RESULTS: dict[SerperKind, int] = {"web": 100, "news": 100, "scholar": 20, "images": 100}
_ELLIPSIS = re.compile(r"…|\.\.\.")


class _SerperResult(BaseModel):
    link: str | None = None  # Scholar lists books and citations that lead nowhere
    title: str | None = None
    snippet: str | None = None
    date: str | None = None
    publicationInfo: str | None = None  # noqa: N815 - Serper's names
    year: int | str | None = None
    citedBy: int | None = None  # noqa: N815
    pdfUrl: str | None = None  # noqa: N815
    imageUrl: str | None = None  # noqa: N815


class _SerperAnswer(BaseModel):
    searchParameters: dict[str, Any]  # noqa: N815 - the one block that is always there
    organic: list[_SerperResult] | None = None
    news: list[_SerperResult] | None = None
    images: list[_SerperResult] | None = None


class _SerperAccount(BaseModel):
    balance: int


class _SerperClient(ApiClient):
    def failed(self, response: httpx2.Response) -> ProviderError:
        """Credits that are used up are a 400 too, and not the query's fault."""
        error = super().failed(response)
        if response.status_code != httpx2.codes.BAD_REQUEST:
            return error
        return Refused(str(error)) if "credit" in str(error).lower() else BadQuery(str(error))


@dataclass(frozen=True)
class Serper:
    """https://serper.dev

    Key: `SERPER_API_KEY`. Quirks: a bad key is 403; credits used up are 400, told apart from a bad query
    only by the words; more than ten results cost a second credit; dates are free text, often "3 hours
    ago"; every block of an answer may be missing but the one that repeats the question.
    """

    api_key: str = field(repr=False)
    base_url: str = "https://google.serper.dev"
    kind: SerperKind = "web"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    usd_per_call: float = 0.001
    today: Callable[[], date] = field(default=date.today, repr=False)
    name: str = "serper"
    capabilities: frozenset[Capability] = frozenset({"web", "news", "academic"})

    def __post_init__(self) -> None:
        check_key(self.name, "SERPER_API_KEY", self.api_key)

    async def credit_left(self) -> str:
        """How many credits the account has."""
        headers = {"X-API-KEY": self.api_key}
        wire = _SerperClient(self.name, self.base_url, headers, self.api_key, timeout_s=_ASIDE_S)
        return str((await wire.get("/account", {}, _SerperAccount)).balance)

    def units(self, limit: int) -> float:
        """How many credits one request is."""
        return 2.0 if min(limit, _MAX_RESULTS[self.kind]) > _FOR_ONE_CREDIT else 1.0

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The best results of one kind; one request, whatever the limit."""
        wire = _SerperClient(
            self.name, self.base_url, {"X-API-KEY": self.api_key}, self.api_key, timeout_s=self.timeout_s
        )
        body = {
            "q": add_site_operators(query.text, self.scope),
            "num": min(limit, _MAX_RESULTS[self.kind]),
            "hl": language_code(self.scope.language),
            **self._dates(),
        }
        answer = await wire.post(_PATHS[self.kind], body, _SerperAnswer)
        results = {"news": answer.news, "images": answer.images}.get(self.kind, answer.organic)
        return to_hits(self.name, query, map(self._row, results or []), limit=limit)

    def _dates(self) -> dict[str, Any]:
        since, until = self.scope.since, self.scope.until
        if self.kind == "scholar":
            return {"as_ylo": since.year if since else None, "as_yhi": until.year if until else None}
        ends = [f"cd_min:{_us_date(since)}"] if since else []
        ends += [f"cd_max:{_us_date(until)}"] if until else []
        return {"tbs": ",".join(["cdr:1", *ends]) if ends else None}

    def _row(self, result: _SerperResult) -> ResultRow:
        return ResultRow(
            address=result.link,
            title=result.title,
            snippet=result.snippet,
            published=iso_date(result.date or str(result.year or ""), today=self.today()),
            authors=_authors(result.publicationInfo),
            pdf=result.pdfUrl,
            cited_by=result.citedBy,
            image=result.imageUrl if self.kind == "images" else None,
        )


def _us_date(day: date) -> str:
    return f"{day.month}/{day.day}/{day.year}"


def _authors(info: str | None) -> tuple[str, ...]:
    """The names in front of the journal: "A Writer, B Other… - J. Tides, 2021 - ocean.example"."""
    names, dash, _ = (info or "").partition(" - ")
    return tuple(n for name in _ELLIPSIS.sub("", names).split(",") if dash and (n := name.strip()))

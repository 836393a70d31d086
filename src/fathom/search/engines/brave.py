"""Brave: the web, the news and images from an index of its own.

Does not know retries, or which of its hits are worth reading.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import httpx2
from pydantic import AliasChoices, AliasPath, BaseModel, Field, ValidationError

from fathom.errors import ProviderError, Refused, Unavailable
from fathom.search import Capability, ResultRow, Scope, add_site_operators, iso_date, language_code, to_hits
from fathom.search.api_client import ApiClient, check_key
from fathom.state import Hit, Query

BraveKind = Literal["web", "news", "images"]
_PAGE: dict[BraveKind, int] = {"web": 20, "news": 50, "images": 100}
_MAX_PAGES = 10
_MAX_QUERY_CHARS, _MAX_QUERY_WORDS = 400, 50
_LANGUAGES = frozenset(
    """ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl
    pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans""".split()  # noqa: SIM905
)
_BRAVE_CODES = {"ja": "jp", "zh": "zh-hans", "pt": "pt-pt", "no": "nb"}


class _BraveResult(BaseModel):
    url: str
    title: str | None = None
    description: str | None = None
    extra_snippets: list[str] | None = None
    page_age: str | None = None
    age: str | None = None
    image: str | None = Field(None, validation_alias=AliasPath("properties", "url"))


class _BraveAnswer(BaseModel):
    query: dict[str, Any]
    # Those of the web stand deeper; they are missing when nothing was found.
    results: list[_BraveResult] | None = Field(
        None, validation_alias=AliasChoices(AliasPath("web", "results"), "results")
    )


class _BraveFailure(BaseModel):
    code: str = Field("", validation_alias=AliasPath("error", "code"))


class _BraveClient(ApiClient):
    def failed(self, response: httpx2.Response) -> ProviderError:
        """Its codes say more than its statuses."""
        error = super().failed(response)
        code = _error_code(response.content)
        if "TOKEN" in code or "QUOTA" in code or "SUBSCRIPTION" in code:
            return Refused(str(error))
        if isinstance(error, Unavailable) and error.wait_s is None:
            error.wait_s = _reset_s(response)
        return error


@dataclass(frozen=True)
class Brave:
    """https://api-dashboard.search.brave.com/app/documentation

    Key: `BRAVE_API_KEY`. Quirks: a bad key is a 422, and so is a bad query; a month's quota may end as a
    429; no `Retry-After`, but the seconds to the next window stand first in `X-RateLimit-Reset`;
    `offset` counts pages; queries end at 400 characters and 50 words; languages have codes of their own;
    descriptions have tags and entities; `web` is missing when nothing was found.
    """

    api_key: str = field(repr=False)
    base_url: str = "https://api.search.brave.com"
    kind: BraveKind = "web"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    usd_per_call: float = 0.005
    pause_s: float = 0.02
    today: Callable[[], date] = field(default=date.today, repr=False)
    name: str = "brave"
    capabilities: frozenset[Capability] = frozenset({"web", "news"})
    credit_pause_s: float = field(default=0.0, init=False, repr=False)  # every answer tells it
    last_headers: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        check_key(self.name, "BRAVE_API_KEY", self.api_key)

    async def credit_left(self) -> str:
        """How many searches of the month are left; nothing for a plan without such a limit."""
        limits, left = (_windows(self.last_headers, name) for name in ("limit", "remaining"))
        return left[-1] if len(left) > 1 and limits[-1] != "0" else ""

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The best results; another page only if the first did not fill the limit and there is more."""
        size = min(limit, _PAGE[self.kind])
        found: list[_BraveResult] = []
        for page in range(_MAX_PAGES):
            answer = await self._page(query.text, size, page)
            found += answer.results or []
            has_more = answer.results and answer.query.get("more_results_available")
            if len(found) >= limit or not has_more:
                break
        return to_hits(self.name, query, map(self._row, found), limit=limit)

    async def _page(self, text: str, size: int, page: int) -> _BraveAnswer:
        headers = {"X-Subscription-Token": self.api_key}
        service = (self.name, self.base_url, headers, self.api_key, self.timeout_s)
        wire = _BraveClient(*service, malformed=[422], last_headers=self.last_headers)
        params = {
            "q": add_site_operators(text, self.scope, max_chars=_MAX_QUERY_CHARS, max_words=_MAX_QUERY_WORDS),
            "count": size,
            "offset": page or None,
            "text_decorations": None if self.kind == "images" else "false",
            "search_lang": _language(self.scope.language),
            "freshness": None if self.kind == "images" else self.scope.days(self.today(), "to"),
        }
        return await wire.get(f"/res/v1/{self.kind}/search", params, _BraveAnswer)

    def _row(self, result: _BraveResult) -> ResultRow:
        today = self.today()
        published = iso_date(result.page_age, today=today) or iso_date(result.age, today=today)
        snippet = " ".join([result.description or "", *(result.extra_snippets or [])])
        image = result.image if self.kind == "images" else None
        return ResultRow(result.url, result.title, snippet, published, image=image)


def _language(language: str | None) -> str | None:
    """Brave's own code; a language it does not know would make it refuse the query."""
    code = language_code(language) or ""
    code = _BRAVE_CODES.get(code, code)
    return code if code in _LANGUAGES else None


def _error_code(body: bytes) -> str:
    try:
        return _BraveFailure.model_validate_json(body).code
    except ValidationError:
        return ""


def _reset_s(response: httpx2.Response) -> float | None:
    """The seconds until the shortest window opens again."""
    with suppress(ValueError):
        return max(0.0, float(_windows(response.headers, "reset")[0]))
    return None


def _windows(headers: Mapping[str, str], name: str) -> list[str]:
    """What a header says of each window of time, the shortest first: a second, a month."""
    return [said.strip() for said in headers.get(f"x-ratelimit-{name}", "").split(",")]

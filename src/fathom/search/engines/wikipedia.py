"""Wikipedia: articles by their words, in the language of the question.

Does not know retries, or what stands in an article.
"""

from dataclasses import dataclass, field
from urllib.parse import quote

from pydantic import AliasPath, BaseModel, Field

from fathom.errors import BadQuery, ProviderError, Refused, Unavailable, Unreadable
from fathom.search import (
    Capability,
    ResultRow,
    Scope,
    ask_for_all_or_any,
    has_hangul,
    iso_date,
    language_code,
    query_words,
    to_hits,
)
from fathom.search.api_client import ApiClient, user_agent
from fathom.state import Hit, Query

_MAX_PAGE = 50
_MAX_QUERY_CHARS = 300
_RETRYABLE_CODES = (
    "maxlag",
    "ratelimited",
    "readonly",
    "internal_api_error",
    "cirrussearch-backend",
    "cirrussearch-too-busy",
)
_REFUSAL_CODES = ("readapidenied", "permissiondenied", "blocked", "search-disabled", "srsearch-disabled")
_BAD_QUERY_CODES = (
    "badvalue",
    "missingparam",
    "nosrsearch",
    "cirrussearch-",
    "search-",
    "toolong",
    "maxbytes",
    "maxchars",
)


class _WikipediaArticle(BaseModel):
    title: str
    snippet: str | None = None
    timestamp: str | None = None


class _WikipediaError(BaseModel):
    code: str
    info: str | None = None


class _WikipediaAnswer(BaseModel):
    articles: list[_WikipediaArticle] | None = Field(None, validation_alias=AliasPath("query", "search"))
    error: _WikipediaError | None = None


@dataclass(frozen=True)
class Wikipedia:
    """https://www.mediawiki.org/wiki/API:Search

    Key: none, but the User-Agent must say who asks, and better with a `contact`. The language of `base_url`
    is the scope's, or Korean for a query in Hangul, else English; an address without the place for it is
    another wiki. Quirks: errors come as 200; queries over 300 characters are refused; punctuation is syntax;
    an article's date is that of its last edit. All words must be in an article; if none has them all, any of
    them will do.
    """

    base_url: str = "https://{language}.wikipedia.org"
    contact: str = ""
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    name: str = field(default="wikipedia", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"web"}), init=False)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The articles that fit best."""
        words = query_words(query.text)
        if not words or limit < 1:
            return []
        language = language_code(self.scope.language) or ("ko" if has_hangul(query.text) else "en")
        home = self.base_url.replace("{language}", language).rstrip("/")
        articles = await ask_for_all_or_any(
            words, lambda said: self._ask(home, said, limit), all_of=" ", max_chars=_MAX_QUERY_CHARS
        )
        return to_hits(self.name, query, (_row(home, article) for article in articles), limit=limit)

    async def _ask(self, home: str, search: str, limit: int) -> list[_WikipediaArticle]:
        headers = {"User-Agent": user_agent(self.contact)}
        wire = ApiClient(self.name, home, headers, timeout_s=self.timeout_s, malformed=[400])
        params = {
            "action": "query",
            "list": "search",
            "format": "json",
            "formatversion": 2,
            "srsearch": search,
            "srlimit": min(limit, _MAX_PAGE),
            "srnamespace": 0,
            "srprop": "snippet|timestamp",
        }
        answer = await wire.get("/w/api.php", params, _WikipediaAnswer)
        if answer.error is not None:
            raise self._failure(answer.error)
        if answer.articles is None:
            raise Unreadable(f"{self.name} answered in another form than documented (query)")
        return answer.articles

    def _failure(self, error: _WikipediaError) -> ProviderError:
        message = f"{self.name} answered {error.code}: {error.info or ''}"[:200]
        kinds = ((_RETRYABLE_CODES, Unavailable), (_REFUSAL_CODES, Refused), (_BAD_QUERY_CODES, BadQuery))
        return next((kind for codes, kind in kinds if error.code.startswith(codes)), Unreadable)(message)


def _row(home: str, article: _WikipediaArticle) -> ResultRow:
    place = quote(article.title.replace(" ", "_"), safe="/:@!$*,;()~'")
    return ResultRow(
        address=f"{home}/wiki/{place}",
        title=article.title,
        snippet=article.snippet,
        published=iso_date(article.timestamp),
    )

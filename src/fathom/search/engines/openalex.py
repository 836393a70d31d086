"""OpenAlex: a catalogue of all scholarly works, with abstracts and citations.

Does not know retries, or what stands in a work.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import httpx2
from pydantic import AliasPath, BaseModel, Field

from fathom.errors import ProviderError, Refused, Unavailable
from fathom.http import retry_after_s
from fathom.search import (
    Capability,
    ResultRow,
    Scope,
    ask_for_all_or_any,
    clean_abstract,
    doi_address,
    extract_doi,
    iso_date,
    language_code,
    query_words,
    to_hits,
)
from fathom.search.api_client import ApiClient, check_key
from fathom.state import Hit, Query

_FIELDS = (
    "id,doi,display_name,publication_date,publication_year,cited_by_count,primary_location,best_oa_location,"
    "open_access,authorships,abstract_inverted_index,is_retracted"
)
_MAX_PAGE = 100
_SPENT = re.compile(r"budget|daily|per day|insufficient|credit|allowance|midnight", re.IGNORECASE)
_LONG_S = 600.0


class _OpenAlexAuthor(BaseModel):
    name: str | None = Field(None, validation_alias=AliasPath("author", "display_name"))


class _OpenAlexWork(BaseModel):
    id: str
    doi: str | None = None
    display_name: str | None = None
    publication_date: str | None = None
    publication_year: int | None = None
    cited_by_count: int | None = None
    page: str | None = Field(None, validation_alias=AliasPath("primary_location", "landing_page_url"))
    open_page: str | None = Field(None, validation_alias=AliasPath("best_oa_location", "landing_page_url"))
    open_pdf: str | None = Field(None, validation_alias=AliasPath("best_oa_location", "pdf_url"))
    read_at: str | None = Field(None, validation_alias=AliasPath("open_access", "oa_url"))
    authors: list[_OpenAlexAuthor] | None = Field(None, alias="authorships")
    abstract_inverted_index: dict[str, list[int]] | None = None
    is_retracted: bool | None = None


class _OpenAlexName(BaseModel):
    id: str


class _OpenAlexAnswer(BaseModel):
    results: list[_OpenAlexWork]


class _OpenAlexClient(ApiClient):
    """403 means too fast; 429 either that, or that the day's allowance is used up until midnight UTC."""

    def failed(self, response: httpx2.Response) -> ProviderError:
        """As always, but for these two."""
        error = super().failed(response)
        if response.status_code == httpx2.codes.FORBIDDEN:
            return Unavailable(str(error), wait_s=retry_after_s(response.headers.get("retry-after")))
        if isinstance(error, Unavailable) and response.status_code == httpx2.codes.TOO_MANY_REQUESTS:
            is_spent = _SPENT.search(str(error)) or (error.wait_s or 0) > _LONG_S
            return Refused(f"{error} (the day's allowance is used up)") if is_spent else error
        return error


@dataclass(frozen=True)
class OpenAlex:
    """https://developers.openalex.org/guides/searching

    Key: `OPENALEX_API_KEY`, optional: $1 a day is free with one, $0.10 without, and a search is $0.001.
    Quirks: abstracts come as an index from words to places; 403 means too fast and 429 mostly that the day's
    allowance is used up; punctuation is syntax, so only words are sent. All words must be in a work; if none
    has them all, any of them will do, which is a second search. The key goes in a header, not in the address.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = "https://api.openalex.org"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    name: str = field(default="openalex", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"academic"}), init=False)
    credit_pause_s: float = field(default=0.0, init=False, repr=False)  # every answer tells it
    last_headers: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.api_key:
            check_key(self.name, "OPENALEX_API_KEY", self.api_key)

    @property
    def usd_per_call(self) -> float:
        """The price of a search; without a key nobody can be charged."""
        return 0.001 if self.api_key else 0.0

    async def credit_left(self) -> str:
        """What is left of the day's allowance, in USD."""
        left = self.last_headers.get("x-ratelimit-remaining-usd", "")
        return f"{left} USD" if left else ""

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The works that fit best."""
        words = query_words(query.text)
        if limit < 1:
            return []
        works = await ask_for_all_or_any(words, lambda said: self._ask(said, limit), all_of=" ")
        return to_hits(self.name, query, map(_row, works), limit=limit)

    async def citations(self, paper_id: str, limit: int) -> list[Hit]:
        """Works that cite this one, the most cited first; BadQuery if it is not known."""
        return await self._around("cites", paper_id, limit)

    async def references(self, paper_id: str, limit: int) -> list[Hit]:
        """Works that this one cites, the most cited first."""
        return await self._around("cited_by", paper_id, limit)

    async def retracted(self, dois: Collection[str]) -> set[str]:
        """Which of these works were retracted."""
        names = "|".join(list(dois)[:_MAX_PAGE])
        works = await self._list({"filter": f"doi:{names}", "per_page": _MAX_PAGE})
        return {extract_doi(work.doi) for work in works if work.is_retracted}

    async def _around(self, link: str, paper_id: str, limit: int) -> list[Hit]:
        scheme, _, name = paper_id.partition(":")
        doi = f"10.48550/arXiv.{name}" if scheme == "ARXIV" else name
        paper = await self._client(400, 404).get(f"/works/doi:{doi}", {"select": "id"}, _OpenAlexName)
        work = paper.id.rpartition("/")[2]
        params = {"filter": f"{link}:{work}", "sort": "cited_by_count:desc"}
        works = await self._list({**params, "per_page": min(max(limit, 1), _MAX_PAGE)})
        query = Query(id=paper_id, text=paper_id, question="", round=0)
        return to_hits(self.name, query, map(_row, works), limit=limit)

    async def _ask(self, search: str, limit: int) -> list[_OpenAlexWork]:
        params = {"search": search, "per_page": min(limit, _MAX_PAGE), "filter": self._limits()}
        return await self._list(params)

    async def _list(self, params: dict[str, object]) -> list[_OpenAlexWork]:
        found = await self._client(400).get("/works", {**params, "select": _FIELDS}, _OpenAlexAnswer)
        return found.results

    def _client(self, *malformed: int) -> ApiClient:
        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        service = (self.name, self.base_url, headers, self.api_key, self.timeout_s)
        return _OpenAlexClient(*service, malformed, self.last_headers)

    def _limits(self) -> str | None:
        limits = {
            "from_publication_date": self.scope.since,
            "to_publication_date": self.scope.until,
            "language": language_code(self.scope.language),
        }
        return ",".join(f"{name}:{value}" for name, value in limits.items() if value) or None


def _row(work: _OpenAlexWork) -> ResultRow:
    doi = extract_doi(work.doi)
    places = (work.open_page, work.page, doi_address(doi), work.id)
    year = work.publication_year
    abstract = clean_abstract(_rebuild_abstract(work.abstract_inverted_index or {}))
    return ResultRow(
        address=next(filter(None, places), None),
        title=work.display_name,
        snippet=abstract,
        published=iso_date(work.publication_date) or (str(year) if year else None),
        authors=tuple(author.name for author in work.authors or [] if author.name),
        doi=doi,
        pdf=work.open_pdf or (work.read_at if (work.read_at or "").lower().endswith(".pdf") else None),
        cited_by=work.cited_by_count,
        abstract=abstract,
        is_retracted=bool(work.is_retracted),
    )


def _rebuild_abstract(index: dict[str, list[int]]) -> str:
    """The text of an index from words to their places."""
    return " ".join(word for _, word in sorted((place, word) for word in index for place in index[word]))

"""Crossref: the register of DOIs, with titles, dates and citations, and now and then an abstract.

Does not know retries, or what stands in a work.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from pydantic import AliasPath, BaseModel, Field

from fathom.search import (
    Capability,
    ResultRow,
    Scope,
    clean_abstract,
    date_from_parts,
    doi_address,
    extract_doi,
    to_hits,
)
from fathom.search.api_client import ApiClient, user_agent
from fathom.state import Hit, Query

_FIELDS = "DOI,title,author,issued,published,is-referenced-by-count,abstract,link,license,updated-by"
_MAX_ROWS = 100
_WITHDRAWN = frozenset({"retraction", "withdrawal", "removal", "partial_retraction"})
_MAX_QUERY_CHARS = 500


class _CrossrefAuthor(BaseModel):
    given: str | None = None
    family: str | None = None
    name: str | None = None  # of a group


class _CrossrefLink(BaseModel):
    url: str | None = Field(None, alias="URL")
    content_type: str | None = Field(None, alias="content-type")


class _CrossrefLicense(BaseModel):
    url: str | None = Field(None, alias="URL")


class _CrossrefUpdate(BaseModel):
    kind: str | None = Field(None, alias="type")


class _CrossrefWork(BaseModel):
    doi: str = Field(alias="DOI")
    title: list[str] | None = None
    authors: list[_CrossrefAuthor] | None = Field(None, alias="author")
    published: list[int | None] | None = Field(None, validation_alias=AliasPath("published", "date-parts", 0))
    issued: list[int | None] | None = Field(None, validation_alias=AliasPath("issued", "date-parts", 0))
    cited_by: int | None = Field(None, alias="is-referenced-by-count")
    abstract: str | None = None
    links: list[_CrossrefLink] | None = Field(None, alias="link")
    licenses: list[_CrossrefLicense] | None = Field(None, alias="license")
    updates: list[_CrossrefUpdate] | None = Field(None, alias="updated-by")

    @property
    def is_retracted(self) -> bool:
        """Whether a notice withdrew it; most updates only correct."""
        return any((update.kind or "").lower() in _WITHDRAWN for update in self.updates or [])


class _CrossrefAnswer(BaseModel):
    works: list[_CrossrefWork] = Field(validation_alias=AliasPath("message", "items"))


@dataclass(frozen=True)
class Crossref:
    """https://api.crossref.org/swagger-ui/index.html

    Key: none; a `contact` (a mail address) brings its requests into the polite pool, which is faster.
    Quirks: titles are lists, perhaps empty; dates are lists of numbers, perhaps of null; abstracts are JATS
    and rare; a link to a PDF is only open to all when the licence says so, so others are left out.
    """

    contact: str = ""
    base_url: str = "https://api.crossref.org"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    name: str = field(default="crossref", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"academic"}), init=False)

    @property
    def pause_s(self) -> float:
        """Lists may be asked for once a second, in the polite pool three times."""
        return 0.34 if self.contact else 1.0

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The works whose entries fit best."""
        text = " ".join(query.text.split())[:_MAX_QUERY_CHARS]
        if not text or limit < 1:
            return []
        params = {"query": text, "rows": min(limit, _MAX_ROWS), "select": _FIELDS, "filter": self._limits()}
        return to_hits(self.name, query, map(_row, await self._works(params)), limit=limit)

    async def retracted(self, dois: Collection[str]) -> set[str]:
        """Which of these works were retracted."""
        names = ",".join(f"doi:{doi}" for doi in list(dois)[:_MAX_ROWS])
        works = await self._works({"filter": names, "rows": _MAX_ROWS, "select": "DOI,updated-by"})
        return {work.doi for work in works if work.is_retracted}

    async def _works(self, params: dict[str, object]) -> list[_CrossrefWork]:
        headers = {"User-Agent": user_agent(self.contact and f"mailto:{self.contact}")}
        wire = ApiClient(self.name, self.base_url, headers, timeout_s=self.timeout_s, malformed=[400])
        answer = await wire.get("/works", {**params, "mailto": self.contact or None}, _CrossrefAnswer)
        return answer.works

    def _limits(self) -> str | None:
        limits = {"from-pub-date": self.scope.since, "until-pub-date": self.scope.until}
        return ",".join(f"{name}:{day}" for name, day in limits.items() if day) or None


def _row(work: _CrossrefWork) -> ResultRow:
    is_open = any("creativecommons.org" in (licence.url or "") for licence in work.licenses or [])
    pdfs = [link.url for link in work.links or [] if link.content_type == "application/pdf"]
    names = (author.name or f"{author.given or ''} {author.family or ''}" for author in work.authors or [])
    doi = extract_doi(work.doi)
    return ResultRow(
        address=doi_address(doi),
        title=" ".join(work.title or []),
        snippet=clean_abstract(work.abstract),
        published=_fullest_date(work),
        authors=tuple(filter(None, map(str.strip, names))),
        doi=doi,
        pdf=pdfs[0] if is_open and pdfs else None,
        cited_by=work.cited_by,
        abstract=work.abstract,
        is_retracted=work.is_retracted,
    )


def _fullest_date(work: _CrossrefWork) -> str | None:
    """The fullest date there is."""
    dates = [date_from_parts(parts) for parts in (work.published, work.issued) if parts]
    return max(filter(None, dates), key=len, default=None)

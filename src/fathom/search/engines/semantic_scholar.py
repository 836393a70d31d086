"""Semantic Scholar: papers by relevance, and who cites whom.

Does not know retries, or what stands in a paper.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from pydantic import AliasChoices, AliasPath, BaseModel, Field

from fathom.search import (
    Capability,
    ResultRow,
    Scope,
    clean_abstract,
    doi_address,
    extract_doi,
    iso_date,
    to_hits,
)
from fathom.search.api_client import ApiClient, check_key
from fathom.state import Hit, Query

_FIELDS = "title,abstract,year,publicationDate,externalIds,url,citationCount,openAccessPdf,authors.name"
_MAX_SEARCHED = 100
_MAX_LINKED = 1000
_MAX_QUERY_CHARS = 500
_HYPHEN = re.compile(r"(?<=\w)[-‐‑–](?=\w)")


class _ScholarAuthor(BaseModel):
    name: str | None = None


class _ScholarPaper(BaseModel):
    title: str | None = None
    abstract: str | None = None
    tldr: str | None = Field(None, validation_alias=AliasPath("tldr", "text"))
    year: int | None = None
    published: str | None = Field(None, alias="publicationDate")
    doi: str | None = Field(None, validation_alias=AliasPath("externalIds", "DOI"))
    arxiv: str | None = Field(None, validation_alias=AliasPath("externalIds", "ArXiv"))
    url: str | None = None
    cited_by: int | None = Field(None, alias="citationCount")
    pdf: str | None = Field(None, validation_alias=AliasPath("openAccessPdf", "url"))
    authors: list[_ScholarAuthor] | None = None


class _ScholarAnswer(BaseModel):
    total: int
    data: list[_ScholarPaper] | None = None  # absent when nothing was found


class _ScholarLink(BaseModel):
    paper: _ScholarPaper = Field(validation_alias=AliasChoices("citingPaper", "citedPaper"))


class _ScholarLinks(BaseModel):
    offset: int
    data: list[_ScholarLink] | None = None  # null where a publisher withholds them


@dataclass(frozen=True)
class SemanticScholar:
    """https://api.semanticscholar.org/api-docs/graph

    Key: `SEMANTIC_SCHOLAR_API_KEY`, optional; without one all the world shares a pool and 429 is common.
    Quirks: words with hyphens find nothing, so hyphens become blanks; nothing found has no `data`; a wrong
    key is a 403; citations and references have no `tldr`; abstracts are often withheld. A paper is found at
    arXiv, else by its DOI, for the service's own pages turn programs away.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = "https://api.semanticscholar.org"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    pause_s: float = 1.0
    has_tldrs: bool = True
    name: str = field(default="semantic-scholar", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"academic"}), init=False)

    def __post_init__(self) -> None:
        if self.api_key:
            check_key(self.name, "SEMANTIC_SCHOLAR_API_KEY", self.api_key)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The papers that fit best, with their summary in a sentence if there is one."""
        text = " ".join(_HYPHEN.sub(" ", query.text).split())[:_MAX_QUERY_CHARS]
        if not text or limit < 1:
            return []
        params = {
            "query": text,
            "limit": min(limit, _MAX_SEARCHED),
            "fields": f"{_FIELDS},tldr" if self.has_tldrs else _FIELDS,
            "publicationDateOrYear": self._dates(),
        }
        found = await self._api_client(400).get("/graph/v1/paper/search", params, _ScholarAnswer)
        return to_hits(self.name, query, map(_row, found.data or []), limit=limit)

    async def citations(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that cite this one; BadQuery if it is not known. `DOI:…` and `ARXIV:…` are ids too."""
        return await self._around("citations", paper_id, limit)

    async def references(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that this one cites; BadQuery if it is not known."""
        return await self._around("references", paper_id, limit)

    async def _around(self, link: str, paper_id: str, limit: int) -> list[Hit]:
        path = f"/graph/v1/paper/{quote(paper_id, safe=':/')}/{link}"
        params = {"limit": max(1, min(limit, _MAX_LINKED)), "fields": _FIELDS}
        answer = await self._api_client(400, 404).get(path, params, _ScholarLinks)
        query = Query(id=paper_id, text=paper_id, question="", round=0)
        return to_hits(self.name, query, (_row(link.paper) for link in answer.data or []), limit=limit)

    def _api_client(self, *malformed: int) -> ApiClient:
        headers = {"x-api-key": self.api_key} if self.api_key else {}
        return ApiClient(self.name, self.base_url, headers, self.api_key, self.timeout_s, malformed)

    def _dates(self) -> str | None:
        since, until = self.scope.since or "", self.scope.until or ""
        return f"{since}:{until}" if since or until else None


def _row(paper: _ScholarPaper) -> ResultRow:
    doi = extract_doi(paper.doi)
    arxiv = f"https://arxiv.org/abs/{paper.arxiv}" if paper.arxiv else ""
    return ResultRow(
        address=arxiv or doi_address(doi) or paper.url,
        title=paper.title,
        snippet=paper.tldr or clean_abstract(paper.abstract),
        published=iso_date(paper.published) or (str(paper.year) if paper.year else None),
        authors=tuple(author.name for author in paper.authors or [] if author.name),
        doi=doi,
        pdf=paper.pdf,
        cited_by=paper.cited_by,
        abstract=paper.abstract,
    )

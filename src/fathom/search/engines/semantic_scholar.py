"""Semantic Scholar: papers by relevance, and who cites whom.

Does not know retries, or what stands in a paper.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from pydantic import BaseModel, Field

from fathom.search.api_client import ApiClient, check_key
from fathom.search.protocol import Capability
from fathom.search.results import ResultRow, clean_abstract, doi_address, extract_doi, iso_date, to_hits
from fathom.search.scope import Scope
from fathom.state import Hit, Query

_FIELDS = "title,abstract,year,publicationDate,externalIds,url,citationCount,openAccessPdf,authors.name"
_MAX_SEARCHED = 100
_MAX_LINKED = 1000
_MAX_QUERY_CHARS = 500
_HYPHEN = re.compile(r"(?<=\w)[-‐‑–](?=\w)")


class _ScholarAuthor(BaseModel):
    name: str | None = None


class _ScholarPdf(BaseModel):
    url: str | None = None


class _ScholarTldr(BaseModel):
    text: str | None = None


class _ScholarIds(BaseModel):
    doi: str | None = Field(None, alias="DOI")
    arxiv: str | None = Field(None, alias="ArXiv")


class _ScholarPaper(BaseModel):
    paper_id: str | None = Field(None, alias="paperId")
    title: str | None = None
    abstract: str | None = None
    tldr: _ScholarTldr | None = None
    year: int | None = None
    published: str | None = Field(None, alias="publicationDate")
    ids: _ScholarIds | None = Field(None, alias="externalIds")
    url: str | None = None
    cited_by: int | None = Field(None, alias="citationCount")
    pdf: _ScholarPdf | None = Field(None, alias="openAccessPdf")
    authors: list[_ScholarAuthor] | None = None


class _ScholarAnswer(BaseModel):
    total: int
    data: list[_ScholarPaper] | None = None  # absent when nothing was found


class _ScholarCitation(BaseModel):
    paper: _ScholarPaper = Field(validation_alias="citingPaper")


class _ScholarReference(BaseModel):
    paper: _ScholarPaper = Field(validation_alias="citedPaper")


class _ScholarCitations(BaseModel):
    offset: int
    data: list[_ScholarCitation] | None = None  # null where a publisher withholds them


class _ScholarReferences(BaseModel):
    offset: int
    data: list[_ScholarReference] | None = None


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
    usd_per_call: float = 0.0
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
        answer = await self._api_client(400, 404).get(
            _path(paper_id, "citations"), _link_params(limit), _ScholarCitations
        )
        return self._around(paper_id, [link.paper for link in answer.data or []], limit)

    async def references(self, paper_id: str, limit: int) -> list[Hit]:
        """Papers that this one cites; BadQuery if it is not known."""
        answer = await self._api_client(400, 404).get(
            _path(paper_id, "references"), _link_params(limit), _ScholarReferences
        )
        return self._around(paper_id, [link.paper for link in answer.data or []], limit)

    def _around(self, paper_id: str, papers: list[_ScholarPaper], limit: int) -> list[Hit]:
        query = Query(id=paper_id, text=paper_id, question="", round=0)
        return to_hits(self.name, query, map(_row, papers), limit=limit)

    def _api_client(self, *malformed: int) -> ApiClient:
        headers = {"x-api-key": self.api_key} if self.api_key else {}
        return ApiClient(
            self.name, self.base_url, headers, self.api_key, self.timeout_s, frozenset(malformed)
        )

    def _dates(self) -> str | None:
        since, until = self.scope.since or "", self.scope.until or ""
        return f"{since}:{until}" if since or until else None


def _path(paper_id: str, what: str) -> str:
    return f"/graph/v1/paper/{quote(paper_id, safe=':/')}/{what}"


def _link_params(limit: int) -> dict[str, object]:
    return {"limit": max(1, min(limit, _MAX_LINKED)), "fields": _FIELDS}


def _row(paper: _ScholarPaper) -> ResultRow:
    ids = paper.ids or _ScholarIds()
    doi = extract_doi(ids.doi)
    places = (f"https://arxiv.org/abs/{ids.arxiv}" if ids.arxiv else "", doi_address(doi), paper.url or "")
    tldr = paper.tldr.text if paper.tldr else ""
    return ResultRow(
        address=next(filter(None, places), None),
        title=paper.title,
        snippet=tldr or clean_abstract(paper.abstract),
        published=iso_date(paper.published) or (str(paper.year) if paper.year else None),
        authors=tuple(author.name for author in paper.authors or [] if author.name),
        doi=doi,
        pdf=paper.pdf.url if paper.pdf else None,
        cited_by=paper.cited_by,
        abstract=paper.abstract,
    )

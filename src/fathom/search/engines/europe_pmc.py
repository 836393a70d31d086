"""Europe PMC: papers and preprints of the life sciences, with abstracts.

Does not know retries, or what stands in a paper.
"""

from dataclasses import dataclass, field

from pydantic import AliasPath, BaseModel, Field

from fathom.errors import BadQuery, ProviderError, Unreadable
from fathom.http import error_for_status
from fathom.search import (
    Capability,
    ResultRow,
    Scope,
    ask_for_all_or_any,
    clean_abstract,
    doi_address,
    extract_doi,
    iso_date,
    library_code,
    query_words,
    to_hits,
)
from fathom.search.api_client import ApiClient
from fathom.state import Hit, Query

_PATH = "/europepmc/webservices/rest/search"
_MAX_PAGE = 100
_OPEN = {"Open access", "Free"}
_MALFORMED = (400, 404)


class _EuropePmcLink(BaseModel):
    url: str | None = None
    style: str | None = Field(None, alias="documentStyle")
    availability: str | None = None


class _EuropePmcPaper(BaseModel):
    id: str
    source: str
    pmid: str | None = None
    pmcid: str | None = None
    doi: str | None = None
    title: str | None = None
    authors: str | None = Field(None, alias="authorString")
    year: str | None = Field(None, alias="pubYear")
    published: str | None = Field(None, alias="firstPublicationDate")
    cited_by: int | None = Field(None, alias="citedByCount")
    abstract: str | None = Field(None, alias="abstractText")
    full_text: list[_EuropePmcLink] | None = Field(
        None, validation_alias=AliasPath("fullTextUrlList", "fullTextUrl")
    )


class _EuropePmcAnswer(BaseModel):
    version: str | None = None
    count: int | None = Field(None, alias="hitCount")
    papers: list[_EuropePmcPaper] | None = Field(None, validation_alias=AliasPath("resultList", "result"))
    error_code: int | None = Field(None, alias="errCode")
    error_words: str | None = Field(None, alias="errMsg")


@dataclass(frozen=True)
class EuropePmc:
    """https://europepmc.org/RestfulWebService

    Key: none. Quirks: XML unless JSON is asked for; abstracts only in `core`; an error may come as a 200 with
    `errCode`; a query it cannot read is answered with its version and nothing else. Its own article pages
    need a browser, so a hit leads to PMC or PubMed. All words must be in a paper; if none has them all, any
    of them will do.
    """

    base_url: str = "https://www.ebi.ac.uk"
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    pause_s: float = 0.1
    name: str = field(default="europe-pmc", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"academic"}), init=False)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The papers that fit best."""
        words = query_words(query.text)
        if limit < 1:
            return []
        papers = await ask_for_all_or_any(words, lambda said: self._ask(said, limit))
        return to_hits(self.name, query, map(_row, papers), limit=limit)

    async def _ask(self, words: str, limit: int) -> list[_EuropePmcPaper]:
        wire = ApiClient(self.name, self.base_url, timeout_s=self.timeout_s, malformed=[400])
        params = {
            "query": " AND ".join([f"({words})", *self._limits()]),
            "format": "json",
            "resultType": "core",
            "pageSize": min(limit, _MAX_PAGE),
        }
        answer = await wire.get(_PATH, params, _EuropePmcAnswer)
        if answer.error_code is not None:
            raise self._failure(answer.error_code, answer.error_words or "")
        if answer.count is None and answer.version:
            raise BadQuery(f"{self.name} did not understand the query")
        if answer.papers is None:
            raise Unreadable(f"{self.name} answered in another form than documented (resultList)")
        return answer.papers

    def _failure(self, code: int, words: str) -> ProviderError:
        error = error_for_status(self.name, code, said=words[:200])
        return BadQuery(str(error)) if code in _MALFORMED else error

    def _limits(self) -> list[str]:
        since, until = self.scope.since, self.scope.until
        limits = (
            [f"FIRST_PDATE:[{since or '1000-01-01'} TO {until or '3000-12-31'}]"] if since or until else []
        )
        language = library_code(self.scope.language)
        return [*limits, f"LANG:{language}"] if language else limits


def _row(paper: _EuropePmcPaper) -> ResultRow:
    doi = extract_doi(paper.doi)
    places = (
        f"https://pmc.ncbi.nlm.nih.gov/articles/{paper.pmcid}/" if paper.pmcid else "",
        f"https://pubmed.ncbi.nlm.nih.gov/{paper.pmid}/" if paper.pmid else "",
        doi_address(doi),
        f"https://europepmc.org/article/{paper.source}/{paper.id}",
    )
    full = paper.full_text or []
    names = (paper.authors or "").removesuffix(".").split(",")
    return ResultRow(
        address=next(filter(None, places)),
        title=paper.title,
        snippet=clean_abstract(paper.abstract),
        published=iso_date(paper.published) or iso_date(paper.year),
        authors=tuple(filter(None, map(str.strip, names))),
        doi=doi,
        pdf=next((p.url for p in full if p.style == "pdf" and p.availability in _OPEN and p.url), None),
        cited_by=paper.cited_by,
        abstract=paper.abstract,
    )

"""PubMed: papers of medicine and the life sciences, with abstracts.

Does not know retries, or what stands in a paper.
"""

from dataclasses import dataclass, field

import httpx2
from lxml import etree  # type: ignore[import-untyped]
from pydantic import AliasPath, BaseModel, Field

from fathom.errors import BadQuery, ProviderError, Refused, Unavailable, Unreadable
from fathom.search import (
    Capability,
    ResultRow,
    Scope,
    ask_for_all_or_any,
    clean_abstract,
    extract_doi,
    iso_date,
    library_code,
    query_words,
    to_hits,
)
from fathom.search.api_client import ApiClient, check_key, parse_xml
from fathom.state import Hit, Query

_PATH = "/entrez/eutils"
_MAX_PAGE = 100
_WHO = {"db": "pubmed", "tool": "fathom-research"}


class _PubMedSearch(BaseModel):
    ids: list[str] | None = Field(None, validation_alias=AliasPath("esearchresult", "idlist"))
    error: str | None = Field(None, validation_alias=AliasPath("esearchresult", "ERROR"))


class _PubMedAuthor(BaseModel):
    name: str | None = None


class _PubMedArticleId(BaseModel):
    kind: str = Field(alias="idtype")
    value: str


class _PubMedSummary(BaseModel):
    title: str | None = None
    published: str | None = Field(None, alias="pubdate")
    authors: list[_PubMedAuthor] | None = None
    ids: list[_PubMedArticleId] | None = Field(None, alias="articleids")
    kinds: list[str] | None = Field(None, alias="pubtype")
    error: str | None = None


class _PubMedSummaries(BaseModel):
    result: dict[str, _PubMedSummary | list[str]]  # by id; the list is that of the ids


class _PubMedClient(ApiClient):
    """A wrong key is a 400, as a wrong query is."""

    def failed(self, response: httpx2.Response) -> ProviderError:
        """As always, but for the key."""
        error = super().failed(response)
        is_key = isinstance(error, BadQuery) and "api key" in str(error).lower()
        return Refused(str(error)) if is_key else error


@dataclass(frozen=True)
class PubMed:
    """https://www.ncbi.nlm.nih.gov/books/NBK25499/

    Key: `NCBI_API_KEY`, optional: three requests a second without one, ten with; a search is three of them
    (ids, entries, abstracts). Quirks: a query it cannot read is a 200 with `ERROR`; a wrong key is a 400;
    abstracts are XML only; it says nothing of open PDFs or citations. The key goes in the body, not in the
    address. All words must be in a paper; if none has them all, any of them will do.
    """

    api_key: str = field(default="", repr=False)
    base_url: str = "https://eutils.ncbi.nlm.nih.gov"
    contact: str = ""
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 30.0
    name: str = field(default="pubmed", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"academic"}), init=False)

    def __post_init__(self) -> None:
        if self.api_key:
            check_key(self.name, "NCBI_API_KEY", self.api_key)

    @property
    def pause_s(self) -> float:
        """Three requests each search, of three or ten a second."""
        return 0.34 if self.api_key else 1.0

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The papers that fit best, with their abstracts."""
        words = query_words(query.text)
        if limit < 1:
            return []
        ids = await ask_for_all_or_any(words, lambda said: self._ids(said, limit), all_of=" ")
        if not ids:
            return []
        entries, abstracts = await self._entries(ids), await self._abstracts(ids)
        rows = (_row(i, entries[i], abstracts.get(i, "")) for i in ids if i in entries)
        return to_hits(self.name, query, rows, limit=limit)

    async def _ids(self, words: str, limit: int) -> list[str]:
        language = library_code(self.scope.language)
        dates = {"datetype": "pdat", "mindate": "1000", "maxdate": "3000"}
        dates |= {"mindate": f"{self.scope.since:%Y/%m/%d}"} if self.scope.since else {}
        dates |= {"maxdate": f"{self.scope.until:%Y/%m/%d}"} if self.scope.until else {}
        asked = {
            "term": f"({words}) AND {language}[la]" if language else words,
            "retmode": "json",
            "retmax": min(limit, _MAX_PAGE),
            "sort": "relevance",
            **(dates if self.scope.since or self.scope.until else {}),
        }
        signed = self._sign_params(asked)
        found = await self._api_client().form(f"{_PATH}/esearch.fcgi", signed, _PubMedSearch)
        if found.error:
            kind = Unavailable if "backend" in found.error.lower() else BadQuery
            raise kind(f"{self.name} could not search: {found.error[:200]}")
        if found.ids is None:
            raise Unreadable(f"{self.name} answered in another form than documented (idlist)")
        return found.ids[:limit]

    async def _entries(self, ids: list[str]) -> dict[str, _PubMedSummary]:
        asked = self._sign_params({"id": ",".join(ids), "retmode": "json"})
        answer = await self._api_client().form(f"{_PATH}/esummary.fcgi", asked, _PubMedSummaries)
        entries = answer.result.items()
        return {i: entry for i, entry in entries if isinstance(entry, _PubMedSummary) and not entry.error}

    async def _abstracts(self, ids: list[str]) -> dict[str, str]:
        asked = self._sign_params({"id": ",".join(ids), "retmode": "xml"})
        body = await self._api_client().send("POST", f"{_PATH}/efetch.fcgi", data=asked)
        papers = parse_xml(self.name, body, "PubmedArticleSet")
        return {paper.findtext(".//PMID"): _abstract_text(paper) for paper in papers}

    def _api_client(self) -> ApiClient:
        headers = {"Accept": "*/*"}
        return _PubMedClient(self.name, self.base_url, headers, self.api_key, self.timeout_s, malformed=[400])

    def _sign_params(self, asked: dict[str, object]) -> dict[str, object]:
        signature = {"api_key": self.api_key, "email": self.contact}
        return {**_WHO, **asked, **{name: value for name, value in signature.items() if value}}


def _abstract_text(paper: etree._Element) -> str:
    """All parts of the abstract, with inline tags left out."""
    return " ".join("".join(part.itertext()) for part in paper.iterfind(".//Abstract/AbstractText"))


def _row(paper_id: str, entry: _PubMedSummary, text: str) -> ResultRow:
    doi = next((extract_doi(i.value) for i in entry.ids or [] if i.kind == "doi"), "")
    return ResultRow(
        address=f"https://pubmed.ncbi.nlm.nih.gov/{paper_id}/",
        title=(entry.title or "").removesuffix("."),
        snippet=clean_abstract(text),
        published=iso_date(entry.published),
        authors=tuple(author.name for author in entry.authors or [] if author.name),
        doi=doi,
        abstract=text,
        is_retracted="Retracted Publication" in (entry.kinds or []),
    )

"""arXiv: papers by their abstracts.

Does not know retries, or what stands in a paper.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import arxiv
import requests
from requests.adapters import HTTPAdapter
from requests.exceptions import ChunkedEncodingError

from fathom.concurrency import PacedLock
from fathom.errors import Unavailable, Unreadable
from fathom.http import error_for_status
from fathom.search import Capability, ResultRow, ask_for_all_or_any, extract_doi, query_words, to_hits
from fathom.state import Hit, Query

_PROCESS_TURNS = PacedLock("engine arxiv")


@dataclass(frozen=True)
class Arxiv:
    """https://info.arxiv.org/help/api/user-manual.html

    Key: none. Quirks: one connection, and three seconds between requests; the package knows no time
    limit, ignores `Retry-After`, and takes a page of HTML or half a feed for an empty result, so
    answers are judged before it sees them; a refused query is a paper called "Error". All words must
    be in a paper; if none has them all, any of them will do. Categories narrow either search.
    """

    base_url: str = "https://export.arxiv.org"
    timeout_s: float = 30.0
    pause_s: float = 3.0
    categories: tuple[str, ...] = ()
    turns: PacedLock = field(default=_PROCESS_TURNS, repr=False)
    name: str = field(default="arxiv", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"academic"}), init=False)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The papers that fit best."""
        terms = [f"all:{word}" for word in query_words(query.text)]
        if limit < 1:
            return []
        papers = await ask_for_all_or_any(
            terms, lambda words: self._ask(self._within_categories(words), limit)
        )
        return to_hits(self.name, query, map(_row, papers), limit=limit)

    def _within_categories(self, search: str) -> str:
        wanted = " OR ".join(f"cat:{category}" for category in self.categories)
        return f"({search}) AND ({wanted})" if wanted else search

    async def _ask(self, search: str, limit: int) -> list[arxiv.Result]:
        async with self.turns.turn(self.pause_s):
            try:
                async with asyncio.timeout(self.timeout_s):
                    return await asyncio.to_thread(self._fetch, search, limit)
            except TimeoutError:
                raise Unavailable(f"arxiv did not answer within {self.timeout_s:g} s") from None

    def _fetch(self, search: str, limit: int) -> list[arxiv.Result]:
        """The papers, read in a thread; its own limits end it when nobody waits for it any more."""
        client = arxiv.Client(page_size=limit, delay_seconds=self.pause_s, num_retries=0)
        client.query_url_format = self.base_url.rstrip("/") + "/api/query?{}"
        with client._session as session:  # the package offers no other way to set a time limit
            for scheme in ("https://", "http://"):
                session.mount(scheme, _TimeoutAdapter(self.timeout_s))
            session.hooks["response"].append(_check_response)
            try:
                papers = list(client.results(arxiv.Search(query=search, max_results=limit)))
            except (requests.ConnectionError, requests.Timeout, ChunkedEncodingError) as error:
                raise Unavailable(f"arxiv cannot be reached ({type(error).__name__})") from None
            except arxiv.UnexpectedEmptyPageError:
                raise Unavailable("arxiv promised more papers than it gave") from None
            except (ValueError, requests.RequestException) as error:
                raise Unreadable(f"arxiv answered something unreadable ({type(error).__name__})") from None
        for paper in papers:
            if "/api/errors" in paper.entry_id:
                raise Unreadable(f"arxiv did not understand the query: {paper.summary.strip()[:200]}")
        return papers


class _TimeoutAdapter(HTTPAdapter):
    """Sends with a time limit, which the package forgets."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__()
        self._timeout_s = timeout_s

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        """As always, but not for ever."""
        return super().send(request, *args, **{**kwargs, "timeout": self._timeout_s})


def _check_response(response: requests.Response, *_: object, **__: object) -> None:
    """Let whole feeds and redirects pass; everything else becomes one of our errors."""
    if response.is_redirect:
        return
    if response.status_code != requests.codes.ok:
        response.close()
        raise error_for_status("arxiv", response.status_code, retry_after=response.headers.get("retry-after"))
    body = response.content.strip()
    if b"<feed" not in body[:1000] or not body.endswith(b"</feed>"):
        raise Unreadable("arxiv answered something that is not a whole Atom feed")
    if b"<entry" in body and b"<published" not in body:  # the package would drop them all, silently
        raise Unreadable("arxiv answered with papers that have no date")


def _row(paper: arxiv.Result) -> ResultRow:
    address = f"https://arxiv.org/abs/{paper.get_short_id()}"
    return ResultRow(
        address=address,
        title=paper.title,
        snippet=paper.summary,
        published=paper.published.date().isoformat(),
        authors=tuple(author.name for author in paper.authors),
        doi=extract_doi(paper.doi),
        pdf=paper.pdf_url or address.replace("/abs/", "/pdf/"),
        abstract=paper.summary,
    )

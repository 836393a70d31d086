"""arXiv: papers by their abstracts.

Does not know retries, or what stands in a paper.
"""

from dataclasses import dataclass, field

from lxml import etree  # type: ignore[import-untyped]

from fathom.concurrency import PacedLock
from fathom.errors import Unavailable, Unreadable
from fathom.search.api_client import ApiClient, parse_xml
from fathom.search.protocol import Capability, ResultRow, extract_doi, iso_date, to_hits
from fathom.search.scope import ask_for_all_or_any, query_words
from fathom.state import Hit, Query

_SPACES = {
    "a": "http://www.w3.org/2005/Atom",
    "arxiv": "http://arxiv.org/schemas/atom",
    "search": "http://a9.com/-/spec/opensearch/1.1/",
}
_PROCESS_TURNS = PacedLock("engine arxiv")


@dataclass(frozen=True)
class Arxiv:
    """https://info.arxiv.org/help/api/user-manual.html

    Key: none. Quirks: one connection, and three seconds between requests; now and then it gives fewer papers
    than it says there are; a refused query is a paper called "Error"; punctuation is syntax, so only words
    are sent. All words must be in a paper; if none has them all, any of them will do. Categories narrow
    either search.
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
        return to_hits(self.name, query, papers, limit=limit)

    def _within_categories(self, search: str) -> str:
        wanted = " OR ".join(f"cat:{category}" for category in self.categories)
        return f"({search}) AND ({wanted})" if wanted else search

    async def _ask(self, search: str, limit: int) -> list[ResultRow]:
        client = ApiClient(self.name, self.base_url, {"Accept": "*/*"}, timeout_s=self.timeout_s)
        asked = {"search_query": search, "start": 0, "max_results": limit}
        async with self.turns.turn(self.pause_s):
            body = await client.send("GET", "/api/query", params=asked)
        feed = parse_xml(self.name, body, f"{{{_SPACES['a']}}}feed")
        rows = [_row(entry) for entry in feed.iterfind("a:entry", _SPACES)]
        promised = _text(feed, "search:totalResults")
        if promised.isdecimal() and len(rows) < min(limit, int(promised)):
            raise Unavailable("arxiv promised more papers than it gave")
        return rows


def _row(entry: etree._Element) -> ResultRow:
    name, summary = _text(entry, "a:id"), _text(entry, "a:summary")
    if "/api/errors" in name:
        raise Unreadable(f"arxiv did not understand the query: {summary[:200]}")
    published = iso_date(_text(entry, "a:published"))
    if not published:
        raise Unreadable("arxiv answered with papers that have no date")
    paper = name.partition("/abs/")[2]
    return ResultRow(
        address=f"https://arxiv.org/abs/{paper}",
        title=_text(entry, "a:title"),
        snippet=summary,
        published=published,
        authors=tuple(_text(author, "a:name") for author in entry.iterfind("a:author", _SPACES)),
        doi=extract_doi(_text(entry, "arxiv:doi")),
        pdf=f"https://arxiv.org/pdf/{paper}",
        abstract=summary,
    )


def _text(element: etree._Element, path: str) -> str:
    return (element.findtext(path, "", _SPACES) or "").strip()

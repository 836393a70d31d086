"""arXiv's `GET /api/query`: https://info.arxiv.org/help/api/user-manual.html.

Does not search: it gives the papers it was made with, page by page.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from standins.server import Answer, Seen, StandIn

FEED = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
      xmlns:arxiv="http://arxiv.org/schemas/atom">
  <id>http://arxiv.org/api/abc</id><title>ArXiv Query</title><updated>2026-11-16T00:00:00Z</updated>
  <opensearch:totalResults>{total}</opensearch:totalResults>
  <opensearch:startIndex>{start}</opensearch:startIndex>
  <opensearch:itemsPerPage>{shown}</opensearch:itemsPerPage>
  {entries}
</feed>"""
ENTRY = """<entry>
    <id>{address}</id><updated>{published}</updated><published>{published}</published>
    <title>{title}</title><summary>  {summary}  </summary>
    <author><name>A. Writer</name></author>
    <link href="{address}" rel="alternate" type="text/html"/>
    <arxiv:primary_category term="physics.ao-ph"/>
    <category term="physics.ao-ph" scheme="http://arxiv.org/schemas/atom"/>
  </entry>"""


@dataclass(frozen=True)
class Paper:
    """What the stand-in knows of a paper."""

    id: str
    title: str = "Tides and\n      turbines"
    summary: str = "We study tides."
    published: str = "2021-01-01T10:00:00Z"
    address: str = "http://arxiv.org/abs/"


def feed(papers: Iterable[Paper], *, start: int = 0, total: int | None = None) -> Answer:
    """A page of papers as Atom."""
    entries = [
        ENTRY.format(
            address=escape(paper.address + paper.id),
            title=escape(paper.title),
            summary=escape(paper.summary),
            published=paper.published,
        )
        for paper in papers
    ]
    total = len(entries) if total is None else total
    text = FEED.format(total=total, start=start, shown=len(entries), entries="\n".join(entries))
    return Answer(200, {"content-type": "application/atom+xml; charset=UTF-8"}, text.encode())


class ArxivServer(StandIn):
    """Gives `failures` first, one a request, and then the papers."""

    def __init__(self, papers: Iterable[Paper] = (), failures: Iterable[Answer] = ()) -> None:
        super().__init__()
        self.papers = list(papers)
        self.failures = list(failures)

    def answer_to(self, seen: Seen) -> Answer:
        """The page that `start` and `max_results` ask for."""
        if self.failures:
            return self.failures.pop(0)
        if seen.route != "/api/query":
            return Answer(404, {"content-type": "text/plain"}, b"Not Found")
        start, size = int(seen.params["start"]), int(seen.params["max_results"])
        return feed(self.papers[start : start + size], start=start, total=len(self.papers))

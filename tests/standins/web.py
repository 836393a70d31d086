"""A web site: pages given by path.

Does not know what reads it.
"""

from collections.abc import Mapping

from standins.server import Answer, Seen, StandIn

Page = tuple[int, Mapping[str, str], bytes, float]  # status, headers, body, delay in seconds


class Web(StandIn):
    """Serves `pages`, which a test may change at any time; anything else is a 404."""

    def __init__(self, pages: Mapping[str, Page]) -> None:
        super().__init__()
        self.pages = dict(pages)

    def answer_to(self, seen: Seen) -> Answer:
        """The page at exactly this path, or else at the path without its parameters."""
        page = self.pages.get(seen.path) or self.pages.get(seen.route)
        if page is None:
            return Answer(404, {"content-type": "text/html"}, b"<h1>404 Not Found</h1>")
        status, headers, body, delay_s = page
        return Answer(status, headers, body, delay_s=delay_s)


def html(text: str, *, status: int = 200, delay_s: float = 0.0) -> Page:
    """A page of HTML in UTF-8."""
    return status, {"content-type": "text/html; charset=utf-8"}, text.encode(), delay_s

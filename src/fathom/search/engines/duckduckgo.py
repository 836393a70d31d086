"""DuckDuckGo, through the `ddgs` package: the web without a key, when nothing better is there.

Does not know retries, or which of its hits are worth reading.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from fathom.errors import Unavailable, Unreadable
from fathom.http.client import environment_proxy
from fathom.search import Capability, ResultRow, Scope, add_site_operators, language_code, to_hits
from fathom.state import Hit, Query

_PAGES = "https://html.duckduckgo.com"
_MAX_QUERY_CHARS = 500
_SAID_CHARS = 200
_REGIONS = {"de": "de-de", "en": "us-en", "es": "es-es", "fr": "fr-fr", "it": "it-it", "ja": "jp-jp"}
_REGIONS |= {"ko": "kr-kr", "pt": "pt-pt", "ru": "ru-ru", "zh": "cn-zh"}
_EVERYWHERE = "wt-wt"
_TRANSIENT = ("ConnectError", "DNSError", "DNSTimeoutError", "TimeoutError", "RequestError", "timed out")


# What we use of the package: one blocking search that raises if it has nothing to show, and gives rows with
# `title`, `href` and `body`.
TextSearch = Callable[..., Sequence[Mapping[str, Any]]]


def search_ddgs(query: str, *, timeout_s: float, **words: Any) -> Sequence[Mapping[str, Any]]:
    """The package's search; imported when first used, since it brings a browser's network stack."""
    from ddgs import DDGS

    proxy = environment_proxy(_PAGES)
    return DDGS(proxy=proxy, timeout=max(1, int(timeout_s))).text(query, **words)


@dataclass(frozen=True)
class DuckDuckGo:
    """https://github.com/deedy5/ddgs

    Key: none. Quirks: there is no API, the package reads the pages made for people, and its users are
    soon asked to wait; one page of about ten results; no dates; the package does not tell a refusal from
    an empty page, so neither is taken for nothing found; it would ask other engines if we let it.
    """

    search: TextSearch = field(default=search_ddgs, repr=False)
    scope: Scope = field(default_factory=Scope)
    timeout_s: float = 20.0
    pause_s: float = 1.0
    today: Callable[[], date] = field(default=date.today, repr=False)
    name: str = field(default="duckduckgo", init=False)
    capabilities: frozenset[Capability] = field(default=frozenset({"web"}), init=False)

    async def __call__(self, query: Query, *, limit: int) -> list[Hit]:
        """The results of the first page."""
        if limit < 1 or not query.text.strip():
            return []
        try:
            async with asyncio.timeout(self.timeout_s):
                found = await asyncio.to_thread(self._fetch, query.text, limit)
        except TimeoutError:
            raise Unavailable(f"{self.name} did not answer within {self.timeout_s:g} s") from None
        return to_hits(self.name, query, map(self._row, found), limit=limit)

    def _fetch(self, text: str, limit: int) -> Sequence[Mapping[str, Any]]:
        """The rows, read in a thread; the package's own limit ends it when nobody waits any more."""
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        language = language_code(self.scope.language) or ""
        try:
            return self.search(
                add_site_operators(text, self.scope, max_chars=_MAX_QUERY_CHARS),
                timeout_s=self.timeout_s,
                region=_REGIONS.get(language, _EVERYWHERE),
                timelimit=self.scope.days(self.today(), ".."),
                max_results=limit,
                backend="duckduckgo",
            )
        except RatelimitException:
            raise Unavailable(f"{self.name} asks for a pause") from None
        except TimeoutException:
            raise Unavailable(f"{self.name} did not answer in time") from None
        except DDGSException as error:
            said = " ".join(str(error).split())[:_SAID_CHARS]
            if any(word in said for word in _TRANSIENT):
                raise Unavailable(f"{self.name} cannot be reached") from None
            raise Unreadable(f"{self.name} showed no results: it has none, or hides them ({said})") from None

    def _row(self, row: Mapping[str, Any]) -> ResultRow:
        try:
            return ResultRow(str(row["href"]), str(row.get("title") or ""), str(row.get("body") or ""))
        except (KeyError, TypeError):
            raise Unreadable(f"{self.name} answered in another form than documented (href)") from None

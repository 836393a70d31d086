"""The web as it is read by default: guarded, polite, obedient, bounded, remembered, papers in full.

Does not know settings: who calls it says what is allowed.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path

from fathom.http.fetch import Fetcher
from fathom.http.politeness import HostLimiter
from fathom.http.retry import RetryPolicy, retry
from fathom.http.robots import Robots, RobotsGate
from fathom.reading.arxiv_papers import ARXIV, PaperReader
from fathom.reading.cached import CachedReader, PageCache
from fathom.reading.originals import Originals
from fathom.reading.port import Document, Parse, Reader
from fathom.reading.sandbox import BoundedParser, parser_pool
from fathom.state import Hit
from fathom.storage import Storage

ORIGINALS = "papers"
_MAX_ROBOTS_BYTES = 2_000_000


def polite(
    fetcher: Fetcher, *, at_once: int = 2, pause_s: float = 0.5, is_robots_obeyed: bool = True
) -> Fetcher:
    """The same fetcher with manners; it remembers hosts, so make it once a process."""
    hosts = HostLimiter(at_once=at_once, pause_s=pause_s)
    if not is_robots_obeyed:
        return replace(fetcher, gate=hosts.turn)
    robots = Robots(replace(fetcher, gate=hosts.glance, max_bytes=_MAX_ROBOTS_BYTES))
    return replace(fetcher, gate=RobotsGate(robots, hosts).turn)


@dataclass(frozen=True)
class RetryingReader:
    """A reader that is asked again when the page is unavailable."""

    reader: Reader
    policy: RetryPolicy = field(default_factory=RetryPolicy)

    async def __call__(self, hit: Hit) -> Document:
        """Return the document behind one hit."""
        return await retry(lambda: self.reader(hit), self.policy)


@dataclass(frozen=True)
class Web:
    """What all runs of a process share when they read the web."""

    fetch: Fetcher
    parse: Parse
    cache: PageCache
    originals: Originals
    arxiv: str = ARXIV

    def reader(self, *, is_fresh_wanted: bool = False, policy: RetryPolicy | None = None) -> Reader:
        """A reader for one run, which tries again when a page is unavailable."""
        once = CachedReader(
            self.fetch,
            self.cache,
            parse=self.parse,
            is_fresh_wanted=is_fresh_wanted,
            originals=self.originals,
        )
        return PaperReader(RetryingReader(once, policy or RetryPolicy()), self.arxiv)


def web(
    storage: Storage,
    originals: Path,
    *,
    is_private_allowed: bool = False,
    is_robots_obeyed: bool = True,
    is_proxied: bool = False,
    pause_s: float = 0.5,
    parse: Parse | None = None,
    arxiv: str = ARXIV,
) -> Web:
    """The web, with its pages kept in a storage, and papers as they came in a folder; once a process."""
    fetcher = Fetcher(is_private_allowed=is_private_allowed, is_proxied=is_proxied)
    return Web(
        fetch=polite(fetcher, pause_s=pause_s, is_robots_obeyed=is_robots_obeyed),
        parse=parse or BoundedParser(parser_pool()),
        cache=PageCache(storage),
        originals=Originals(originals),
        arxiv=arxiv.rstrip("/"),
    )

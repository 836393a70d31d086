"""What a search is limited to: hosts, dates, a language.

Does not know engines. Each engine passes on what its service understands; the rest is sorted out here.
"""

from dataclasses import dataclass
from datetime import date
from urllib.parse import urlsplit

from fathom.state import Hit


@dataclass(frozen=True)
class Scope:
    """Limits of one run; empty means none."""

    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    language: str | None = None

    def admits(self, hit: Hit) -> bool:
        """Whether a hit is inside the limits; one without a date is not held to them."""
        if not hit.address.lower().startswith(("https:", "http:")):
            return self._is_timely(hit.published)  # a file or a server's own document is in no domain
        host = _host(hit.address)
        if self.include_domains and not any(_is_within(host, d) for d in self.include_domains):
            return False
        if any(_is_within(host, d) for d in self.exclude_domains):
            return False
        return self._is_timely(hit.published)

    def _is_timely(self, published: str | None) -> bool:
        try:
            day = date.fromisoformat((published or "")[:10])
        except ValueError:
            return True
        return (self.since is None or day >= self.since) and (self.until is None or day <= self.until)


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _is_within(host: str, domain: str) -> bool:
    wanted = domain.strip().lower().removeprefix("*.").removeprefix("www.")
    return host.removeprefix("www.") == wanted or host.endswith(f".{wanted}")

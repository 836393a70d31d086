"""Canonical addresses, to tell whether two addresses mean the same page. They are not for fetching."""

import re
from contextlib import suppress
from functools import lru_cache
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

_TRACKERS = re.compile(
    r"(utm|hsa|mtm|pk|piwik|matomo)_.+"
    r"|_ga|_gl|_hsenc|_hsmi|_openstat|cmpid|dclid|fbclid|gbraid|gclid|gclsrc|igsh|igshid|li_fat_id|mc_cid|mc_eid"
    r"|mkt_tok|msclkid|oly_anon_id|oly_enc_id|ref_src|ref_url|spm|srsltid|ttclid|twclid|vero_id|wbraid|yclid",
    re.IGNORECASE,
)

_ARXIV = re.compile(
    r"/(?:abs|pdf|html)/(?P<id>[a-z.-]+/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?", re.IGNORECASE
)

_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DEFAULT_PORTS = {None, 80, 443}


@lru_cache(maxsize=4096)  # a run looks at each address it was offered four times or more
def canonical_address(address: str) -> str:
    """One spelling for all addresses of a page; what is not a web address stays as it is."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return address
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return address
    host = _host(parts.hostname)
    if host in ("arxiv.org", "export.arxiv.org") and (paper := _ARXIV.fullmatch(parts.path.rstrip("/"))):
        return f"https://arxiv.org/abs/{paper['id'].lower()}"
    place = f"[{host}]" if ":" in host else host
    if port not in _DEFAULT_PORTS:
        place = f"{place}:{port}"
    query = _query(parts)
    return f"https://{place}{_path(parts.path)}{'?' if query else ''}{query}"


def parse_host(address: str) -> str:
    """The host an address names, as it is written; nothing when it has none or is broken."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def short_name(address: str) -> str:
    """A short name for a page that has no title: the end of its path, or its host."""
    path = address.partition("://")[2].partition("?")[0].rstrip("/")
    return unquote(path.rpartition("/")[2]) or "page"


def _host(host: str) -> str:
    """Lower case, in ASCII, without the prefix or the language's suffix of a mobile site."""
    with suppress(UnicodeError):  # a name that only a broken link has is compared as it is written
        host = host.encode("idna").decode("ascii")
    host = host.lower().rstrip(".")
    while (cut := host.partition("."))[0] in ("www", "m") and "." in cut[2]:
        host = cut[2]
    return host.replace(".m.wikipedia.org", ".wikipedia.org")


def _path(path: str) -> str:
    """Escapes only where they are needed, no slash at the end."""

    def unescape(match: re.Match[str]) -> str:
        letter = chr(int(match[1], 16))
        return letter if letter in _UNRESERVED else match[0].upper()

    path = _ESCAPE.sub(unescape, _STRAY_PERCENT.sub("%25", path))
    return quote(path, safe="%/:@!$&'()*+,;=~", errors="surrogatepass").rstrip("/")


def _query(parts: SplitResult) -> str:
    """The parameters that choose a page, sorted."""
    pairs = parse_qsl(parts.query, keep_blank_values=True, errors="surrogateescape")
    kept = sorted((name, value) for name, value in pairs if not _TRACKERS.fullmatch(name))
    return urlencode(kept, errors="surrogateescape")


def is_web_address(address: str) -> bool:
    """Whether an address is one of the web."""
    return address.lower().startswith(("https://", "http://"))

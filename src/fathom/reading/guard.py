"""Which addresses a fetch may connect to: public ones only, checked after the name is resolved.

A connection goes to the very address that was checked, so a name cannot change in between. Does not know
HTTP, nor which address a name was part of.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable
from urllib.parse import urlsplit

import httpcore2

from fathom.errors import Refused
from fathom.sockets import Sockets

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_V4_COMPATIBLE = ipaddress.ip_network("::/96")
_MAX_ADDRESS_CHARS = 2048
_UNSEEN = re.compile("[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\\\\]")
WEB_PORTS = frozenset({80, 443, 8080, 8443})


class HostUnknown(Exception):
    """A name that nobody can resolve now."""


class HostBlocked(Exception):
    """A name that leads, or would lead, to an address that is not public, or a port that is not the web's."""


def check_address(address: str) -> None:
    """Refuse what is no plain web address; says nothing yet about where the name leads."""
    try:
        parts = urlsplit(address)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise Refused(f"{address} is not a web address") from None
    if parts.scheme not in {"http", "https"}:
        raise Refused(f"{address} is refused: only http and https are fetched")
    is_odd = not host or port == 0 or ("%" in host and ":" not in host)  # only IPv6 has a use for a percent
    if len(address) > _MAX_ADDRESS_CHARS or is_odd or _UNSEEN.search(address):
        raise Refused(f"{address[:200]} is not a web address")
    if "@" in parts.netloc:
        raise Refused(f"an address at {host} is refused because it carries a user name")


def is_public(ip: IpAddress) -> bool:
    """Whether an address belongs to the open internet, in whatever form it is dressed."""
    if isinstance(ip, ipaddress.IPv6Address):
        if (
            any(ip in network for network in (*_NAT64, _V4_COMPATIBLE))
            or ip.ipv4_mapped
            or ip.sixtofour
            or ip.teredo
        ):
            return False
        if ip.is_site_local:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not ip.is_unspecified


async def resolve_host(host: str, port: int) -> list[str]:
    """All addresses of a name, as the machine's own resolver gives them."""
    try:
        answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise HostUnknown(f"{host} cannot be found ({error.strerror})") from error
    except UnicodeError as error:
        raise HostBlocked(f"{host} is not a name") from error
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class GuardedBackend(Sockets):
    """Connects only to the web's ports of public addresses, unless private ones are allowed."""

    def __init__(
        self,
        resolve: Resolve = resolve_host,
        *,
        is_private_allowed: bool = False,
        ports: Collection[int] = WEB_PORTS,
    ) -> None:
        super().__init__(self._checked)  # a name is resolved here and nowhere else, once a connection
        self._names = resolve
        self._ports = ports
        self._is_private_allowed = is_private_allowed

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109  the interface is httpcore's
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore2.AsyncNetworkStream:
        """Never."""
        raise HostBlocked(f"{path} is a Unix socket")

    async def _checked(self, host: str, port: int) -> list[str]:
        found = await self._names(host, port)
        if not found:
            raise HostUnknown(f"{host} cannot be found")
        # All must be public, not one of them: a mixed answer is an attack or a mistake.
        are_public = all(is_public(ipaddress.ip_address(ip.partition("%")[0])) for ip in found)
        if not are_public and not self._is_private_allowed:
            raise HostBlocked(f"{host} leads to an address that is not public")
        if port not in self._ports and not self._is_private_allowed:
            raise HostBlocked(f"port {port} is not one that web pages are fetched from")
        return found

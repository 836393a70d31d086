"""Which addresses a fetch may connect to: public ones only, checked after the name is resolved.

A connection goes to the very address that was checked, so a name cannot change in between.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Iterable
from urllib.parse import urlsplit

import httpcore2
import httpx2

from fathom.errors import Refused
from fathom.http.client import environment_proxy

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]
_NAT64 = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
_V4_COMPATIBLE = ipaddress.ip_network("::/96")
_MAX_ADDRESS_CHARS = 2048
_INVISIBLE = re.compile("[\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\\\\]")
WEB_PORTS = frozenset({80, 443, 8080, 8443})
_NEXT_ADDRESS_S = 2.0  # how long an address is waited for while there is another one
_MAX_KEPT = 20
_KEPT_S = 5.0


class HostUnknown(Exception):
    """A host name that cannot be resolved now."""


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
    if len(address) > _MAX_ADDRESS_CHARS or is_odd or _INVISIBLE.search(address):
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
    """Return all addresses of a name, as the machine's own resolver gives them."""
    try:
        answers = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise HostUnknown(f"{host} cannot be found ({error.strerror})") from error
    except UnicodeError as error:
        raise HostBlocked(f"{host} is not a name") from error
    return list(dict.fromkeys(str(answer[4][0]) for answer in answers))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects only to the web's ports of public addresses, unless private ones are allowed.

    Unix sockets stay refused, as in httpcore's base class.
    """

    def __init__(
        self,
        resolve: Resolve = resolve_host,
        *,
        is_private_allowed: bool = False,
        ports: Collection[int] = WEB_PORTS,
    ) -> None:
        self._resolve = resolve
        self._ports = ports
        self._is_private_allowed = is_private_allowed
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the interface is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first checked address that answers."""
        *others, last = await self.check(host, port)
        for ip in others:
            try:
                return await self._sockets.connect_tcp(
                    ip, port, _NEXT_ADDRESS_S, local_address, socket_options
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._sockets.connect_tcp(last, port, timeout, local_address, socket_options)

    async def check(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host that may be connected to; HostBlocked if it may not."""
        found = await self._resolve(host, port)
        if not found:
            raise HostUnknown(f"{host} cannot be found")
        # All must be public, not one of them: a mixed answer is an attack or a mistake.
        are_public = all(is_public(ipaddress.ip_address(ip.partition("%")[0])) for ip in found)
        self._refuse(host, port, are_public=are_public)
        return found

    def check_unresolved(self, host: str, port: int) -> None:
        """Refuse numeric addresses and ports, before names are resolved."""
        try:
            is_public_or_a_name = is_public(ipaddress.ip_address(host.partition("%")[0]))
        except ValueError:
            is_public_or_a_name = host.rstrip(".").lower() != "localhost"
        self._refuse(host, port, are_public=is_public_or_a_name)

    def _refuse(self, host: str, port: int, *, are_public: bool) -> None:
        if not are_public and not self._is_private_allowed:
            raise HostBlocked(f"{host} leads to an address that is not public")
        if port not in self._ports and not self._is_private_allowed:
            raise HostBlocked(f"port {port} is not one that web pages are fetched from")


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Sends requests over connections that the guard made, with HTTP/2 where the server has it.

    With `is_proxied`, addresses for which the environment names a proxy are asked for through it. What a name
    leads to is then the proxy's business: the guard sees only addresses in numbers, and ports.
    """

    def __init__(self, tls: ssl.SSLContext, backend: GuardedBackend, *, is_proxied: bool = False) -> None:
        self._tls, self._backend, self._is_proxied = tls, backend, is_proxied
        self._direct = httpcore2.AsyncConnectionPool(
            ssl_context=tls,
            max_keepalive_connections=_MAX_KEPT,
            keepalive_expiry=_KEPT_S,
            http2=True,
            network_backend=backend,
        )
        self._proxies: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the beginning of an answer; its body is a stream."""
        if self._is_proxied and (proxy := environment_proxy(str(request.url))):
            return await self._send_through_proxy(proxy, request)
        url = request.url
        response = await self._direct.handle_async_request(
            httpcore2.Request(
                request.method,
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=request.headers.raw,
                content=request.stream,
                extensions=request.extensions,
            )
        )
        assert isinstance(response.stream, AsyncIterable)
        return httpx2.Response(
            response.status,
            headers=response.headers,
            stream=_ResponseStream(response),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        for proxy in self._proxies.values():
            await proxy.aclose()
        await self._direct.aclose()

    async def _send_through_proxy(self, proxy: str, request: httpx2.Request) -> httpx2.Response:
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        self._backend.check_unresolved(request.url.host, port)
        if proxy not in self._proxies:
            self._proxies[proxy] = httpx2.AsyncHTTPTransport(verify=self._tls, http2=True, proxy=proxy)
        return await self._proxies[proxy].handle_async_request(request)


class _ResponseStream(httpx2.AsyncByteStream):
    """The body of one of httpcore's answers."""

    def __init__(self, response: httpcore2.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._response.aiter_stream():
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()

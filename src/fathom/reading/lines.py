"""The connections of one fetch: one to an origin, all under one guard, used again while the server stays.

Does not know redirects, nor what an answer means. Below httpx2's client, which is made for many requests and
costs more than the two of a fetch.
"""

import ssl
from collections.abc import Sequence

import httpcore2
import httpx2

_Origin = tuple[bytes, bytes, int]


class Lines:
    """For requests one after another; whoever made it closes it."""

    def __init__(self, backend: httpcore2.AsyncNetworkBackend, certificates: ssl.SSLContext) -> None:
        self._backend = backend
        self._certificates = certificates
        self._open: dict[_Origin, httpcore2.AsyncHTTPConnection] = {}

    async def get(self, url: httpx2.URL, headers: Sequence[tuple[bytes, bytes]]) -> httpcore2.Response:
        """The beginning of the answer to a GET: its status and headers, and a body that is still to come.

        Whoever asked closes it before the next one is asked for.
        """
        place = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        line = await self._line(place.origin)
        named = [(b"Host", url.netloc), *headers]
        return await line.handle_async_request(httpcore2.Request("GET", place, headers=named))

    async def aclose(self) -> None:
        """Hang up."""
        while self._open:
            await self._open.popitem()[1].aclose()

    async def _line(self, origin: httpcore2.Origin) -> httpcore2.AsyncHTTPConnection:
        name = (origin.scheme, origin.host, origin.port)
        if line := self._open.get(name):
            if line.is_available() and not line.has_expired():
                return line
            await self._open.pop(name).aclose()  # the server has hung up, or the last answer was not read
        line = self._open[name] = httpcore2.AsyncHTTPConnection(
            origin, self._certificates, http2=True, network_backend=self._backend
        )
        return line

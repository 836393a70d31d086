"""Connections without a common pool: every request on its way has one to itself, taken again by later ones.

Does not know what is sent. httpcore's pool looks at all of its connections, and asks the kernel about each
idle one, whenever a request starts or ends: with many calls at once that costs more than the calls.
"""

import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import httpx2

_Origin = tuple[str, str, int | None]


class Lanes(httpx2.AsyncBaseTransport):
    """A transport made of transports for one connection each; for one event loop."""

    def __init__(
        self,
        make: Callable[[httpx2.Limits], httpx2.AsyncBaseTransport],
        *,
        idle_s: float = 5.0,  # as httpx2 has it
        most_idle: int = 100,
    ) -> None:
        self._make = make
        self._limits = httpx2.Limits(max_connections=1, keepalive_expiry=idle_s)
        self._idle_s = idle_s
        self._most_idle = most_idle
        self._idle: defaultdict[_Origin, deque[tuple[float, httpx2.AsyncBaseTransport]]] = defaultdict(deque)
        self._is_closed = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The answer; its connection is free again when the answer is closed."""
        url = request.url
        idle = self._idle[url.scheme, url.host, url.port]
        lane = idle.pop()[1] if idle else self._make(self._limits)
        async with AsyncExitStack() as lent:
            lent.push_async_callback(self._give_back, idle, lane)
            response = await lane.handle_async_request(request)
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Lent(response.stream, lent.pop_all())
            return response

    async def aclose(self) -> None:
        """Close what is idle now, and what is on its way as soon as it is back."""
        self._is_closed = True
        while self._idle:
            _, idle = self._idle.popitem()
            while idle:
                await idle.pop()[1].aclose()

    async def _give_back(
        self, idle: deque[tuple[float, httpx2.AsyncBaseTransport]], lane: httpx2.AsyncBaseTransport
    ) -> None:
        if self._is_closed:
            await lane.aclose()
            return
        now = time.monotonic()
        idle.append((now, lane))
        # The last one back goes first, so the others grow old at the other end. While one is closed, somebody
        # else may take the rest.
        while idle and (len(idle) > self._most_idle or now - idle[0][0] > self._idle_s):
            await idle.popleft()[1].aclose()


class _Lent(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, lent: AsyncExitStack) -> None:
        self._stream = stream
        self._lent = lent

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def aclose(self) -> None:
        async with self._lent:
            await self._stream.aclose()

"""Connections for httpcore2 and our own lanes on plain asyncio: no cancel scope around each read and write.

Does not know HTTP, nor who may be connected to: that is for whoever wraps it.
"""

import asyncio
import select
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack, suppress
from ipaddress import ip_address
from itertools import zip_longest
from socket import AF_INET6, SOCK_STREAM
from typing import Any, cast

import httpcore2

_MOST_UNREAD = 256 * 1024  # bytes that a server may be ahead of the reader
_NOBODY = "All connection attempts failed"
_NEXT_S = 0.25  # how long an address is waited for before the next one is tried too (RFC 8305)


class Stream(asyncio.Protocol, httpcore2.AsyncNetworkStream):
    """One connection: one task may read and one may write at a time."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._received = bytearray()
        self._is_ahead = False  # the server sends faster than anybody reads
        self._is_full = False  # what was written waits for the network
        self._is_over = False  # nothing will come any more
        self._error: Exception | None = None
        self._lost = asyncio.Event()
        self._reader: asyncio.Future[None] | None = None
        self._writer: asyncio.Future[None] | None = None

    @property
    def is_spent(self) -> bool:
        """Whether it is closed, or something came that nobody asked for: no place for a further request."""
        return self._is_over or bool(self._received) or _is_readable(self._transport)

    @property
    def is_sent(self) -> bool:
        """Whether all that was written has left."""
        return self._transport.get_write_buffer_size() == 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109  httpcore's
        """What has come, as soon as something has; nothing when the other side has ended."""
        if not self._received and not self._is_over:
            self._reader = self._loop.create_future()
            await self._woken(self._reader, timeout, httpcore2.ReadTimeout)
        if not self._received and self._error:
            raise httpcore2.ReadError(str(self._error)) from self._error
        found = bytes(self._received[:max_bytes])
        del self._received[:max_bytes]
        if self._is_ahead and len(self._received) < _MOST_UNREAD and not self._transport.is_closing():
            self._is_ahead = False
            self._transport.resume_reading()
        return found

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109  httpcore's
        """Send; wait only while the network takes less than there is."""
        if not self._transport.is_closing():
            self._transport.write(buffer)
            if self._is_full:
                self._writer = self._loop.create_future()
                await self._woken(self._writer, timeout, httpcore2.WriteTimeout)
        if self._transport.is_closing():
            raise httpcore2.WriteError(str(self._error or "the connection is closed"))

    async def aclose(self) -> None:
        """Hang up at once, whatever is on its way."""
        self.abort()
        await self._lost.wait()

    def abort(self) -> None:
        """The same without waiting for the system."""
        self._is_over = True
        self._transport.abort()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's
    ) -> "Stream":
        """The same connection, encrypted; hung up if that fails."""
        with ExitStack() as failing:
            failing.callback(self.abort)
            if self._received:  # by anybody on the way: it would pass for the server's encrypted words
                raise httpcore2.ConnectError("something came before the connection was encrypted")
            try:
                async with asyncio.timeout(timeout):
                    found = await self._loop.start_tls(
                        self._transport, self, ssl_context, server_hostname=server_hostname
                    )
            except TimeoutError as error:
                raise httpcore2.ConnectTimeout(str(error)) from error
            except OSError as error:
                raise httpcore2.ConnectError(str(error)) from error
            if found is None:
                raise httpcore2.ConnectError("the connection was closed")
            self._transport = found
            failing.pop_all()
        return self

    def get_extra_info(self, info: str) -> Any:
        """What httpcore asks about a connection."""
        if info == "is_readable":
            return self.is_spent
        names = {"client_addr": "sockname", "server_addr": "peername"}
        return self._transport.get_extra_info(names.get(info, info))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The loop's word that it is connected."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are no subclass of it

    def data_received(self, data: bytes) -> None:
        """The loop's word that something has come."""
        self._received += data
        if not self._is_ahead and len(self._received) >= _MOST_UNREAD:
            self._is_ahead = True
            self._transport.pause_reading()
        _wake(self._reader)

    def eof_received(self) -> None:
        """The loop's word that nothing more will come; the loop then closes it."""
        self._is_over = True
        _wake(self._reader)

    def connection_lost(self, exc: Exception | None) -> None:
        """The loop's word that it is closed."""
        self._is_over, self._error = True, self._error or exc
        self._lost.set()
        _wake(self._reader)
        _wake(self._writer)

    def pause_writing(self) -> None:
        """The loop's word that the network is slower than we."""
        self._is_full = True

    def resume_writing(self) -> None:
        """The loop's word that there is room again."""
        self._is_full = False
        _wake(self._writer)

    async def _woken(
        self,
        waiter: asyncio.Future[None],
        timeout: float | None,  # noqa: ASYNC109  httpcore's
        late: type[httpcore2.TimeoutException],
    ) -> None:
        clock = None if timeout is None else self._loop.call_later(timeout, _expire, waiter, late)
        try:
            await waiter
        finally:
            if clock:
                clock.cancel()


async def addresses_of(host: str, port: int) -> list[str]:
    """All addresses of a name, one of each family first; an address is its own."""
    with suppress(ValueError):
        return [ip_address(host).compressed]
    try:
        rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=SOCK_STREAM)
    except UnicodeError as error:
        raise OSError(f"{host} is not a name") from error
    found = dict.fromkeys((row[0] != AF_INET6, str(row[4][0])) for row in rows)
    newer, older = ([name for is_older, name in found if is_older is which] for which in (False, True))
    return [name for pair in zip_longest(newer, older) for name in pair if name]


class Sockets(httpcore2.AsyncNetworkBackend):
    """Connects by name or address; of several addresses to the one that answers first."""

    def __init__(self, resolve: Callable[[str, int], Awaitable[list[str]]] = addresses_of) -> None:
        self._resolve = resolve

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  httpcore's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> Stream:
        """A connection; ConnectTimeout or ConnectError when there is none."""
        local = (local_address, 0) if local_address else None
        try:
            async with asyncio.timeout(timeout):
                stream = await _first_of(await self._resolve(host, port), port, local)
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from error
        for option in socket_options or ():
            stream.get_extra_info("socket").setsockopt(*option)
        return stream

    async def sleep(self, seconds: float) -> None:
        """As httpcore wants it."""
        await asyncio.sleep(seconds)


async def _first_of(addresses: list[str], port: int, local: tuple[str, int] | None) -> Stream:
    """The first connection that is made; a further address is tried when one fails or takes its time."""
    if len(addresses) == 1:
        return await _only(addresses[0], port, local)
    tries: list[asyncio.Task[Stream]] = []
    left, waiting = deque(addresses), set[asyncio.Task[Stream]]()
    try:
        while left or waiting:
            if left:
                tries.append(asyncio.create_task(_connected(left.popleft(), port, local)))
                waiting.add(tries[-1])
            done, waiting = await asyncio.wait(
                waiting, timeout=_NEXT_S if left else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                if not task.exception():
                    tries.remove(task)
                    return task.result()
    finally:
        for task in tries:
            task.cancel()
            task.add_done_callback(_hang_up)
    failures = [error for task in tries if isinstance(error := task.exception(), OSError)]
    raise OSError(_NOBODY) from next(iter(failures), None)


async def _only(address: str, port: int, local: tuple[str, int] | None) -> Stream:
    try:
        return await _connected(address, port, local)
    except OSError as error:
        raise OSError(_NOBODY) from error


async def _connected(address: str, port: int, local: tuple[str, int] | None) -> Stream:
    loop = asyncio.get_running_loop()
    return (await loop.create_connection(Stream, address, port, local_addr=local))[1]


def _hang_up(late: asyncio.Task[Stream]) -> None:
    """Who connected after another one did is not needed."""
    if not late.cancelled() and not late.exception():
        late.result().abort()


def _is_readable(transport: asyncio.Transport) -> bool:
    """Whether the system knows what the loop has not yet seen: mostly, that the server hung up."""
    number = transport.get_extra_info("socket").fileno()
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([number], [], [], 0)[0])
    asked = select.poll()
    asked.register(number, select.POLLIN)
    return bool(asked.poll(0))


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter and not waiter.done():
        waiter.set_result(None)


def _expire(waiter: asyncio.Future[None], late: type[httpcore2.TimeoutException]) -> None:
    if not waiter.done():
        waiter.set_exception(late())

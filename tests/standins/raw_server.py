"""A web server that says what a test has it say, byte for byte, and notices who intrudes on a connection."""

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import Self

import pytest

from fathom.concurrency import new_loop

LOOPS = [asyncio.new_event_loop, new_loop]


def in_each_loop(scenario: Callable[[], Awaitable[None]]) -> Callable[..., None]:
    """The scenario in asyncio's own loop and in the quicker one; bounded."""

    @pytest.mark.parametrize("make", LOOPS, ids=["asyncio", "quick"])
    def test(make: Callable[[], asyncio.AbstractEventLoop]) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(30):
                await scenario()

        with asyncio.Runner(loop_factory=make) as runner:
            runner.run(bounded())

    test.__name__ = test.__qualname__ = getattr(scenario, "__name__", "test")
    return test


async def settled(is_so: Callable[[], bool]) -> bool:
    """Whether it becomes so within some seconds."""
    for _ in range(500):
        if is_so():
            return True
        await asyncio.sleep(0.01)
    return False


@dataclass(frozen=True)
class Heard:
    """One request as it came, and the number of the connection it came on."""

    line: str
    headers: dict[str, str]
    body: bytes
    connection: int


Act = Callable[[Heard, asyncio.StreamWriter], Awaitable[None]]


def plain(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    """A good answer in one piece."""
    lines = [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{''.join(lines)}\r\n".encode() + body


def chunked(*parts: bytes) -> bytes:
    framed = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed


HELLO = plain(b"hello")


def saying(*pieces: bytes, pause_s: float = 0.0, hangs_up: bool = False) -> Act:
    """Say these pieces, with a pause after each; then stay, or hang up."""

    async def act(_: Heard, writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)
        if hangs_up:
            writer.close()

    return act


Handle = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(
    handle: Handle, host: str, certificate: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[int]:
    """The port of a server whose every connection is handled so; at the end nobody is left."""
    tasks: set[asyncio.Task[None]] = set()

    async def handled(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            # RuntimeError: what the quicker loop says where asyncio's own says nothing.
            with suppress(ConnectionError, RuntimeError, asyncio.IncompleteReadError):
                await handle(reader, writer)
        finally:
            writer.transport.abort()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(handled(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(connected, host, port, ssl=certificate, backlog=500)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)  # what was aborted is closed by the loop a little later


class Rough:
    """Started with `async with`; every request is answered by `act`, which may change in between."""

    def __init__(
        self,
        act: Act,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: ssl.SSLContext | None = None,
    ) -> None:
        self.act = act
        self.heard: list[Heard] = []
        self.made = 0
        self.open = 0
        self.intrusions = 0  # requests that began on a connection before the one there was answered
        self.port = port
        self._host, self._certificate = host, certificate
        self._writers: set[asyncio.StreamWriter] = set()
        self._started = AsyncExitStack()

    async def __aenter__(self) -> Self:
        serves = serving(self._served, self._host, self._certificate, self.port)
        self.port = await self._started.enter_async_context(serves)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._started.aclose()

    @property
    def url(self) -> str:
        """Where it listens, without a slash at the end."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._certificate else 'http'}://{host}:{self.port}"

    def hang_up(self) -> None:
        """Close all connections, at once: before any loop hears of it."""
        for writer in list(self._writers):
            with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as same:
                same.shutdown(socket.SHUT_RDWR)

    def say(self, words: bytes) -> None:
        """Say something on every connection, whether anybody asked or not."""
        for writer in list(self._writers):
            writer.write(words)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.made, self.open = self.made + 1, self.open + 1
        number = self.made
        self._writers.add(writer)
        begun = asyncio.ensure_future(reader.read(1))
        try:
            while first := await begun:
                heard = await _heard(first, reader, number)
                self.heard.append(heard)
                begun = asyncio.ensure_future(reader.read(1))
                begun.add_done_callback(partial(self._noticed, answering := [True]))
                await self.act(heard, writer)
                await writer.drain()
                answering.clear()
        finally:
            begun.cancel()
            self._writers.discard(writer)
            self.open -= 1

    def _noticed(self, answering: list[bool], begun: asyncio.Future[bytes]) -> None:
        if answering and not begun.cancelled() and not begun.exception() and begun.result():
            self.intrusions += 1


async def _heard(first: bytes, reader: asyncio.StreamReader, number: int) -> Heard:
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *rest = head.rstrip("\r\n").split("\r\n")
    headers = {name.lower(): value for name, _, value in (header.partition(": ") for header in rest)}
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(await reader.readline(), 16):
            body += await reader.readexactly(size)
            await reader.readline()
        await reader.readline()
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Heard(line, headers, body, number)

"""Two machines made of network namespaces, which share nothing with this one but a wire.

Does not know what runs in them. Everything is named after this process and taken away at the end. Addresses
are private ones of ours: 10.203.0.0/16. What this machine offers is at `HERE`; documents have hosts of their
own below `DOCUMENTS`.
"""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

HERE = "10.203.0.1"
DOCUMENTS = "10.203"
_HOSTS = ("10.203.128.0/17", f"{HERE}/32")  # all of them this machine


@contextmanager
def make_namespaces(count: int) -> Iterator[list[str]]:
    """So many namespaces, each on a wire of its own; none, and a loud word, where none can be made."""
    names = [f"fathom-{os.getpid()}-{number}" for number in range(count)]
    try:
        for hosts in _HOSTS:
            _ip("route", "add", "local", hosts, "dev", "lo")
        for number, name in enumerate(names):
            _add(name, number)
    except (OSError, subprocess.CalledProcessError) as error:
        _remove(names)
        why = error.stderr.strip() if isinstance(error, subprocess.CalledProcessError) else error
        print(f"WARNING: NO NETWORK NAMESPACES ({why}): workers are plain processes", file=sys.stderr)
        yield []
        return
    try:
        yield names
    finally:
        _remove(names)


def _add(name: str, number: int) -> None:
    near, far, net = f"fth{os.getpid() % 10_000}x{number}", "wire", f"10.203.{number + 1}"
    _ip("netns", "add", name)
    _ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
    _ip("addr", "add", f"{net}.1/30", "dev", near)
    _ip("link", "set", near, "up")
    for words in (
        ("addr", "add", f"{net}.2/30", "dev", far),
        ("link", "set", far, "up"),
        ("link", "set", "lo", "up"),
        ("route", "add", "default", "via", f"{net}.1"),
    ):
        _ip("-n", name, *words)


def _remove(names: list[str]) -> None:
    for name in names:  # the wire goes with it
        _ip("netns", "del", name, check=False)
    for hosts in _HOSTS:
        _ip("route", "del", "local", hosts, "dev", "lo", check=False)


def _ip(*words: str, check: bool = True) -> None:
    command = ["ip", *words]
    subprocess.run(command, capture_output=True, check=check, text=True)  # noqa: S603 - our own words


@contextmanager
def forward_to_socket(path: str) -> Iterator[int]:
    """A port at `HERE` that leads to a Unix socket: the server of a wheel listens on nothing else."""
    loop, ready = asyncio.new_event_loop(), threading.Event()
    ports: list[int] = []

    async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while part := await reader.read(65_536):
                writer.write(part)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_unix_connection(path)
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer))

    async def serve() -> None:
        server = await asyncio.start_server(connect, HERE, 0, backlog=1000)
        ports.append(server.sockets[0].getsockname()[1])
        ready.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.create_task(serve())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)

"""Parsing at a bounded cost: in processes of their own, with a limit on time and on memory.

A page that takes too much costs its process and nothing else. Processes are started when they are needed, used
again and ended with ours; the running event loop never waits for them. Small plain texts cannot cost much and
are parsed here. Does not know formats beyond which are harmless.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from fathom.errors import Unavailable, Unreadable
from fathom.reading.blocks import Empty
from fathom.reading.documents import kind_of
from fathom.reading.port import Document
from fathom.reading.reader import in_thread

_HARMLESS = frozenset({"text", "markdown", "rst", "python", "metadata"})
_HARMLESS_BYTES = 200_000
_START_S = 60.0
_PAGES_A_WORKER = 500  # then a new one: libraries keep caches


def _few() -> int:
    return max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True)
class Limits:
    """What one document may cost."""

    seconds: float = 20.0
    memory_bytes: int = 1_500_000_000
    chars: int = 5_000_000


class BoundedParser:
    """A `Parse` that cannot be made to hang or to eat the machine; share one in a process."""

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        workers: int | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._limits = limits or Limits()
        self._environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(environment or {})}
        self._idle = _Idle()
        # A thread a worker: who waits for a worker waits in the pool's queue, whatever loop it came from.
        self._threads = ThreadPoolExecutor(workers or _few(), thread_name_prefix="parsing")
        self._closed = weakref.finalize(self, self._idle.close)

    async def __call__(self, body: bytes, *, content_type: str | None, name: str) -> Document:
        """The document in some bytes; Unreadable if that would cost too much."""
        kind = kind_of(body, content_type=content_type, name=name)
        if kind in _HARMLESS and len(body) <= _HARMLESS_BYTES:
            return await in_thread(body, content_type=content_type, name=name)
        call = _Call(body, content_type, name, self._limits)
        future = self._threads.submit(call.run, self._idle, self._environment)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            call.stop()
            raise

    def close(self) -> None:
        """End the processes now, and take no more documents."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._closed()


class _Worker:
    """One process; whoever holds it is its only user."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        # Only what is given here of the environment: keys have no business where strangers' files are opened.
        # A group of its own, because Ctrl-C is for us to handle; -P, because the folder we are in is not ours.
        self.pages = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fathom.reading.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,
        )

    def ask(self, request: bytes, limit_s: float) -> dict[str, Any] | None:
        """The reply, or None if the process died or was killed because it took too long."""
        self.pages += 1
        timer = threading.Timer(limit_s, self.kill)
        timer.daemon = True
        timer.start()
        try:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(request)
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            return None
        finally:
            timer.cancel()
        return json.loads(line) if line.endswith(b"\n") else None

    def kill(self) -> None:
        """End the process at once; from any thread, any number of times."""
        self._process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream and stream.close()

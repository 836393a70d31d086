"""One process, as whoever asks it sees it: a request goes out and a reply comes back, within a time.

Waits in the event loop and not in a thread, which would have to fight the loop for the interpreter twice a
request. Does not know what is asked, nor who else waits.
"""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

_START_S = 60.0
_READY = b'{"ready": true}\n'
_REQUESTS = 500  # then a new process: libraries that parse keep caches
_READ_BYTES = 1 << 20
_PIPE_BYTES = 1 << 20  # most pages go through in one piece, and nobody is woken twice for one
_IS_WAITING_IN_LOOP = sys.platform != "win32"  # whose loops cannot wait for pipes


@dataclass(frozen=True)
class Request:
    """What a process is asked, and what its answer may cost."""

    asked: Mapping[str, Any]
    body: bytes = b""
    limit_s: float = 20.0
    max_memory_bytes: int = 1_500_000_000
    max_reply_bytes: int = 60_100_000

    def line(self, number: int) -> bytes:
        """The request as the process reads it; the number is for its reply."""
        said = {
            **self.asked,
            "number": number,
            "bytes": len(self.body),
            "limit_s": self.limit_s,
            "max_memory_bytes": self.max_memory_bytes,
        }
        return json.dumps(said).encode("ascii") + b"\n" + self.body


class Worker:
    """One process that is ready; whoever holds it is its only user."""

    def __init__(
        self, environment: Mapping[str, str], *, is_waiting_in_loop: bool = _IS_WAITING_IN_LOOP
    ) -> None:
        # Only what is given here of the environment: keys have no business where strangers' files are opened.
        # A session of its own, because Ctrl-C is for us to handle; -P, so that nothing here is imported.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fathom.crew.process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        self._is_waiting_in_loop = is_waiting_in_loop
        self._asked = 0
        self._is_ended = False
        self.is_late = False
        self._begin()

    def _begin(self) -> None:
        timer = threading.Timer(_START_S, self.kill)
        timer.daemon = True
        timer.start()
        # What starts with every Python here may have said something first: no reply may be taken for another.
        while (line := self._output.readline()) and not line.endswith(_READY):
            pass
        timer.cancel()
        if not line:
            self.close()
            raise OSError("it ended before it was ready")
        if self._is_waiting_in_loop:
            for stream in (self._input, self._output):
                os.set_blocking(stream.fileno(), False)
                _widen(stream.fileno())

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_usable(self) -> bool:
        """Whether it is alive and has not served too long."""
        return not self._is_ended and self._asked < _REQUESTS and self._process.poll() is None

    async def ask(self, request: Request) -> dict[str, Any] | None:
        """The reply; None if it died or took too long. It has ended then, as it has when we are cancelled."""
        self._asked += 1
        line, reply = request.line(self._asked), None
        late = asyncio.get_running_loop().call_later(request.limit_s, self._end_late)
        try:
            with suppress(OSError):
                reply = _reply_to(self._asked, await self._exchanged(line, request.max_reply_bytes))
        finally:
            late.cancel()
            if reply is None:
                self.kill()
        return reply

    async def _exchanged(self, line: bytes, most: int) -> bytes:
        if not self._is_waiting_in_loop:
            return await asyncio.to_thread(self._exchanged_here, line, most)
        loop = asyncio.get_running_loop()
        wanted, left = self._input.fileno(), memoryview(line)
        while left:
            try:
                left = left[os.write(wanted, left) :]
            except BlockingIOError:
                await _ready(wanted, loop.add_writer, loop.remove_writer)
        given, reply = self._output.fileno(), bytearray()
        while not reply.endswith(b"\n") and len(reply) <= most:
            await _ready(given, loop.add_reader, loop.remove_reader)
            with suppress(BlockingIOError):
                if not (more := os.read(given, _READ_BYTES)):
                    break
                reply += more
        return bytes(reply)

    def _exchanged_here(self, line: bytes, most: int) -> bytes:
        left, reply = memoryview(line), b""
        while left:
            left = left[os.write(self._input.fileno(), left) :]
        while not reply.endswith(b"\n") and len(reply) <= most:
            if not (more := os.read(self._output.fileno(), _READ_BYTES)):
                break
            reply += more
        return reply

    def _end_late(self) -> None:
        self.is_late = True
        self.kill()

    def kill(self) -> None:
        """End the process at once; from any thread, any number of times."""
        self._is_ended = True
        self._process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        self.kill()
        self._process.wait()
        for stream in (self._input, self._output):
            with suppress(OSError):
                stream.close()


def _reply_to(number: int, said: bytes) -> dict[str, Any] | None:
    """What was said, if all of it came and it is about this request."""
    with suppress(ValueError):
        reply = json.loads(said)
        return reply if isinstance(reply, dict) and reply.get("number") == number else None
    return None


async def _ready(
    pipe: int, add: Callable[[int, Callable[[], None]], None], remove: Callable[[int], bool]
) -> None:
    """When the pipe can be read or written; it belongs to this loop until then."""
    ready = asyncio.get_running_loop().create_future()
    add(pipe, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        remove(pipe)


def _widen(pipe: int) -> None:
    """Let more stand in the pipe, where the system can."""
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

"""A process of its own that parses what strangers wrote: `python -m fathom.crew.process`.

Takes requests from its input one by one, and ends when the input does. A request is a line of JSON and the
bytes it announces; a reply is a line of JSON with the request's number. Does not know who asks, and may die
of any request.
"""

import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, BinaryIO

from fathom.errors import Unreadable
from fathom.reading.blocks import Empty
from fathom.reading.documents import parse

_GRACE_S = 5.0


def main() -> None:
    """Serve until the input ends."""
    requests, replies = sys.stdin.buffer, _own_output()
    _send(replies, {"ready": True})
    while line := requests.readline():
        asked = json.loads(line)
        body = requests.read(asked["bytes"])
        _limit_memory(asked["max_memory_bytes"])
        _die_after(asked["limit_s"] + _GRACE_S)
        _send(replies, {**_document(body, asked), "number": asked["number"]})
        _die_after(0)


def _own_output() -> BinaryIO:
    """The output for replies; whatever a library prints goes elsewhere from now on."""
    kept = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return kept


def _send(replies: BinaryIO, reply: Mapping[str, Any]) -> None:
    replies.write(json.dumps(reply).encode("ascii") + b"\n")
    replies.flush()


def _die_after(seconds: float) -> None:
    """The kernel ends us then, even in the middle of C code and with nobody left to do it; 0 is never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _limit_memory(max_memory_bytes: int) -> None:
    """Bound memory, and leave nothing on the disk when dying."""
    try:
        import resource
    except ImportError:
        return  # Windows has none of this: the parent's time limit must do
    for limit, most in (
        (resource.RLIMIT_AS, max_memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (most, hard))


def _document(body: bytes, asked: Mapping[str, Any]) -> dict[str, Any]:
    name = asked["name"]
    try:
        document = parse(body, content_type=asked["content_type"], name=name)
    except Unreadable as error:
        return {"unreadable": str(error), "is_empty": isinstance(error, Empty)}
    except MemoryError:
        return {"memory": True}
    except RecursionError:
        return {"unreadable": f"{name} is nested too deeply to be read"}
    if len(document.text) > asked["max_chars"]:
        return {"unreadable": f"{name} has more than {asked['max_chars']:,} characters of text"}
    return {"document": asdict(document)}


if __name__ == "__main__":
    main()

"""Parsing at a bounded cost: in processes of their own, with a limit on time and on memory.

A page that takes too much costs its process and nothing else. Small plain texts cannot cost much and are
parsed here. Does not know formats beyond which are harmless.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fathom.crew.crew import Crew, Lost
from fathom.crew.worker import Request
from fathom.errors import Unreadable
from fathom.reading.blocks import Empty
from fathom.reading.documents import kind_of
from fathom.reading.port import Document
from fathom.reading.reader import in_thread

_HARMLESS = frozenset({"text", "markdown", "rst", "python", "metadata"})
_HARMLESS_BYTES = 200_000


@dataclass(frozen=True)
class Limits:
    """What one document may cost."""

    seconds: float = 20.0
    memory_bytes: int = 1_500_000_000
    chars: int = 5_000_000


@dataclass(frozen=True)
class BoundedParser:
    """A `Parse` that cannot be made to hang or to eat the machine."""

    crew: Crew
    limits: Limits = Limits()

    async def __call__(self, body: bytes, *, content_type: str | None, name: str) -> Document:
        """The document in some bytes; Unreadable if that would cost too much."""
        kind = kind_of(body, content_type=content_type, name=name)
        if kind in _HARMLESS and len(body) <= _HARMLESS_BYTES:
            return await in_thread(body, content_type=content_type, name=name)
        request = Request(
            {"content_type": content_type, "name": name, "max_chars": self.limits.chars},
            body,
            limit_s=self.limits.seconds,
            max_memory_bytes=self.limits.memory_bytes,
            max_reply_bytes=self.limits.chars * 12 + 100_000,  # a character takes up to twelve bytes in JSON
        )
        try:
            return self._document(await self.crew.ask(request), name)
        except Lost as lost:
            raise Unreadable(self._why(lost, name)) from lost

    def _document(self, reply: Mapping[str, Any], name: str) -> Document:
        if "document" in reply:
            return Document(**{**reply["document"], "pages": tuple(reply["document"]["pages"])})
        if reply.get("memory"):
            megabytes = self.limits.memory_bytes // 1_000_000
            raise Unreadable(f"{name} needs more than {megabytes:,} MB of memory to parse")
        raise (Empty if reply.get("is_empty") else Unreadable)(reply["unreadable"])

    def _why(self, lost: Lost, name: str) -> str:
        if lost.how == "start":
            return f"{name} cannot be parsed: the process for it does not start: {lost}"
        if lost.how == "late":
            return f"{name} took longer than {self.limits.seconds:g} s to parse"
        if lost.how == "ended":
            return f"{name} cannot be parsed: the processes for that were ended"
        return f"{name} could not be parsed: it broke the parser or needs too much memory"

"""The readers: a hit's address to its document, from files or from the web.

Does not know formats (documents.py) or sockets (fetch.py), and does not retry.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fathom.errors import Refused, Unreadable
from fathom.reading import documents
from fathom.reading.port import Document, Parse, Reader
from fathom.state import Hit


async def in_thread(body: bytes, *, content_type: str | None, name: str) -> Document:
    """The document in some bytes, parsed beside the event loop but without a limit on what it may cost."""
    return await asyncio.to_thread(documents.parse, body, content_type=content_type, name=name)


@dataclass(frozen=True)
class FileReader:
    """Reads `file://` addresses, only inside its roots and only after following every link."""

    roots: tuple[Path, ...]
    max_bytes: int = 20 * 1024 * 1024
    parse: Parse = in_thread

    async def __call__(self, hit: Hit) -> Document:
        """The document in a file."""
        path, body = await asyncio.to_thread(self._read, hit.address)
        return await self.parse(body, content_type=None, name=str(path))

    def _read(self, address: str) -> tuple[Path, bytes]:
        path = self._allowed(address)
        try:
            if not path.is_file():
                raise Unreadable(f"{path} is not a file")
            if path.stat().st_size > self.max_bytes:
                raise Unreadable(f"{path} is larger than {self.max_bytes:,} bytes")
            return path, path.read_bytes()
        except OSError as error:
            raise Unreadable(f"{path} cannot be opened: {error.strerror}") from error

    def _allowed(self, address: str) -> Path:
        parts = urlsplit(address)
        if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or "\0" in unquote(parts.path):
            raise Refused(f"{address} is not a file of this machine")
        try:
            path = Path(unquote(parts.path)).resolve()
            roots = [root.resolve() for root in self.roots]
        except (OSError, RuntimeError) as error:
            raise Unreadable(f"{address} cannot be opened: {error}") from error
        if not any(path.is_relative_to(root) for root in roots):
            raise Refused(f"{path} is outside the folders that may be read")
        return path


@dataclass(frozen=True)
class AnyReader:
    """Chooses by the address: files here, what others keep with them, the rest on the web."""

    files: Reader
    web: Reader
    others: Mapping[str, Reader] = field(default_factory=dict)

    async def __call__(self, hit: Hit) -> Document:
        """The document, wherever it is."""
        scheme = hit.address.partition(":")[0].lower()
        reader = self.files if scheme == "file" else self.others.get(scheme, self.web)
        return await reader(hit)

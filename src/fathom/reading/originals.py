"""Papers as they came, in a folder: one file for each text that was read out of one.

Does not know runs. A file is named by the hash of its text, which is what a page of the report knows.
"""

import asyncio
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path


@dataclass(frozen=True)
class Originals:
    """A folder of PDFs by the hash of their text; keeping one again changes nothing."""

    folder: Path

    async def keep(self, text: str, body: bytes) -> None:
        """Keep a PDF under the hash of the text that was read out of it."""
        await asyncio.to_thread(self._keep, sha256(text.encode("utf-8", "replace")).hexdigest(), body)

    def find(self, sha: str) -> Path | None:
        """The PDF whose text has that hash, if it was kept."""
        place = self._place(sha)
        return place if place.is_file() else None

    def _keep(self, sha: str, body: bytes) -> None:
        place = self._place(sha)
        if not place.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            part = place.with_suffix(f".{os.getpid()}.part")
            part.write_bytes(body)
            part.replace(place)

    def _place(self, sha: str) -> Path:
        return self.folder / f"{sha}.pdf"

"""Papers read in full: an arXiv abstract or a paper's landing page leads to the paper itself.

Tries the PDF, then arXiv's HTML, then the page that was found. Does not know how any of them is fetched.
"""

import re
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from fathom.errors import ProviderError
from fathom.reading.port import Document, Reader
from fathom.state import Hit

ARXIV = "https://arxiv.org"
_HOSTS = frozenset({"arxiv.org", "www.arxiv.org", "export.arxiv.org"})
_ABSTRACT = re.compile(r"/abs/((?:[a-z.-]+/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?)/?", re.IGNORECASE)


@dataclass(frozen=True)
class PaperReader:
    """Reads a paper rather than the page that announces it; other hits pass as they are."""

    reader: Reader
    arxiv: str = ARXIV

    async def __call__(self, hit: Hit) -> Document:
        """The fullest text that can be had; the error of the page itself if there is none."""
        for address in self._fuller(hit):
            try:
                found = await self.reader(hit.model_copy(update={"address": address}))
            except ProviderError:
                continue  # the next place may have it, and the last one tells what is wrong
            # A PDF's own title and date are its typesetter's; the engine's are the paper's.
            return replace(found, title=hit.title or found.title, published=hit.published or found.published)
        return await self.reader(hit.model_copy(update={"address": self._plain(hit)}))

    def _fuller(self, hit: Hit) -> list[str]:
        paper = self._paper(hit.address)
        if paper:
            return [f"{self.arxiv}/pdf/{paper}", f"{self.arxiv}/html/{paper}"]
        return [hit.pdf] if hit.pdf and hit.pdf != hit.address else []

    def _plain(self, hit: Hit) -> str:
        paper = self._paper(hit.address)
        return f"{self.arxiv}/abs/{paper}" if paper else hit.address

    def _paper(self, address: str) -> str:
        """The paper an address is the abstract of, with its version if it names one."""
        try:
            parts = urlsplit(address)
        except ValueError:
            return ""
        found = _ABSTRACT.fullmatch(parts.path) if parts.hostname in _HOSTS else None
        return found.group(1) if found else ""

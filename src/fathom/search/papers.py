"""What catalogues of papers have in common: DOIs, abstracts, and where a paper can be found.

Does not know any catalogue.
"""

import re
from urllib.parse import quote

from fathom.search.rows import plain

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_HEADING = re.compile(r"^abstract\b[:.]?\s+(?=\S)", re.IGNORECASE)


def bare_doi(text: str | None) -> str:
    """A DOI without what catalogues put in front of it; nothing if it is none."""
    found = _DOI.search(text or "")
    return found.group() if found else ""


def doi_address(doi: str) -> str:
    """Where a DOI leads; nothing for none."""
    return f"https://doi.org/{quote(doi, safe='/:;().-_')}" if doi else ""


def abstract(text: str | None) -> str:
    """An abstract in plain words, without the word Abstract in front."""
    return _HEADING.sub("", plain(text))

"""Which files of some folders count as documents, and which cannot be read and why.

Never leaves the folders: links inside them are followed only to places inside them. Does not read any file.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fathom.reading.documents import is_document

MAX_BYTES = 20 * 1024 * 1024
# Sphinx keeps a copy of every page's source in `_sources`, without its headings.
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "_sources"})


@dataclass(frozen=True)
class Stamp:
    """What shows, without reading a file, whether it has changed."""

    size: int
    mtime_ns: int


@dataclass
class Listing:
    """The documents found, and what was passed over: path and reason."""

    files: dict[str, Stamp] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def list_documents(roots: tuple[Path, ...]) -> Listing:
    """All documents below the roots; a root may be a file."""
    listing = Listing()
    real_roots = tuple(root.resolve() for root in roots)
    for root in real_roots:
        if root.is_dir():
            for path in _walk(root, listing):
                _take(path, real_roots, listing)
        elif root.exists():
            _take(root, real_roots, listing)
        else:
            listing.unread[str(root)] = "it does not exist"
    return listing


def _walk(root: Path, listing: Listing) -> Iterator[Path]:
    def note(error: OSError) -> None:
        listing.unread[str(error.filename)] = error.strerror or "it cannot be opened"

    for folder, folders, names in os.walk(root, onerror=note):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            if name[0] != "." and is_document(path):
                yield path


def _take(path: Path, roots: tuple[Path, ...], listing: Listing) -> None:
    try:
        if path.is_symlink():
            path = path.resolve(strict=True)
            if not any(path.is_relative_to(root) for root in roots):
                listing.unread[str(path)] = "a link in the folder points to it, but it is outside"
                return
        about = path.stat()
    except (OSError, RuntimeError) as error:
        listing.unread[str(path)] = getattr(error, "strerror", None) or "it cannot be opened"
        return
    if about.st_size > MAX_BYTES:
        listing.unread[str(path)] = f"it is larger than {MAX_BYTES // 1024 // 1024} MB"
    elif path.is_file():
        listing.files[str(path)] = Stamp(size=about.st_size, mtime_ns=about.st_mtime_ns)

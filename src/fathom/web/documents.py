"""Documents for runs of the page: folders below the allowed roots, and files that somebody uploads.

Does not know runs. Whatever a name says, nothing outside the roots is listed and nothing outside the uploads
is written.
"""

import os
import re
import unicodedata
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fathom.errors import BadInput
from fathom.reading.documents import READABLE_SUFFIXES

MAX_UPLOAD_BYTES = 50_000_000
_MOST_SHOWN = 500
_FOLDER = re.compile(r"[0-9a-f]{32}")


def list_folder(roots: Sequence[Path], place: str) -> dict[str, Any]:
    """The folders in a place below the roots, and how many documents lie in it; the roots without a place."""
    known = list(dict.fromkeys(root.expanduser().resolve() for root in roots))
    if not place:
        return {"path": "", "parent": None, "documents": 0, "folders": [_named(root) for root in known]}
    path = Path(place).expanduser().resolve()
    root = next((root for root in known if path.is_relative_to(root)), None)
    if root is None:
        raise BadInput(f"{place} is outside the folders that may be read (FATHOM_DOCS_ROOTS).")
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name.lower())[:_MOST_SHOWN]
    except OSError as error:
        raise BadInput(f"{place} cannot be opened: {error.strerror or error}.") from error
    folders = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return {
        "path": str(path),
        "parent": "" if path == root else str(path.parent),
        "documents": sum(Path(entry.name).suffix.lower() in READABLE_SUFFIXES for entry in entries),
        "folders": [_named(folder) for folder in folders if not folder.name.startswith(".")],
    }


def find_example(roots: Sequence[Path]) -> dict[str, str] | None:
    """A document in one of the roots, for a question that can be answered here and now."""
    for root in roots:
        path = root.expanduser().resolve()
        try:
            names = sorted(entry.name for entry in os.scandir(path) if entry.is_file())
        except OSError:
            continue
        if found := next((name for name in names if Path(name).suffix.lower() in {".md", ".txt"}), None):
            return {"name": Path(found).stem, "place": str(path / found)}
    return None


def new_upload(uploads: Path, folder: str, name: str) -> Path:
    """Where an uploaded file goes: the folder of this visit, or a new one, and the file's plain name."""
    plain = Path(unicodedata.normalize("NFC", name).replace("\\", "/")).name
    plain = "".join(letter for letter in plain if letter.isprintable() and letter not in '<>:"|?*')[:120]
    if not plain.strip(". ") or Path(plain).suffix.lower() not in READABLE_SUFFIXES:
        raise BadInput(f"{name[:80] or 'This'} cannot be read; send {', '.join(sorted(READABLE_SUFFIXES))}.")
    if folder and not _FOLDER.fullmatch(folder):
        raise BadInput("There is no such folder of uploads.")
    place = uploads / (folder or uuid.uuid4().hex)
    place.mkdir(parents=True, exist_ok=True)
    return place / plain


def _named(folder: Path) -> dict[str, str]:
    return {"name": folder.name or str(folder), "path": str(folder)}

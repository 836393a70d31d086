"""The full-text index of some folders, on disk, brought up to date by reading only what changed.

BM25 over passages, by tantivy; English words are stemmed, Korean, Chinese and Japanese are character pairs.
Does not know queries or hits as records, nor who else is using the index.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tantivy

from fathom.errors import Unreadable
from fathom.reading import Document, EmptyDocument
from fathom.reading.parsers import is_document
from fathom.text.sentences import split_passages
from fathom.text.tokens import index_text

MAX_FILE_BYTES = 20 * 1024 * 1024

# Sphinx keeps a copy of every page's source in `_sources`, without its headings.
_SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "_sources"})


@dataclass(frozen=True)
class FileStamp:
    """What shows, without reading a file, whether it has changed."""

    size: int
    mtime_ns: int


@dataclass
class FileListing:
    """The documents found, and what was passed over: path and reason."""

    files: dict[str, FileStamp] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


def list_documents(roots: tuple[Path, ...]) -> FileListing:
    """All documents below the roots; a root may be a file."""
    listing = FileListing()
    real_roots = tuple(root.resolve() for root in roots)
    for root in real_roots:
        if root.is_dir():
            for path in _walk(root, listing):
                _add_file(path, real_roots, listing)
        elif root.exists():
            _add_file(root, real_roots, listing)
        else:
            listing.unread[str(root)] = "it does not exist"
    return listing


def _walk(root: Path, listing: FileListing) -> Iterator[Path]:
    def note(error: OSError) -> None:
        listing.unread[str(error.filename)] = error.strerror or "it cannot be opened"

    for folder, folders, names in os.walk(root, onerror=note):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in _SKIPPED_FOLDERS)
        for name in sorted(names):
            path = Path(folder, name)
            if name[0] != "." and is_document(path):
                yield path


def _add_file(path: Path, roots: tuple[Path, ...], listing: FileListing) -> None:
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
    if about.st_size > MAX_FILE_BYTES:
        listing.unread[str(path)] = f"it is larger than {MAX_FILE_BYTES // 1024 // 1024} MB"
    elif path.is_file():
        listing.files[str(path)] = FileStamp(size=about.st_size, mtime_ns=about.st_mtime_ns)


_TABLE = """create table if not exists files (
    path text primary key, size integer not null, mtime_ns integer not null,
    title text not null, why text not null)"""

ManifestRow = tuple[str, FileStamp, str, str]

"""Path, stamp, title (empty if it has nothing to say), why it could not be read."""


class Manifest:
    """The rows of one index; every call opens and closes the file, so any thread may call."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(self._connect()) as connection, connection:
            connection.execute(_TABLE)

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=30)

    def stamps(self) -> dict[str, FileStamp]:
        """When each known file was last read."""
        with closing(self._connect()) as connection:
            rows = connection.execute("select path, size, mtime_ns from files").fetchall()
        return {path: FileStamp(size, mtime_ns) for path, size, mtime_ns in rows}

    def update(self, rows: Iterable[ManifestRow], removed: Iterable[str] = ()) -> None:
        """Remember files that were read now, forget files that are gone."""
        flat = [(path, stamp.size, stamp.mtime_ns, title, why) for path, stamp, title, why in rows]
        with closing(self._connect()) as connection, connection:
            connection.executemany("delete from files where path = ?", [(path,) for path in removed])
            connection.executemany("insert or replace into files values (?, ?, ?, ?, ?)", flat)

    def unread(self) -> dict[str, str]:
        """Files that could not be read, and why."""
        with closing(self._connect()) as connection:
            return dict(
                connection.execute("select path, why from files where why != '' order by path").fetchall()
            )

    def count(self) -> int:
        """How many documents can be found."""
        with closing(self._connect()) as connection:
            (number,) = connection.execute("select count(*) from files where title != ''").fetchone()
        return int(number)


FORMAT = 4  # raise it when what is written changes: older indexes are then built anew
ParseFile = Callable[..., Document]
ProgressCallback = Callable[[int, int], None]

"""Told how many of how many changed files are read; called in the thread that indexes."""

_TITLE_BOOST = 0.3  # measured: 0.3 beats 0, 0.5 and 1 on questions that need two pages
_HEAP_BYTES = 64_000_000
_FILES_A_COMMIT = 5_000


@dataclass(frozen=True)
class PassageMatch:
    """A passage that matches, and how well."""

    path: str
    title: str
    published: str | None
    text: str
    score: float


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("path", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name="en_stem", index_option="freq")
    builder.add_text_field("body", tokenizer_name="en_stem", index_option="freq")
    builder.add_bytes_field("card", stored=True)
    return builder.build()


def _stemmer() -> tantivy.TextAnalyzer:
    steps = (tantivy.Filter.remove_long(40), tantivy.Filter.lowercase(), tantivy.Filter.stemmer("english"))
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in steps:
        builder = builder.filter(step)
    return builder.build()


class LocalIndex:
    """One index in one folder; opening a damaged or outdated one empties it."""

    def __init__(self, home: Path, *, is_repair_allowed: bool = True) -> None:
        self.home = home
        self._stemmer = _stemmer()
        try:
            self._open()
        except (ValueError, OSError, sqlite3.DatabaseError):
            if not is_repair_allowed:
                raise
            shutil.rmtree(home, ignore_errors=True)
            self._open()

    def _open(self) -> None:
        folder = self.home / f"format-{FORMAT}"
        (folder / "passages").mkdir(parents=True, exist_ok=True)
        self.manifest = Manifest(folder / "manifest.sqlite")
        self._index: Any = tantivy.Index(_schema(), path=str(folder / "passages"))
        if self._index.searcher().num_docs == 0 and self.manifest.count():
            raise ValueError("the manifest speaks of documents that the index does not have")

    def sync(self, listing: FileListing, parse: ParseFile, progress: ProgressCallback | None = None) -> None:
        """Read new and changed files, forget deleted ones."""
        known = self.manifest.stamps()
        removed = [path for path in known if path not in listing.files]
        changed = [path for path, stamp in listing.files.items() if known.get(path) != stamp]
        if not removed and not changed:
            return
        writer = self._index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        for path in removed:
            writer.delete_documents_by_term("path", path)
        writer.commit()
        self.manifest.update([], removed)
        for start in range(0, len(changed), _FILES_A_COMMIT):
            batch = changed[start : start + _FILES_A_COMMIT]
            rows = []
            for number, path in enumerate(batch, start=start + 1):
                rows.append(self._add(writer, path, listing.files[path], parse))
                if progress is not None:
                    progress(number, len(changed))
            writer.commit()
            self.manifest.update(rows)
        writer.wait_merging_threads()
        self._index.reload()

    def _add(self, writer: Any, path: str, stamp: FileStamp, parse: ParseFile) -> ManifestRow:
        # Also for new files: a crash between the commit and the manifest leaves passages nobody remembers.
        writer.delete_documents_by_term("path", path)
        try:
            body = Path(path).read_bytes()
        except OSError as error:
            return path, stamp, "", error.strerror or "it cannot be opened"
        try:
            document = parse(body, content_type=None, name=path)
        except EmptyDocument:
            return path, stamp, "", ""
        except Unreadable as error:
            return path, stamp, "", str(error)
        for entry in _entries(path, document):
            writer.add_document(entry)
        return path, stamp, document.title, ""

    def search(self, terms: list[str], *, limit: int) -> list[PassageMatch]:
        """The best passages for some index terms."""
        stemmed = self._stemmer.analyze(" ".join(terms))
        if not stemmed:
            return []
        schema = self._index.schema
        wanted = []
        for term in dict.fromkeys(stemmed):
            in_title = tantivy.Query.term_query(schema, "title", term, "freq")
            wanted.append((tantivy.Occur.Should, tantivy.Query.term_query(schema, "body", term, "freq")))
            wanted.append((tantivy.Occur.Should, tantivy.Query.boost_query(in_title, _TITLE_BOOST)))
        searcher = self._index.searcher()
        hits = searcher.search(tantivy.Query.boolean_query(wanted), limit, count=False).hits
        cards = ((bytes(searcher.doc(address).get_first("card")), score) for score, address in hits)
        return [PassageMatch(**json.loads(card), score=score) for card, score in cards]


def _entries(path: str, document: Document) -> Iterator[tantivy.Document]:
    title = index_text(f"{document.title} {Path(path).stem}")
    for text in split_passages(document.text):
        card = {"path": path, "title": document.title, "published": document.published, "text": text}
        entry = tantivy.Document()
        entry.add_text("path", path)
        entry.add_text("title", title)
        entry.add_text("body", index_text(text))
        entry.add_bytes("card", json.dumps(card).encode())
        yield entry

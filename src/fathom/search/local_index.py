"""The full-text index of some folders, on disk, brought up to date by reading only what changed.

BM25 over passages, by tantivy; English words are stemmed, Korean, Chinese and Japanese are character pairs.
Does not know queries or hits as records, nor who else is using the index.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import tantivy

from fathom.errors import Unreadable
from fathom.reading.blocks import Empty
from fathom.reading.port import Document
from fathom.search.local_files import Listing, Stamp
from fathom.search.local_manifest import Manifest, Row
from fathom.text.passages import passages
from fathom.text.tokens import index_text

FORMAT = 2  # raise it when what is written changes: older indexes are then built anew
Parse = Callable[..., Document]
Progress = Callable[[int, int], None]
"""Told how many of how many changed files are read; called in the thread that indexes."""

_TITLE_BOOST = 0.3  # measured: 0.3 beats 0, 0.5 and 1 on questions that need two pages
_HEAP_BYTES = 64_000_000
_FILES_A_COMMIT = 5_000


@dataclass(frozen=True)
class Found:
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

    def __init__(self, home: Path, *, is_mended: bool = True) -> None:
        self.home = home
        self._stemmer = _stemmer()
        try:
            self._open()
        except (ValueError, OSError, sqlite3.DatabaseError):
            if not is_mended:
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

    def sync(self, listing: Listing, parse: Parse, progress: Progress | None = None) -> None:
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

    def _add(self, writer: Any, path: str, stamp: Stamp, parse: Parse) -> Row:
        # Also for new files: a crash between the commit and the manifest leaves passages nobody remembers.
        writer.delete_documents_by_term("path", path)
        try:
            body = Path(path).read_bytes()
        except OSError as error:
            return path, stamp, "", "", error.strerror or "it cannot be opened"
        sha = sha256(body).hexdigest()
        try:
            document = parse(body, content_type=None, name=path)
        except Empty:
            return path, stamp, sha, "", ""
        except Unreadable as error:
            return path, stamp, sha, "", str(error)
        for entry in _entries(path, document):
            writer.add_document(entry)
        return path, stamp, sha, document.title, ""

    def search(self, terms: list[str], *, limit: int) -> list[Found]:
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
        return [_found(searcher.doc(address), score) for score, address in hits]


def _entries(path: str, document: Document) -> Iterator[tantivy.Document]:
    title = index_text(f"{document.title} {Path(path).stem}")
    for text in passages(document.text):
        card = {"path": path, "title": document.title, "published": document.published, "text": text}
        entry = tantivy.Document()
        entry.add_text("path", path)
        entry.add_text("title", title)
        entry.add_text("body", index_text(text))
        entry.add_bytes("card", json.dumps(card).encode())
        yield entry


def _found(entry: Any, score: float) -> Found:
    return Found(**json.loads(bytes(entry.get_first("card"))), score=score)

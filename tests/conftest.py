"""Every test runs offline, in a clean environment and with a home of its own.

Only loopback and Unix sockets connect. This is the one place where patching is justified.
"""

import gc
import ipaddress
import os
import socket
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from standins import browser, tmux

# The same cases every time, and no stop-watch: machines differ, and a red run must be repeatable.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.load_profile("steady")

# Whole runs, and engines and readers on the wire, take their time: they are in `make test` alone.
MARKED = {
    "scenarios": "whole", "examples": "whole", "cli": "whole",
    "search": "wire", "http": "wire", "reading": "wire",
}  # fmt: skip
LONG = {"localmodel", "kill", "server", "web", "wheel"}

FOREIGN = (
    "OPENAI_", "TAVILY_", "FATHOM_", "LANGSMITH_", "LANGCHAIN_", "SERPER_", "BRAVE_", "EXA_", "GOOGLE_",
    "SEARXNG_", "SEMANTIC_SCHOLAR_", "OPENALEX_", "NCBI_", "DDGS_",
)  # fmt: skip
PROXIES = {"http_proxy", "https_proxy", "all_proxy", "no_proxy"}


# What is tested on both databases, test by test; those that look into the file itself are marked `sqlite`.
BOTH = {
    "budget": {"test_budget", "test_paying", "test_time_budget"},
    "evidence": {"test_controls"},
    "llm": {"test_chat", "test_context_window"},
    "reading": {"test_cache"},
    "runs": {"test_control", "test_follow_up", "test_repository"},
    "scenarios": {
        *("test_costs", "test_events", "test_facade", "test_follow_up", "test_fork", "test_loop"),
        *("test_prune", "test_steering", "test_time_limit", "test_update"),
    },
    "search": {"test_cache"},
    "storage": {"test_checkpoints", "test_content", "test_control_signals", "test_prune"},
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what belongs to both databases twice."""
    path = metafunc.definition.path
    if path.stem in BOTH.get(path.parent.name, ()) and not metafunc.definition.get_closest_marker("sqlite"):
        places = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
        metafunc.parametrize("kept_in", places, indirect=True)


@pytest.fixture(autouse=True)
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep everything in the files that a test names, or in a PostgreSQL database in the place of each."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield
        return
    from standins.postgres import DatabasesForFiles

    databases = DatabasesForFiles()
    databases.patch(monkeypatch)
    yield
    databases.drop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies in the slow folders."""
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if folder in MARKED:
            item.add_marker(MARKED[folder])
    # What takes longest begins first, so that no worker waits for it in the end.
    items.sort(key=lambda item: item.path.parent.name not in LONG)


@pytest.fixture(autouse=True)
def closed_databases() -> Iterator[None]:
    """Close the files that a test has opened: a process works on one database, and tests on thousands."""
    yield
    opened = getattr(sys.modules.get("fathom.storage"), "_storages", {})
    for place in [place for place in opened if isinstance(place, Path)]:
        opened.pop(place)[0].close()


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """After the last test, connections that the OpenAI package keeps for a process's life are no leak.

    It remembers its clients by address; what they hold is let go here, and not told as an error of nobody's.
    """
    warnings.simplefilter("ignore", ResourceWarning)
    gc.collect()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly what could not be tested here."""
    for needed in (tmux, browser):
        if not needed.IS_THERE:
            terminalreporter.write_line(needed.WHY_NOT, red=True, bold=True)


class OfflineError(OSError):
    """A test tried to leave this machine."""


def is_loopback(host: object) -> bool:
    """Whether a host is this machine; nothing is looked up to find out."""
    if isinstance(host, bytes | bytearray):
        host = host.decode("ascii", "replace")
    if host is None or host in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(str(host).split("%", maxsplit=1)[0]).is_loopback
    except ValueError:
        return False


def is_named(host: object) -> bool:
    """Whether a host would have to be looked up."""
    try:
        ipaddress.ip_address(str(host).split("%", maxsplit=1)[0])
    except ValueError:
        return not is_loopback(host)
    return False


def refuse(sock: socket.socket, address: object) -> None:
    """Raise unless the address is on this machine."""
    if sock.family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple):
        if not is_loopback(address[0]):
            raise OfflineError(f"tests are offline, refused to connect to {address}")
    elif sock.family != socket.AF_UNIX:
        raise OfflineError(f"tests are offline, refused a socket of family {sock.family}")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse every connection and every look-up that leaves this machine."""
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: object) -> None:
        refuse(self, address)
        return connect(self, address)  # type: ignore[arg-type]

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        refuse(self, address)
        return connect_ex(self, address)  # type: ignore[arg-type]

    def guarded_getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
        if is_named(host):
            raise socket.gaierror(socket.EAI_NONAME, f"tests are offline, refused to look up {host!r}")
        return getaddrinfo(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)
    yield


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No keys, no proxies, no tracing; what Fathom keeps goes into the test's own folder."""
    for name in list(os.environ):
        if name.startswith(FOREIGN) or name.lower() in PROXIES:
            monkeypatch.delenv(name)
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path))
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    monkeypatch.setenv("FATHOM_LOCAL_SERVERS", "{}")  # whatever models run on this machine
    monkeypatch.setenv("PAGER", "cat")  # nobody turns pages
    # ddgs brings a client that does not use Python's sockets; a closed port is all it may reach.
    monkeypatch.setenv("DDGS_PROXY", "http://127.0.0.1:9")

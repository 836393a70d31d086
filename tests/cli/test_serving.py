"""`fathom serve`: on this machine only unless told, and then loudly."""

import socket
from typing import Any

import pytest
import uvicorn
from standins.commandline import Fathom


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[uvicorn.Config]:
    """What would be listened to; nothing is."""
    seen: list[uvicorn.Config] = []

    def run(self: uvicorn.Server, **_: Any) -> None:
        seen.append(self.config)

    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr("fathom.cli.admin._listen", lambda *_: None)
    return seen


def test_a_port_that_somebody_has_is_refused_before_anything_is_promised(fathom: Fathom) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        told = fathom("serve", "--port", str(other.getsockname()[1]))
    assert told.is_refusal
    assert "Fathom is at" not in told.err


def test_it_listens_on_this_machine_and_says_where(fathom: Fathom, served: list[uvicorn.Config]) -> None:
    told = fathom("serve")
    assert told.code == 0
    assert "http://127.0.0.1:8321/" in told.err
    assert "WARNING" not in told.err
    assert (served[0].host, served[0].port) == ("127.0.0.1", 8321)


def test_servers_and_workers_limit_the_memory_of_their_threads(
    fathom: Fathom, served: list[uvicorn.Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    limited: list[str] = []
    monkeypatch.setattr("fathom.cli.admin.limit_memory_arenas", lambda: limited.append("once"))
    fathom("serve")
    assert (len(served), len(limited)) == (1, 1)
    assert fathom("worker").code == 2  # there is no queue in a file
    assert len(limited) == 2


def test_another_address_is_told_loudly(
    fathom: Fathom, served: list[uvicorn.Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = fathom("serve", "--host", "0.0.0.0", "--port", "9000")
    assert "WARNING: 0.0.0.0:9000 can be reached from other machines." in told.err
    assert "EVERYBODY who reaches it, without a key," in told.err
    monkeypatch.setenv("FATHOM_API_KEYS", '["a key"]')
    assert "whoever has the key can spend your budget" in fathom("serve", "--host", "fathom.local").err
    assert len(served) == 2


@pytest.mark.parametrize("port", ["0", "70000", "-1"])
def test_a_port_that_is_none_is_refused(fathom: Fathom, served: list[uvicorn.Config], port: str) -> None:
    assert fathom("serve", "--port", port).is_refusal
    assert served == []

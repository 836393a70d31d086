"""`fathom serve` with many who listen to one run, and on a database that is none; over real HTTP."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from standins.browser import PageServer
from standins.commandline import spawned
from standins.documents import QUESTION
from standins.server import closed_port
from web.conftest import Gate

pytestmark = pytest.mark.whole
LISTENERS = 50
_PATIENCE_S = 60


def listen(url: str, run: str, is_there: threading.Barrier) -> list[str]:
    """The ids of all events of a run, from a stream that ends with it."""
    with urlopen(f"{url}api/runs/{run}/events", timeout=_PATIENCE_S) as answer:
        is_there.wait(_PATIENCE_S)
        lines = answer.read().decode("utf-8").splitlines()
    return [line.removeprefix("id: ") for line in lines if line.startswith("id: ")]


def test_fifty_listeners_hear_the_whole_of_one_run(server: PageServer, shelf: Path, gate: Gate) -> None:
    body = json.dumps({"query": QUESTION, "config": {"docs": [str(shelf)], "rounds": 1}}).encode()
    asked = Request(f"{server.url}api/runs", body, {"content-type": "application/json"})
    with urlopen(asked, timeout=_PATIENCE_S) as answer:
        run = json.load(answer)["id"]
    assert gate.reached.wait(_PATIENCE_S)
    is_there = threading.Barrier(LISTENERS + 1)
    with ThreadPoolExecutor(LISTENERS) as pool:
        hearing = [pool.submit(listen, server.url, run, is_there) for _ in range(LISTENERS)]
        is_there.wait(_PATIENCE_S)  # all of them listen, and the run still works
        gate.opened.set()
        heard = [one.result(_PATIENCE_S) for one in hearing]
    assert heard == [heard[0]] * LISTENERS
    assert heard[0] == [str(number + 1) for number in range(len(heard[0]))]
    assert len(heard[0]) > 10


def test_a_database_that_is_none_is_told_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "fathom.sqlite").write_bytes(b"no database " * 1_000)
    told = spawned(["serve", "--port", str(closed_port())], tmp_path, {"FATHOM_HOME": str(tmp_path)})
    assert told.code == 2
    assert told.err.count("\n") == 1
    assert "fathom rescue" in told.err

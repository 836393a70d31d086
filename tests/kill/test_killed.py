"""Killed in the middle of its work, a run goes on where it was: nothing is paid for, fetched or searched twice."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from standins.commandline import FATHOM, PATIENCE_S, spawned
from standins.library import TIDES
from standins.model import Model, ModelRequest, asked_again
from standins.replies import Reply
from standins.researcher import form_of
from standins.scripted import never_satisfied, scripted
from standins.tavily import KEY, TavilyServer, result
from standins.web import Web, html

from fathom import DeepResearcher, ResearchRequest
from fathom.settings import load_settings

pytestmark = pytest.mark.kill

QUESTION = "How much does tidal power cost?"
ANSWER = scripted(judge=never_satisfied)


class Gate:
    """A model that works until the moment comes, and from then on keeps callers of that form waiting."""

    def __init__(self, form: str, first: int) -> None:
        self.form = form
        self.first = first
        self.is_open = False
        self.reached = threading.Event()
        self._count = 0
        self._lock = threading.Lock()

    def __call__(self, request: ModelRequest) -> Reply:
        if self.is_open or form_of(request) != self.form:
            return ANSWER(request)
        with self._lock:
            self._count += 1
            if self._count < self.first:
                return ANSWER(request)
        self.reached.set()
        return Reply.hang()


class Site:
    """The web of the tests: an engine, four pages, and how often each of them was asked."""

    def __init__(self) -> None:
        self.web = Web({f"/{name}": html(_page(text)) for name, text in TIDES.items()}).start()
        found = [result(f"{self.web.url}/{name}", name, text[:80]) for name, text in TIDES.items()]
        self.engine = TavilyServer(found).start()

    @property
    def environment(self) -> dict[str, str]:
        return {
            "TAVILY_API_KEY": KEY,
            "FATHOM_TAVILY_URL": self.engine.url,
            "FATHOM_ALLOW_PRIVATE": "1",
        }

    @property
    def fetches(self) -> Counter[str]:
        return Counter(seen.path for seen in self.web.records if seen.path.endswith(".md"))

    @property
    def searches(self) -> Counter[str]:
        return Counter(seen.json["query"] for seen in self.engine.records)

    def stop(self) -> None:
        self.web.stop()
        self.engine.stop()


def _page(text: str) -> str:
    title, *rest = text.split("\n\n")
    body = "".join(f"<p>{part}</p>" for part in rest)
    return f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{body}</article></body></html>"


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many calls the same run makes when nobody kills it."""
    home, site = tmp_path_factory.mktemp("undisturbed"), Site()
    with Model(ANSWER) as model:
        settings = load_settings(
            home=home,
            base_url=model.base_url,
            tavily_api_key=KEY,
            tavily_url=site.engine.url,
            allow_private=True,
        )
        request = ResearchRequest(
            query=QUESTION, model="stand-in", base_url=model.base_url, max_rounds=2, threshold=1.0
        )
        asyncio.run(DeepResearcher(settings).research(request))
    site.stop()
    return len(model.calls)


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.stop()


def until(holds: Callable[[], bool]) -> None:
    """Come back as soon as it holds."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it never came to this"
        time.sleep(0.01)


def remembered(home: Path) -> int:
    """How many answers the process has kept."""
    try:
        with sqlite3.connect(f"file:{home / 'fathom.sqlite'}?mode=ro", uri=True) as connection:
            count: int = connection.execute("select count(*) from calls").fetchone()[0]
        connection.close()
    except sqlite3.OperationalError:  # not there yet
        return 0
    return count


def started(model: Model, site: Site, home: Path) -> "subprocess.Popen[str]":
    words = [QUESTION, "--model", "stand-in", "--base-url", model.base_url, "--rounds", "2", "--out", "out"]
    return subprocess.Popen(
        [*FATHOM, *words],
        cwd=home,
        env={**os.environ, **site.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stopped(process: "subprocess.Popen[str]", number: int) -> tuple[int, str]:
    """Send the signal to this process only; its exit code and its last words."""
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    return process.returncode, err


def is_settled(gate: Gate, model: Model, home: Path) -> bool:
    """The moment is there, and every answer that was given has been kept."""
    return gate.reached.is_set() and remembered(home) == len(model.answered)


@pytest.mark.parametrize(
    ("form", "first"),
    [("plan", 1), ("read", 3), ("verify", 2), ("judge", 1), ("judge", 2), ("write", 2), ("check", 1)],
)
def test_a_killed_run_is_finished_without_doing_anything_twice(
    tmp_path: Path, site: Site, undisturbed: int, form: str, first: int
) -> None:
    gate = Gate(form, first)
    with Model(gate) as model:
        process = started(model, site, tmp_path)
        until(lambda: is_settled(gate, model, tmp_path))
        code, _ = stopped(process, signal.SIGKILL)
        assert code == -signal.SIGKILL
        gate.is_open = True
        told = spawned(["resume", "--out", "out"], tmp_path, site.environment)
        assert told.code == 0, told.err
        assert asked_again(model.calls) == []
        assert len([seen for seen in model.answered if seen.status == 200]) == undisturbed
    assert "tidal power" in (tmp_path / "out" / "report.md").read_text("utf-8")
    assert set(site.fetches.values()) == {1}
    # A planner that was killed searches once more before it plans; no other search is repeated.
    assert {query for query, count in site.searches.items() if count > 1} <= {QUESTION}
    assert site.searches[QUESTION] == (2 if form == "plan" else 1)


def test_a_run_killed_twice_is_still_finished(tmp_path: Path, site: Site, undisturbed: int) -> None:
    gate = Gate("read", 2)
    with Model(gate) as model:
        process = started(model, site, tmp_path)
        until(lambda: is_settled(gate, model, tmp_path))
        stopped(process, signal.SIGKILL)
        gate.reached.clear()
        again = subprocess.Popen(
            [*FATHOM, "resume", "--out", "out"],
            cwd=tmp_path,
            env={**os.environ, **site.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until(lambda: is_settled(gate, model, tmp_path))
        stopped(again, signal.SIGKILL)
        gate.is_open = True
        told = spawned(["resume", "--out", "out"], tmp_path, site.environment)
        assert told.code == 0, told.err
        assert asked_again(model.calls) == []
        assert len(model.answered) == undisturbed
    assert set(site.fetches.values()) == {1}


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, site: Site, undisturbed: int) -> None:
    gate = Gate("read", 3)
    with Model(gate) as model:
        process = started(model, site, tmp_path)
        until(lambda: is_settled(gate, model, tmp_path))
        code, err = stopped(process, signal.SIGINT)
        assert code == 130
        assert err.splitlines()[-1] == "fathom: interrupted; go on with: fathom resume"
        assert "Traceback" not in err
        gate.is_open = True
        told = spawned(["resume", "--out", "out"], tmp_path, site.environment)
        assert told.code == 0, told.err
        assert asked_again(model.calls) == []
        assert len(model.answered) == undisturbed
    assert set(site.fetches.values()) == {1}

"""Killed in the middle of its work, a run goes on where it was, and nothing is paid for or fetched twice."""

import asyncio
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from standins.commandline import spawned
from standins.killable_run import QUESTION, WORKING, Gate, Site, begun, kept_waiting, stopped
from standins.model import Model
from standins.random_kills import kill_at_random
from standins.server import Seen, asked_again
from standins.tavily import KEY

from fathom import DeepResearcher, ResearchRequest
from fathom.cli import main
from fathom.settings import load_settings

pytestmark = pytest.mark.kill

RESUME = ["resume", "--out", "out"]


def paid(model: Model) -> list[Seen]:
    """The answers a provider takes money for; what it says of its models, every process asks again."""
    return [seen for seen in model.calls if seen.answered is not None]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many calls the same run makes when nobody kills it."""
    site = Site()
    with Model(WORKING) as model:
        settings = load_settings(
            home=tmp_path_factory.mktemp("undisturbed"),
            base_url=model.base_url,
            tavily_api_key=KEY,
            tavily_url=site.engine.url,
            allow_private=True,
        )
        asyncio.run(DeepResearcher(settings).research(ResearchRequest(query=QUESTION, max_rounds=2)))
    site.stop()
    return len(paid(model))


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    """A web that this process knows too, so that it can go on where the killed one stopped."""
    made = Site()
    for name, word in made.environment.items():
        monkeypatch.setenv(name, word)
    monkeypatch.chdir(tmp_path)
    yield made
    made.stop()


def asking(model: Model) -> list[str]:
    return [QUESTION, "--model", "stand-in", "--base-url", model.base_url, "--rounds", "2", "--out", "out"]


@pytest.mark.parametrize(
    ("form", "first"),
    [("plan", 1), ("read", 3), ("verify", 1), ("write", 1), ("rewrite", 1), ("check", 1), ("edit", 1)],
)
def test_a_killed_run_is_finished_without_doing_anything_twice(
    tmp_path: Path, site: Site, undisturbed: int, form: str, first: int
) -> None:
    gate = Gate(form, first)
    with Model(gate) as model:
        process = begun(asking(model), site, tmp_path)
        kept_waiting(gate, model, site, tmp_path)
        assert stopped(process, signal.SIGKILL)[0] == -signal.SIGKILL
        assert not (tmp_path / "out" / "report.md").exists()
        gate.is_open = True
        assert main(RESUME) == 0
        assert asked_again(model.calls) == []
        assert len(paid(model)) == undisturbed
    assert "tidal power" in (tmp_path / "out" / "report.md").read_text("utf-8")
    assert set(site.fetches.values()) == {1}
    # Searches are remembered too, also that of a planner that was killed before it had planned.
    repeated = {query for query, count in site.searches.items() if count > 1}
    assert repeated == set()


def test_a_run_killed_twice_is_finished_by_a_third_process(
    tmp_path: Path, site: Site, undisturbed: int
) -> None:
    gate = Gate("verify", 1)
    with Model(gate) as model:
        process = begun(asking(model), site, tmp_path)
        kept_waiting(gate, model, site, tmp_path)
        stopped(process, signal.SIGKILL)
        gate.wait_for("judge", 1)
        process = begun(RESUME, site, tmp_path)
        kept_waiting(gate, model, site, tmp_path)
        stopped(process, signal.SIGKILL)
        gate.is_open = True
        assert main(RESUME) == 0
        assert asked_again(model.calls) == []
        assert len(paid(model)) == undisturbed
    assert set(site.fetches.values()) == {1}
    assert set(site.searches.values()) == {1}


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, site: Site, undisturbed: int) -> None:
    gate = Gate("read", 3)
    with Model(gate) as model:
        process = begun(asking(model), site, tmp_path)
        kept_waiting(gate, model, site, tmp_path)
        process.send_signal(signal.SIGINT)  # the step in hand is waited for; this one never ends
        assert process.stderr is not None
        assert any("Finishing the step in hand" in line for line in process.stderr)
        code, err = stopped(process, signal.SIGINT)
        assert code == 130
        assert re.fullmatch(
            r"fathom: interrupted; go on with: fathom resume [0-9a-f]{8}", err.splitlines()[-1]
        )
        assert "Traceback" not in err
        gate.is_open = True
        assert main(RESUME) == 0
        assert asked_again(model.calls) == []
        assert len(paid(model)) == undisturbed
    assert set(site.fetches.values()) == {1}


def test_a_killed_follow_up_is_finished_from_the_evidence_at_hand(tmp_path: Path, site: Site) -> None:
    gate = Gate("none", 1)
    follow_up = ["Which turbines does tidal power have?", "--rounds", "1", "--out", "new"]
    with Model(gate) as model:
        assert spawned([*asking(model), "--rounds", "1"], tmp_path, site.environment).code == 0
        fetched = sum(site.fetches.values())
        gate.wait_for("read", 2)
        earlier = next((tmp_path / "locks").iterdir()).stem
        process = begun(["ask", earlier, *follow_up], site, tmp_path)
        kept_waiting(gate, model, site, tmp_path)
        assert stopped(process, signal.SIGKILL)[0] == -signal.SIGKILL
        gate.is_open = True
        assert main(["resume", "--out", "new"]) == 0
        assert asked_again(model.calls) == []
    assert main(["verify", "new/report.json"]) == 0
    assert sum(site.fetches.values()) == fetched
    assert "tidal power" in (tmp_path / "new" / "report.md").read_text("utf-8")


def test_no_answered_call_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FATHOM_HOME", "FATHOM_MODEL", "FATHOM_BASE_URL"):
        monkeypatch.setenv(name, "")  # so that they are put back
    figures = kill_at_random(4, seed=7)
    assert figures.kills == 4
    assert figures.failures == []
    assert (figures.model_calls_again, figures.searches_again) == (0, 0)

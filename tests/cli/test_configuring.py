"""`fathom config`: each value, and where it came from; nothing that is secret."""

import json
from pathlib import Path
from typing import Any

import pytest
from standins.commandline import Fathom

KEY = "very-secret-1234"


@pytest.fixture(autouse=True)
def usual_local_servers(clean_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings are only shown here; no server is asked."""
    monkeypatch.delenv("FATHOM_LOCAL_SERVERS")


def shown(fathom: Fathom, *words: str) -> dict[str, dict[str, Any]]:
    """The settings as `--json` tells them, by name."""
    told = fathom("config", "--json", *words)
    assert told.code == 0, told.err
    return {line["name"]: line for line in json.loads(told.out)}


def test_every_value_is_shown_with_the_place_it_came_from(
    fathom: Fathom, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "fathom.toml").write_text('model = "m"\n[run]\nbudget_usd = 0.5\nthreshold = 0.6\n')
    (work / ".env").write_text("FATHOM_SMALL_MODEL=s\nFATHOM_THRESHOLD=0.7\n")
    monkeypatch.setenv("FATHOM_SOURCES", "4")
    monkeypatch.setenv("FATHOM_PARALLEL_CALLS", "")
    told = shown(fathom, "--rounds", "3", "--base-url", "http://127.0.0.1:1/v1")
    origins = {name: (line["value"], line["origin"]) for name, line in told.items()}
    assert origins["model"] == ("m", str(work / "fathom.toml"))
    assert origins["run.budget_usd"] == (0.5, str(work / "fathom.toml"))
    assert origins["run.threshold"] == (0.7, ".env: FATHOM_THRESHOLD")
    assert origins["small_model"] == ("s", ".env: FATHOM_SMALL_MODEL")
    assert origins["run.sources"] == (4, "FATHOM_SOURCES")
    assert origins["parallel_calls"] == (50, "FATHOM_PARALLEL_CALLS (empty)")
    assert origins["run.rounds"] == (3, "command line")
    assert origins["base_url"] == ("http://127.0.0.1:1/v1", "command line")
    assert origins["call_retries"] == (3, "default")
    assert all(line["description"] for line in told.values())


def test_what_the_mission_names_can_be_set(fathom: Fathom, work: Path) -> None:
    """Default provider, checkpoint path, rounds, sources, budget, threshold, parallel work, two models."""
    (work / "fathom.toml").write_text(
        'home = "kept"\nsmall_model = "s"\nmodel = "m"\nparallel_searches = 1\nparallel_extractions = 2\n'
        '[run]\nengines = ["arxiv"]\nrounds = 1\nsources = 2\nbudget_usd = 3.0\nthreshold = 0.4\n'
    )
    assert list(shown(fathom, "--changed")) == [
        "home", "model", "small_model", "parallel_searches", "parallel_extractions", "run.engines",
        "run.rounds", "run.sources", "run.threshold", "run.budget_usd",
    ]  # fmt: skip


def test_defaults_are_those_of_the_mission(fathom: Fathom) -> None:
    told = shown(fathom)
    assert {line["origin"] for line in told.values()} == {"default", "FATHOM_HOME"}
    expected = {
        "run.budget_usd": 1.0,
        "run.threshold": 0.8,
        "parallel_searches": 5,
        "parallel_extractions": 10,
    }
    assert {name: told[name]["value"] for name in expected} == expected


def test_no_secret_is_shown(fathom: Fathom, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (work / ".env").write_text(f"TAVILY_API_KEY={KEY}\n")
    monkeypatch.setenv("SEARXNG_URL", f"https://me:{KEY}@search.example/?token={KEY}")
    monkeypatch.setenv("FATHOM_ENGINE_URLS", json.dumps({"crossref": f"https://{KEY}@a.example/x?k={KEY}"}))
    for words in (["config"], ["config", "--json"], ["config", "--changed"]):
        told = fathom(*words)
        assert told.code == 0
        assert KEY not in told.out + told.err
    assert shown(fathom)["openai_api_key"]["value"] == "********"
    assert shown(fathom)["tavily_api_key"]["origin"] == ".env: TAVILY_API_KEY"


def test_the_table_says_which_files_were_read(fathom: Fathom, work: Path) -> None:
    assert fathom("config").out.startswith(f"In {work}: no fathom.toml and no .env\n")
    (work / "fathom.toml").write_text('model = "m"\n')
    told = fathom("config", "--changed")
    assert told.out.startswith(f"In {work}: fathom.toml\n")
    assert told.out.splitlines()[-1].split() == ["model", "m", "fathom.toml"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("smal_model = 1", "did you mean small_model?"),
        ('exa_api_key = "x"', "keys are read from the environment or .env only."),
    ],
)
def test_a_bad_file_is_one_sentence(fathom: Fathom, work: Path, text: str, sentence: str) -> None:
    (work / "fathom.toml").write_text(text)
    told = fathom("config")
    assert told.is_refusal, told
    assert sentence in told.err


def test_a_run_follows_the_file_and_the_command_line_beats_it(
    fathom: Fathom, work: Path, shelf: Path
) -> None:
    (work / "fathom.toml").write_text(
        f'[run]\ndocs = ["{shelf}"]\nrounds = 1\nsources = 1\nthreshold = 0.3\n'
    )
    words = ["How do tidal barrages compare with offshore wind?", "--format", "json", "--quiet"]
    usual = json.loads(fathom(*words).out)
    assert (usual["settings"]["sources"], usual["settings"]["threshold"], len(usual["sources"])) == (
        1,
        0.3,
        1,
    )
    spoken = json.loads(fathom(*words, "--sources", "2").out)
    assert (spoken["settings"]["sources"], spoken["settings"]["rounds"], len(spoken["sources"])) == (2, 1, 2)

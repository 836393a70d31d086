"""`--dry-run` says what a question would cost, asks nobody, and leaves no run behind."""

import json
from pathlib import Path

import pytest
from standins.commandline import Fathom
from standins.model import Model
from standins.working_model import researcher

PRICED = "[models.stand-in]\ninput = 5\noutput = 15\n"


def test_the_cost_is_told_and_nobody_is_asked(fathom: Fathom, shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "prices.toml").write_text(PRICED)
    with Model(researcher) as model:
        words = ["--docs", str(shelf), "--model", "stand-in", "--base-url", model.base_url]
        told = fathom("What is it?", *words, "--dry-run", "--budget", "0.5")
        given = fathom("What is it?", *words, "--dry-run", "--format", "json")
        line = fathom("What is it?", *words, "--dry-run", "--json").out
        assert model.records == []
    assert (told.code, given.code) == (0, 0)
    assert "at most 0.5 USD" in told.out
    assert "no earlier runs with a model here" in told.out
    found = json.loads(given.out)
    assert 0 < found["expected_usd"] <= found["worst_usd"] == 1.0
    assert json.loads(line) == found
    assert line.count("\n") == 1
    assert "no run yet" in fathom("resume").err


def test_what_would_be_refused_is_refused(fathom: Fathom, tmp_path: Path) -> None:
    assert fathom("What is it?", "--docs", str(tmp_path / "none"), "--dry-run").is_refusal


def test_a_model_without_a_price_is_told(fathom: Fathom, shelf: Path) -> None:
    words = ["--docs", str(shelf), "--model", "made-up-1", "--base-url", "https://models.example/v1"]
    told = fathom("What is it?", *words, "--dry-run")
    assert "Likely cost   not known" in told.out
    assert "made-up-1: what it costs is not counted, and the budget does not hold it back" in told.out


def test_a_cap_that_cannot_be_kept_is_refused_and_the_usual_one_is_told_about(
    fathom: Fathom, shelf: Path, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    foreign = ["--model", "made-up-1", "--base-url", "http://models.invalid/v1"]
    words = ["--docs", str(shelf), *foreign]
    refused = fathom("What is it?", *words, "--budget", "0.5")
    assert refused.is_refusal
    assert "The budget of 0.5 USD cannot be kept, because no price is known for made-up-1" in refused.err
    (work / "q.txt").write_text("What is it?\n", "utf-8")
    assert fathom("batch", "q.txt", *words, "--budget-total", "2").is_refusal
    assert "no run yet" in fathom("resume").err
    monkeypatch.setenv("FATHOM_CALL_RETRIES", "0")
    told = fathom("What is it?", *words)
    assert "no price is known for made-up-1 at http://models.invalid/v1, so what it costs" in told.err
    assert not told.is_refusal


def test_the_doctor_says_what_models_cost(fathom: Fathom, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "prices.toml").write_text(PRICED)
    assert "no model to pay" in fathom("doctor").out


def test_a_batch_and_a_follow_up_are_told_too_and_nobody_is_asked(
    fathom: Fathom, shelf: Path, work: Path
) -> None:
    (work / "q.txt").write_text("What is it?\nWhat limits it?\n", "utf-8")
    docs = ["--docs", str(shelf)]
    told = fathom("batch", "q.txt", *docs, "--dry-run")
    assert told.code == 0
    assert "2 questions still to be asked, 4 at once" in told.out
    assert json.loads(fathom("batch", "q.txt", *docs, "--dry-run", "--json").out)["expected_s"] > 0
    assert "no run yet" in fathom("resume").err
    assert not (work / "runs").exists()
    fathom("What limits a tidal barrage?", *docs, "--quiet")
    before = fathom("runs").out
    name = before.splitlines()[1].split()[0]
    assert "Likely cost" in fathom("ask", name, "And what does it cost?", "--dry-run").out
    assert len(fathom("runs").out.splitlines()) == len(before.splitlines())


def test_a_batch_that_is_done_costs_nothing_more(fathom: Fathom, shelf: Path, work: Path) -> None:
    (work / "q.txt").write_text("What limits a tidal barrage?\n", "utf-8")
    words = ["batch", "q.txt", "--docs", str(shelf), "--rounds", "1"]
    assert fathom(*words, "--quiet").code == 0
    assert "0 questions still to be asked" in fathom(*words, "--dry-run").out

"""Whole evaluations with a judge by script: the table is what one adds up by hand."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from standins.judge_model import judging
from standins.model import Model

from fathom import BadInput, DeepResearcher, EvalRequest, EvalResult, RunConfig, Settings
from fathom.cli import main
from fathom.evaluation import render_evaluation
from fathom.settings import load_settings

pytestmark = pytest.mark.whole

PAGE = "# The tower\n\nThe tower at Merrow is 48 metres high. The county built it in 1901.\n"
GOOD = "# Good\n\nThe tower at Merrow is 48 metres high [1].\n\n## Sources\n\n[1] tower.md\n"
POOR = "# Poor\n\nThe tower at Merrow is 12 metres high [1]. It is green [1].\n\n## Sources\n\n[1] tower.md\n"
SCORES = {"# Reference": [5.0] * 5, "# Good": [8.0, 6.0, 7.0, 9.0, 4.0], "# Poor": [2.0] * 5}
GOOD_OVERALL = 0.4 * (0.6 * 8 + 0.4 * 6) + 0.3 * 7 + 0.2 * 9 + 0.1 * 4


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Two tasks with pages and a reference, and two other tools' reports on them."""
    for name in ("tower", "mast"):
        folder = tmp_path / "tasks" / name
        (folder / "pages").mkdir(parents=True)
        (folder / "question.txt").write_text(f"How high is the {name} at Merrow?", "utf-8")
        (folder / "pages" / "tower.md").write_text(PAGE, "utf-8")
        (folder / "reference.md").write_text("# Reference\n\nIt is 48 metres high.", "utf-8")
        for tool, text in (("good", GOOD), ("poor", POOR)):
            (tmp_path / tool).mkdir(exist_ok=True)
            (tmp_path / tool / f"{name}.md").write_text(text, "utf-8")
    return tmp_path / "tasks"


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(judging(SCORES, [6.0] * 5)) as served:
        yield served


def settings(tmp_path: Path, model: Model) -> Settings:
    return load_settings(home=tmp_path / "home", base_url=model.base_url, model="stand-in", call_retries=0)


def request(tasks: Path, **words: object) -> EvalRequest:
    given = {
        "tasks": str(tasks),
        "out": str(tasks.parent / "out"),
        "run_config": RunConfig(rounds=1),
        **words,
    }
    return EvalRequest.model_validate(given)


def others(tasks: Path) -> dict[str, str]:
    return {"good": str(tasks.parent / "good"), "poor": str(tasks.parent / "poor")}


def test_reports_of_other_tools_are_scored_and_audited(tasks: Path, tmp_path: Path, model: Model) -> None:
    asked = request(tasks, others=others(tasks), is_judge_only=True)
    result = DeepResearcher(settings(tmp_path, model)).evaluate_sync(asked)
    good, poor = result.summaries
    assert good.overall is not None and good.overall.mean == pytest.approx(GOOD_OVERALL)
    assert good.relative is not None and good.relative.mean == pytest.approx(
        GOOD_OVERALL / (GOOD_OVERALL + 5)
    )
    assert poor.relative is not None and poor.relative.mean == pytest.approx(2 / 7)
    assert good.citation_accuracy is not None and good.citation_accuracy.mean == 1.0
    assert poor.citation_accuracy is not None and poor.citation_accuracy.mean == 0.0
    assert good.effective_citations is not None and good.effective_citations.mean == 1.0
    assert good.relative.low == pytest.approx(good.relative.mean)  # both tasks score alike
    assert not result.failures, result.failures
    pages = [Path(one.audit).read_text("utf-8") for one in result.reports]
    assert sum("12 metres" in page for page in pages) == 2  # every verdict can be read
    table = render_evaluation(result)
    assert all(one.audit in table for one in result.reports) and result.reports[0].audited_by in table


def test_own_reports_are_written_repeated_and_compared(tasks: Path, tmp_path: Path, model: Model) -> None:
    asked = request(tasks, others=others(tasks), repeats=2)
    result = DeepResearcher(settings(tmp_path, model)).evaluate_sync(asked)
    own, good, poor = result.summaries
    assert own.tool == "fathom" and own.relative is not None
    assert own.relative.mean == pytest.approx(6 / 11) and own.relative.count == 4
    assert (good.wins, good.ties, good.losses) == (0, 0, 4)
    assert (poor.wins, poor.ties, poor.losses) == (4, 0, 0)
    assert (tmp_path / "out" / "tower" / "report-2.md").is_file()
    calls = len(model.calls)
    again = DeepResearcher(settings(tmp_path, model)).evaluate_sync(asked)
    assert len(model.calls) == calls and again.summaries[1:] == result.summaries[1:]


def test_reports_given_as_ours_are_compared_and_the_reference_is_not_scored_against_itself(
    tasks: Path, tmp_path: Path, model: Model
) -> None:
    (tmp_path / "reference").mkdir()
    for name in ("mast", "tower"):
        (tmp_path / "reference" / f"{name}.md").write_bytes((tasks / name / "reference.md").read_bytes())
    others = {"fathom": str(tmp_path / "good"), "reference": str(tmp_path / "reference")}
    asked = request(tasks, others=others, is_judge_only=True)
    researcher = DeepResearcher(settings(tmp_path, model))
    result = researcher.evaluate_sync(asked)
    own, reference = result.summaries
    assert own.tool == "fathom" and len(result.pairs) == 2
    assert reference.relative is not None and reference.relative.mean == 0.5
    assert reference.overall is not None and reference.overall.mean == pytest.approx(5.0)


def test_a_judge_that_prefers_a_place_sees_ties(tasks: Path, tmp_path: Path) -> None:
    """Both reports score alike, so the script says `second` whatever stands there."""
    with Model(judging({}, [5.0] * 5)) as model:
        asked = request(tasks, others={"good": str(tasks.parent / "good")})
        result = DeepResearcher(settings(tmp_path, model)).evaluate_sync(asked)
    assert [pair.preferred for pair in result.pairs] == ["tie", "tie"]


def test_the_cost_is_told_before_anything_is_asked(tasks: Path, tmp_path: Path, model: Model) -> None:
    asked = request(tasks, others=others(tasks), repeats=3)
    found = DeepResearcher(settings(tmp_path, model)).forecast_evaluation_sync(asked)
    assert not model.calls
    judging_calls = 2 + 2 * (3 + 2) + 2 * 2 * 3 * 2
    assert f"6 reports to write, {judging_calls} calls of the judge" in found.because


def test_the_command_prints_the_table_and_earlier_runs(
    tasks: Path,
    tmp_path: Path,
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FATHOM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
    own = ["--report", f"good={tmp_path / 'good'}", "--judge-only", "--model", "stand-in"]
    assert main(["eval", str(tasks), *own, "--out", "first"]) == 0
    printed = capsys.readouterr()
    assert "Model calls" in printed.err and "| good | 2 |" in printed.out
    kept = EvalResult.model_validate(json.loads((tmp_path / "first" / "eval.json").read_text("utf-8")))
    assert kept.tasks == ["mast", "tower"]
    assert main(["eval", str(tasks), *own, "--out", "second", "--against", "first/eval.json"]) == 0
    assert main(["eval", str(tasks), *own, "--against", "nowhere.json"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["eval", "nowhere", "--model", "stand-in"], "no tasks at"),
        (["eval", ".", "--model", "stand-in"], "question.txt"),
        (["eval", ".", "--report", "x=nowhere"], "NAME=PLACE"),
    ],
)
def test_bad_input_is_one_sentence(
    tmp_path: Path,
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_without_a_judge_there_is_no_evaluation(tasks: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="needs a judge"):
        asyncio.run(DeepResearcher(load_settings(home=tmp_path)).evaluate(request(tasks)))

"""A model with a small window completes a run: known, refused or cut off in silence."""

from pathlib import Path

import pytest
from standins.commandline import spawned
from standins.documents import written
from standins.localmodel import missing
from standins.prose import page
from standins.small_window_model import Narrow

from fathom import DeepResearcher, ResearchRequest, ResearchResult
from fathom.settings import load_settings

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "everything is installed")

QUESTION = "What does the tidal turbine deliver to the harbour?"
KOREAN = (
    "조력 발전소는 밀물 때 바닷물을 가두었다가 썰물 때 내보내며 전기를 만든다. 댐 안쪽에 흙이 쌓인다.\n\n"
)


async def researched(tmp_path: Path, model: Narrow, **run_config: int) -> ResearchResult:
    documents = {f"page{n}.md": page(n, 30_000) for n in range(4)}
    docs = written(
        tmp_path / "docs", {**documents, "korean.md": f"# Tidal turbine harbour\n\n{KOREAN * 200}"}
    )
    settings = load_settings(home=tmp_path, base_url=model.base_url)
    asked = {"query": QUESTION, "docs": [docs], "model": "narrow", "max_rounds": 1, **run_config}
    request = ResearchRequest.model_validate(asked)
    return await DeepResearcher(settings).research(request)


def told(result: ResearchResult) -> list[str]:
    return [failure.why for failure in result.errors if failure.where == "context"]


async def test_a_window_that_the_server_names_is_never_overrun(tmp_path: Path) -> None:
    with Narrow(4_096, is_telling=True) as model:
        result = await researched(tmp_path, model)
    assert model.overflows == []
    assert model.most > 2_500  # the window is used, too
    assert result.status == "complete"
    assert result.citations
    assert set(told(result)) == {"The window of narrow holds 4,096 tokens."}
    assert "tokens" not in result.report
    assert "without the model" not in result.report


async def test_a_window_that_nobody_named_is_learnt_from_one_refusal(tmp_path: Path) -> None:
    with Narrow(4_096, is_telling=False) as model:
        result = await researched(tmp_path, model)
    assert 1 <= len(model.overflows) <= 12  # those that were on their way at once
    assert result.status == "complete"
    assert result.citations
    assert set(told(result)) == {"The window of narrow holds 4,096 tokens."}


async def test_a_server_that_cuts_prompts_off_in_silence_is_found_out(tmp_path: Path) -> None:
    with Narrow(2_048, is_telling=False, is_silent=True) as model:
        result = await researched(tmp_path, model)
    assert 1 <= len(model.overflows) <= 12
    assert result.citations
    (silent,) = {why.split(" took in ")[0] for why in told(result) if "without a word" in why}
    assert silent == "The server of narrow"
    assert any("raise its window, or name its size with --context" in why for why in told(result))


async def test_a_knob_beats_what_the_server_says(tmp_path: Path) -> None:
    with Narrow(8_192, is_telling=True) as model:
        result = await researched(tmp_path, model, context_tokens=3_000)
    assert model.overflows == []
    assert model.most <= 3_000
    assert set(told(result)) == {"The window of narrow holds 3,000 tokens."}
    assert result.citations


async def test_a_window_too_small_for_the_instructions_ends_in_quotes_and_says_so(tmp_path: Path) -> None:
    with Narrow(1_024, is_telling=True) as model:
        result = await researched(tmp_path, model)
    assert model.overflows == []
    assert result.citations
    assert result.status == "partial"
    assert any("is too small" in failure.why for failure in result.errors if failure.where == "model")
    assert result.metadata.strategies.keys() >= {"stand-in"}


def test_a_process_learns_a_window_that_nobody_tells_with_one_refused_call(tmp_path: Path) -> None:
    docs = written(tmp_path / "docs", {"page.md": page(0, 30_000)})
    words = [QUESTION, "--docs", str(docs), "--model", "narrow", "--rounds", "1", "--no-reuse", "--plain"]
    with Narrow(4_096, is_telling=False) as model:
        environment = {"FATHOM_HOME": str(tmp_path / "home"), "FATHOM_BASE_URL": model.base_url}
        run = spawned(words, tmp_path, environment)
    assert run.code == 0
    assert len(model.overflows) == 1
    (statistics,) = tmp_path.rglob("statistics.md")
    assert "holds 4,096 tokens." in statistics.read_text("utf-8")

"""With no model configured, models on this machine are offered once, and never used unasked."""

import json
from pathlib import Path

import pytest
from standins.commandline import Terminal, spawned
from standins.documents import QUESTION, stocked
from standins.local_servers import LocalServer, lm_studio, vllm

from fathom.llm.servers import CHOICE_FILE

pytestmark = pytest.mark.whole


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    return [QUESTION, "--docs", str(stocked(tmp_path / "shelf")), "--rounds", "1"]


def offer(monkeypatch: pytest.MonkeyPatch, **servers: LocalServer) -> None:
    urls = {name: server.url for name, server in servers.items()}
    monkeypatch.setenv("FATHOM_LOCAL_SERVERS", json.dumps(urls))


def test_at_a_terminal_one_question_is_asked_and_its_answer_remembered(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lm_studio() as studio, vllm() as other:
        offer(monkeypatch, lmstudio=studio, vllm=other)
        terminal = Terminal([*words, "--plain"], tmp_path)
        terminal.says("1  qwen2.5-7b-instruct  (LM Studio)")
        terminal.says("2  Qwen/Qwen3-8B  (vLLM)")
        terminal.says("Use which one")
        assert not studio.calls
        terminal.types("7")
        terminal.says("a number from 0 to 2")
        terminal.types("1")
        terminal.says("Remembered.")
        terminal.ends()
        asked = len(studio.calls)
        assert asked
        assert studio.requests[0].model == "qwen2.5-7b-instruct"
        assert not other.calls
        again = spawned([*words, "--no-reuse"], tmp_path)  # with nobody at the keyboard
        assert len(studio.calls) > asked
        assert "on this machine" not in again.err


def test_none_is_an_answer_that_is_remembered_too(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lm_studio() as studio:
        offer(monkeypatch, lmstudio=studio)
        terminal = Terminal([*words, "--plain"], tmp_path)
        terminal.says("Use which one")
        terminal.types("0")
        assert terminal.ends() == 0
        looked = len(studio.records)
        assert "on this machine" not in spawned(words, tmp_path).err
        assert len(studio.records) == looked
        assert not studio.calls


def test_no_answer_is_no_model_and_nothing_is_remembered(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lm_studio() as studio:
        offer(monkeypatch, lmstudio=studio)
        terminal = Terminal([*words, "--plain"], tmp_path)
        terminal.says("Use which one")
        terminal.types("")
        assert terminal.ends() == 0
        assert not studio.calls
    assert not (tmp_path / CHOICE_FILE).exists()


def test_without_a_terminal_one_line_says_how(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lm_studio() as studio:
        offer(monkeypatch, lmstudio=studio)
        told = spawned(words, tmp_path)
        assert told.code == 0
        line = f"to use it: --model qwen2.5-7b-instruct --base-url {studio.base_url}"
        assert [said for said in told.err.splitlines() if line in said]
        assert line not in spawned([*words, "--quiet"], tmp_path).err
        assert not studio.calls


def test_a_chosen_model_that_is_gone_is_told_and_not_waited_for(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / CHOICE_FILE).write_text('{"model": "gone", "base_url": "http://127.0.0.1:9/v1"}')
    with lm_studio() as studio:
        offer(monkeypatch, lmstudio=studio)
        told = spawned(words, tmp_path)
        assert "The model gone, chosen before, is not there now." in told.err
        assert told.code == 0
        assert not studio.calls


def test_whoever_has_a_model_is_asked_nothing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lm_studio() as studio, vllm() as other:
        offer(monkeypatch, lmstudio=studio)
        spawned([*words, "--model", "Qwen/Qwen3-8B", "--base-url", other.base_url], tmp_path)
        assert other.calls
        assert not studio.records


def test_doctor_lists_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with lm_studio() as studio, vllm() as other:
        offer(monkeypatch, lmstudio=studio, vllm=other)
        out = spawned(["doctor"], tmp_path).out
    assert "qwen2.5-7b-instruct (LM Studio), Qwen/Qwen3-8B (vLLM)" in out
    assert "no server of models" in spawned(["doctor"], tmp_path, {"FATHOM_LOCAL_SERVERS": "{}"}).out

"""The examples do what their first lines say, on documents and with no key."""

import runpy
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable
from standins.documents import QUESTION, stocked

NAMES = (
    "a2a.py",
    "as_a_subgraph.py",
    "as_a_tool.py",
    "ask.py",
    "chat.py",
    "page.py",
    "remote.py",
    "steer.py",
    "supervisor.py",
)
EXAMPLES = Path(__file__).parents[2] / "examples"


class ToolCaller(GenericFakeChatModel):
    """A model of somebody else's agent, which knows its tools by heart."""

    def bind_tools(self, *_: object, **__: object) -> Runnable:  # type: ignore[type-arg]
        return self


def example(name: str) -> dict[str, Any]:
    """What a file of the folder offers, without being run."""
    return runpy.run_path(str(EXAMPLES / name))


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents below the folder that the examples run in."""
    monkeypatch.chdir(tmp_path)
    return stocked(tmp_path / "shelf")


def test_every_example_says_how_it_is_run() -> None:
    found = sorted(path.name for path in EXAMPLES.glob("*.py"))
    assert found == sorted(NAMES)
    for name in found:
        assert f"python examples/{name} " in str(example(name)["__doc__"])


async def test_a_question_is_asked(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await example("ask.py")["main"](QUESTION, [str(shelf)])
    told = capsys.readouterr().out
    assert f"\n# {QUESTION}\n" in told
    assert told.splitlines()[-1].startswith("extracts: ")


async def test_fathom_is_a_node_of_another_graph_and_its_review_interrupts_that(
    shelf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    await example("as_a_subgraph.py")["main"]("a tidal barrage", [str(shelf)])
    planned, memo = capsys.readouterr().out.splitlines()
    assert planned.startswith("planned: What is known about a tidal barrage")
    assert "citations: " in memo
    assert "barrage" in memo


async def test_a_run_is_steered_plan_by_plan(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await example("steer.py")["main"](QUESTION, [str(shelf)])
    told = capsys.readouterr().out
    assert told.startswith("round 1: How do tidal barrages compare with offshore wind")
    assert f" hits for limits of {QUESTION}" in told
    assert f"# {QUESTION}" in told


async def test_fathom_is_one_of_several_agents(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await example("supervisor.py")["main"](QUESTION, [str(shelf)])
    told = capsys.readouterr().out
    assert told.startswith("fathom: ")
    assert f"# {QUESTION}" in told
    assert told.splitlines()[-1].endswith("extracts")


async def test_fathom_is_a_tool_of_an_agent(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asks = {"name": "deep_research", "args": {"question": QUESTION}, "id": "1"}
    model = ToolCaller(messages=iter([AIMessage("", tool_calls=[asks]), AIMessage("Wind, mostly.")]))
    await example("as_a_tool.py")["main"](model, "Wind or tides?", [str(shelf)])
    researched, answer = capsys.readouterr().out.splitlines()
    assert researched.startswith(f"researched: {QUESTION} (extracts, ")
    assert answer == "Wind, mostly."


async def test_without_a_saver_it_is_a_node_too(shelf: Path) -> None:
    from fathom.state import RunConfig

    desk = example("as_a_subgraph.py")["build"]()
    state = await desk.ainvoke({"topic": "a tidal barrage"}, context=RunConfig(docs=[str(shelf)], rounds=1))
    assert set(state) == {"topic", "question", "report", "memo"}
    assert state["report"].citations


@pytest.mark.parametrize("name", NAMES)
def test_an_example_without_a_question_says_how_it_is_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [name])
    with pytest.raises(SystemExit, match=f"python examples/{name} "):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")

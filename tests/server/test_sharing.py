"""The server and the command line work on the same runs: what one began, the other goes on with."""

import json
from pathlib import Path
from typing import Any

import pytest
from httpx import HTTPStatusError
from langgraph_sdk.client import SyncLangGraphClient
from standins.documents import QUESTION

from fathom.cli import main
from fathom.state import ReviewAnswer, short_id

pytestmark = pytest.mark.server
Record = dict[str, Any]


def waiting(client: SyncLangGraphClient, shelf: Path) -> tuple[str, Record]:
    """A run on the server that waits for review, and what it shows."""
    thread_id = client.threads.create()["thread_id"]
    context: Record = {"docs": [str(shelf)], "rounds": 1, "review": "rounds"}
    client.runs.wait(thread_id, "research", input={"question": QUESTION}, context=context)
    state: Any = client.threads.get_state(thread_id)
    assert state["next"] == ["review"]
    return thread_id, state["tasks"][0]["interrupts"][0]


def resumed(client: SyncLangGraphClient, thread_id: str, answer: Record) -> Record:
    """The state at the end of the run that was answered."""
    words: Any = {"command": {"resume": answer}}
    state = client.runs.wait(thread_id, "research", **words)
    assert isinstance(state, dict)
    return state


def test_a_review_shows_the_plan_and_what_may_be_answered(client: SyncLangGraphClient, shelf: Path) -> None:
    _, interrupt = waiting(client, shelf)
    assert interrupt["value"]["question"] == QUESTION
    assert interrupt["value"]["queries"]
    assert interrupt["response_schema"] == ReviewAnswer.model_json_schema()


def test_an_approved_run_goes_on_with_its_own_knobs(client: SyncLangGraphClient, shelf: Path) -> None:
    thread_id, _ = waiting(client, shelf)
    state = resumed(client, thread_id, {"action": "approve"})
    assert state["report"]["status"] == "extracts"
    assert {page["address"].partition(":")[0] for page in state["pages"]} == {"file"}


def test_feedback_shows_another_plan(client: SyncLangGraphClient, shelf: Path) -> None:
    thread_id, _ = waiting(client, shelf)
    resumed(client, thread_id, {"action": "feedback", "text": "silt behind the dam"})
    state: Any = client.threads.get_state(thread_id)
    assert "silt behind the dam" in state["tasks"][0]["interrupts"][0]["value"]["queries"]
    edited = resumed(client, thread_id, {"action": "edit", "queries": ["cost of the dam"]})
    assert "cost of the dam" in [query["text"] for query in edited["asked"]]
    assert edited["report"]["status"] == "extracts"


def test_an_answer_of_another_shape_leaves_the_review_open(client: SyncLangGraphClient, shelf: Path) -> None:
    thread_id, _ = waiting(client, shelf)
    words: Any = {"command": {"resume": {"action": "perhaps"}}, "raise_error": False}
    with pytest.raises(HTTPStatusError) as refusal:
        client.runs.wait(thread_id, "research", **words)
    assert refusal.value.response.status_code == 422
    assert "'approve', 'edit', 'feedback', 'add' or 'finish'" in refusal.value.response.json()["detail"]
    assert resumed(client, thread_id, {"action": "approve"})["report"]["status"] == "extracts"


def test_a_run_of_the_server_is_listed_and_ended_on_the_command_line(
    client: SyncLangGraphClient,
    shelf: Path,
    shared_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    thread_id, _ = waiting(client, shelf)
    assert main(["runs"]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(short_id(thread_id)))
    assert "waiting for review" in line
    assert QUESTION in line
    assert main(["resume", thread_id, "--approve", "--quiet", "--out", str(tmp_path / "out")]) == 0
    assert f"\n# {QUESTION}\n" in capsys.readouterr().out
    seen: Any = client.threads.get_state(thread_id)
    assert seen["next"] == []
    assert seen["values"]["report"]["status"] == "extracts"


def test_a_run_of_the_command_line_is_seen_and_ended_on_the_server(
    client: SyncLangGraphClient,
    shelf: Path,
    shared_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [QUESTION, "--docs", str(shelf), "--rounds", "1", "--review", "--out", str(tmp_path / "out")]
    assert main(words) == 3
    run_id = newest_run(capsys)
    thread_id = client.threads.create(thread_id=run_id, graph_id="research", if_exists="do_nothing")[
        "thread_id"
    ]
    seen: Any = client.threads.get_state(thread_id)
    assert seen["next"] == ["review"]
    assert seen["values"]["question"] == QUESTION
    state = resumed(client, thread_id, {"action": "approve"})
    assert state["report"]["status"] == "extracts"
    assert main(["show", run_id, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"] == state["report"]["markdown"]


def newest_run(capsys: pytest.CaptureFixture[str]) -> str:
    """The full id of the run that was begun last."""
    import asyncio

    from fathom.runs.executor import open_runs
    from fathom.settings import load_settings

    async def found() -> str:
        async with open_runs(load_settings()) as runs:
            return await runs.find(None)

    capsys.readouterr()
    return asyncio.run(found())

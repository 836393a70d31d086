"""A run on the server is steered from another process, through the database that both share."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient
from standins.documents import QUESTION

from fathom.cli import main
from fathom.settings import DATABASE_FILE
from fathom.storage import open_storage

pytestmark = pytest.mark.server
Record = dict[str, Any]


def ordered(home: Path, thread_id: str, word: str, text: str = "") -> None:
    """What `fathom control` does; the server is another process."""
    asyncio.run(open_storage(home / DATABASE_FILE).signals.give(thread_id, word, text))


def worked(client: SyncLangGraphClient, thread_id: str, shelf: Path, **run_config: object) -> Record:
    """The state after a run that nobody reviews."""
    context: Record = {"docs": [str(shelf)], "rounds": 1, **run_config}
    state = client.runs.wait(thread_id, "research", input={"question": QUESTION}, context=context)
    assert isinstance(state, dict)
    return state


def resumed(client: SyncLangGraphClient, thread_id: str, answer: Record) -> Record:
    words: Any = {"command": {"resume": answer}}
    state = client.runs.wait(thread_id, "research", **words)
    assert isinstance(state, dict)
    return state


@pytest.fixture
def thread_id(client: SyncLangGraphClient) -> str:
    return str(client.threads.create()["thread_id"])


@pytest.mark.parametrize("run_config", [{}, {"strategy": "rollouts", "branches": 2}])
def test_a_pause_and_a_query_are_heard_at_the_next_review(
    client: SyncLangGraphClient, home: Path, shelf: Path, thread_id: str, run_config: Record
) -> None:
    ordered(home, thread_id, "add", "silt behind the dam")
    ordered(home, thread_id, "pause")
    worked(client, thread_id, shelf, **run_config)
    state: Any = client.threads.get_state(thread_id)
    assert state["next"] == ["review"]
    shown = state["tasks"][0]["interrupts"][0]["value"]
    assert shown["why"] == "paused"
    assert "silt behind the dam" in shown["queries"]
    ended = resumed(client, thread_id, {"action": "approve"})
    assert ended["report"]["status"] == "extracts"
    asked = [query["text"] for query in ended["asked"]] + [d["text"] for d in ended.get("directions", [])]
    assert "silt behind the dam" in asked


def test_a_stop_is_heard_before_anything_is_searched(
    client: SyncLangGraphClient, home: Path, shelf: Path, thread_id: str
) -> None:
    ordered(home, thread_id, "stop")
    state = worked(client, thread_id, shelf)
    assert state["judgements"][-1]["stop"] == "a person's word"
    assert [query["id"] for query in state["asked"]] == ["scout"]


def test_an_order_on_the_command_line_reaches_the_server(
    client: SyncLangGraphClient, shared_home: Path, shelf: Path, thread_id: str
) -> None:
    worked(client, thread_id, shelf, review="plan")
    assert main(["control", thread_id, "add", "silt behind the dam"]) == 0
    ended = resumed(client, thread_id, {"action": "approve"})
    assert "silt behind the dam" in [query["text"] for query in ended["asked"]]


def test_a_run_goes_another_way_from_an_earlier_checkpoint(
    client: SyncLangGraphClient, shelf: Path, thread_id: str
) -> None:
    """Time travel, as Studio does it: the review is answered once more, and otherwise."""
    worked(client, thread_id, shelf, review="plan")
    at_the_plan: Any = client.threads.get_state(thread_id)
    first = resumed(client, thread_id, {"action": "approve"})
    words: Any = {"command": {"resume": {"action": "edit", "queries": ["cost of the dam"]}}}
    other = client.runs.wait(thread_id, "research", checkpoint=at_the_plan["checkpoint"], **words)
    assert isinstance(other, dict)
    assert [query["text"] for query in other["asked"]][1:] == ["cost of the dam"]
    assert [query["text"] for query in first["asked"]][1:] != ["cost of the dam"]
    assert other["report"]["status"] == "extracts"

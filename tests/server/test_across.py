"""One run, three hands on it: begun in one place, edited in another, finished in the third.

Python, the command line and the SDK share nothing but the database and the run's id.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient
from standins.documents import QUESTION

from fathom import DeepResearcher, ResearchRequest, ReviewAnswer
from fathom.cli import main
from fathom.state import short_id

pytestmark = pytest.mark.server
WISH = "silt behind the dam"
EDITED = ["cost of the dam", "capacity factor of offshore wind"]


@pytest.fixture
def hands(
    client: SyncLangGraphClient,
    shelf: Path,
    shared_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> "Hands":
    """All three, on the server's home."""
    return Hands(client, shelf, tmp_path / "out", capsys)


class Hands:
    """Each place's way to begin a run with review, to send it back with a wish, and to end it."""

    def __init__(
        self, client: SyncLangGraphClient, shelf: Path, out: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.client, self.shelf, self.out, self.capsys = client, shelf, out, capsys

    def begun_in_python(self) -> str:
        request = ResearchRequest(query=QUESTION, docs=[str(self.shelf)], max_rounds=1, review="plan")
        session = DeepResearcher().start_sync(request)
        table = session.checkpoint()
        assert table is not None
        assert table.shown["round"] == 1
        return session.id

    def begun_on_the_command_line(self) -> str:
        words = ["--docs", str(self.shelf), "--rounds", "1", "--review", "plan", "--out", str(self.out)]
        assert main([QUESTION, *words]) == 3
        self.capsys.readouterr()
        assert main(["runs", "--full"]) == 0
        newest = self.capsys.readouterr().out.splitlines()[1]
        assert "waiting for review" in newest
        return newest.split()[0]

    def begun_over_the_sdk(self) -> str:
        thread_id = str(self.client.threads.create()["thread_id"])
        context: dict[str, Any] = {"docs": [str(self.shelf)], "rounds": 1, "review": "plan"}
        self.client.runs.wait(thread_id, "research", input={"question": QUESTION}, context=context)
        return thread_id

    def sent_back_in_python(self, run_id: str) -> list[str]:
        async def sent_back() -> list[str]:
            session = await DeepResearcher().session(run_id)
            table = await session.go_on(ReviewAnswer(action="feedback", text=WISH))
            assert table is not None
            return list(table.shown["queries"])

        return asyncio.run(sent_back())

    def sent_back_on_the_command_line(self, run_id: str) -> list[str]:
        assert main(["resume", run_id, "--feedback", WISH, "--out", str(self.out)]) == 3
        return self.capsys.readouterr().err.splitlines()

    def sent_back_over_the_sdk(self, run_id: str) -> list[str]:
        self._answered(run_id, {"action": "feedback", "text": WISH})
        state: Any = self.client.threads.get_state(run_id)
        return list(state["tasks"][0]["interrupts"][0]["value"]["queries"])

    def ended_in_python(self, run_id: str) -> str:
        return DeepResearcher().resume_sync(run_id, ReviewAnswer(action="edit", queries=EDITED)).report

    def ended_on_the_command_line(self, run_id: str) -> str:
        self.capsys.readouterr()
        assert main(["resume", run_id, "--edit", *EDITED, "--quiet", "--out", str(self.out)]) == 0
        return self.capsys.readouterr().out

    def ended_over_the_sdk(self, run_id: str) -> str:
        return str(self._answered(run_id, {"action": "edit", "queries": EDITED})["report"]["markdown"])

    def _answered(self, run_id: str, answer: dict[str, Any]) -> dict[str, Any]:
        self.client.threads.create(thread_id=run_id, graph_id="research", if_exists="do_nothing")
        words: Any = {"command": {"resume": answer}}
        state = self.client.runs.wait(run_id, "research", **words)
        assert isinstance(state, dict)
        return state


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        ("in_python", "over_the_sdk", "on_the_command_line"),
        ("on_the_command_line", "in_python", "over_the_sdk"),
        ("over_the_sdk", "on_the_command_line", "in_python"),
    ],
)
def test_a_run_is_begun_edited_and_finished_in_three_places(
    hands: Hands, first: str, second: str, third: str
) -> None:
    run_id = getattr(hands, f"begun_{first}")()
    assert any(WISH in line for line in getattr(hands, f"sent_back_{second}")(run_id))
    report = getattr(hands, f"ended_{third}")(run_id)
    assert f"\n# {QUESTION}\n" in report
    hands.capsys.readouterr()
    assert main(["show", short_id(run_id), "--format", "json"]) == 0
    shown = json.loads(hands.capsys.readouterr().out)
    assert shown["report"] == report
    assert [query["text"] for query in shown["asked"]][-2:] == EDITED
    assert shown["settings"]["docs"] == [str(hands.shelf)]
    seen: Any = hands.client.threads.create(thread_id=run_id, graph_id="research", if_exists="do_nothing")
    assert seen["thread_id"] == run_id
    values: Any = hands.client.threads.get_state(run_id)["values"]
    assert values["report"]["markdown"] == report
    assert hands.client.threads.get_state(run_id)["next"] == []

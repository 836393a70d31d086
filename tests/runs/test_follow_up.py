"""Threads in the database, and what the runs of one know together."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fakes.records import claim, earlier, page, quote, section, sentence

from fathom.request import ResearchRequest
from fathom.runs.follow_up import FinishedRun, make_follow_up, merge_evidence
from fathom.state import ENDLESS_USD, Report, RunConfig, RunState
from fathom.storage import open_storage

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def past(name: str, **words: Any) -> FinishedRun:
    report = Report(
        title="T",
        status="complete",
        sections=[section(sentence("The plant makes 240 megawatts.", "c1"))],
        citations=[],
        markdown="# T",
    )
    state: RunState = {
        "question": f"What is {name}?",
        "run_config": RunConfig(rounds=3, sources=8),
        "pages": [page()],
        "claims": [claim()],
        "report": report,
        **words,  # type: ignore[typeddict-item]
    }
    return FinishedRun(name, state, NOON)


async def test_runs_that_follow_each_other_are_one_thread(tmp_path: Path) -> None:
    threads = open_storage(tmp_path / "fathom.sqlite").threads
    assert await threads.thread_of("a") == "a"
    assert await threads.runs_of("a") == [("a", "")]
    await threads.follow("b", "a")
    await threads.follow("c", "b")
    await threads.follow("d", "a")
    await threads.follow("d", "b")  # once is enough
    assert [await threads.thread_of(run) for run in "abcdx"] == ["a", "a", "a", "a", "x"]
    assert await threads.runs_of("a") == [("a", ""), ("b", "a"), ("c", "b"), ("d", "a")]
    assert not await threads.is_closed("a")
    await threads.close("a")
    await threads.close("a")
    assert await threads.is_closed("a")
    assert not await threads.is_closed("x")


def test_of_a_page_that_was_read_twice_what_it_said_last_counts() -> None:
    newer = page("page two")
    other = claim("The plant makes 250 megawatts.", name="c2", quotes=[quote(of="page two")])
    known = merge_evidence([past("a"), past("b", pages=[newer], claims=[other])])
    assert [p.sha for p in known.pages] == [newer.sha]
    assert [c.id for c in known.claims] == ["c2"]
    assert [(turn.run, turn.question) for turn in known.turns] == [("a", "What is a?"), ("b", "What is b?")]
    assert known.turns[0].answer == "The plant makes 240 megawatts."
    assert known.turns[0].ended == "2026-01-02T12:00:00+00:00"


def test_a_claim_that_two_runs_have_is_known_once() -> None:
    again = claim(name="c9", question="Q3")
    assert len(merge_evidence([past("a"), past("b", claims=[again])]).claims) == 1


def test_a_long_answer_is_cut() -> None:
    long = section(sentence("It floats. " * 100, "c1"))
    report = past("a").state["report"].model_copy(update={"sections": [long]})
    answer = merge_evidence([past("a", report=report)]).turns[0].answer
    assert 390 < len(answer) <= 400
    assert answer.endswith("…")


def test_what_a_run_settled_for_its_own_question_is_settled_anew() -> None:
    odd = RunConfig(endless=True, strategy="tree", review="rounds", fresh=True, language="ko", docs=["/a"])
    begun = make_follow_up(ResearchRequest(query="Why?"), [past("a", run_config=odd)]).run_config()
    assert (begun.rounds, begun.sources, begun.strategy, begun.review) == (None, None, "loop", "off")
    assert (begun.endless, begun.fresh, begun.language, begun.docs) == (False, False, "ko", ["/a"])
    assert begun.budget_usd < ENDLESS_USD


def test_an_update_looked_only_for_what_was_new_and_a_follow_up_does_not() -> None:
    state = {"run_config": RunConfig(since="2025-05-01"), "earlier": earlier()}
    assert make_follow_up(ResearchRequest(query="Why?"), [past("a", **state)]).run_config().since is None
    kept = {"run_config": RunConfig(since="2025-05-01")}
    assert (
        make_follow_up(ResearchRequest(query="Why?"), [past("a", **kept)]).run_config().since == "2025-05-01"
    )


@pytest.mark.parametrize(("rounds", "pages", "had"), [(2, True, 3), (100, True, 100), (2, False, 2)])
def test_a_round_is_added_for_what_is_at_hand(rounds: int, pages: bool, had: int) -> None:
    words: dict[str, Any] = {} if pages else {"pages": [], "claims": []}
    asked = ResearchRequest(query="Why?", max_rounds=rounds)
    assert make_follow_up(asked, [past("a", **words)]).run_config().rounds == had

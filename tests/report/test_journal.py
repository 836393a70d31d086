"""Events on disk: whoever is killed and goes on, none is there twice and none is torn."""

from datetime import UTC, datetime
from pathlib import Path

from fathom.events import (
    Payload,
    Progress,
    ReportChunk,
    RoundCompleted,
    SearchCompleted,
    Spent,
    Started,
)
from fathom.report.journal import Journal
from fathom.state import RunConfig


def event(payload: Payload, number: int = 1, branch: str = "", usd: float = 0.0, minute: int = 0) -> Progress:
    return Progress(
        kind=payload.kind,
        run_id="r",
        round=number,
        limit=3,
        elapsed_s=float(minute),
        at=datetime(2026, 5, 4, 3, minute, tzinfo=UTC),
        branch=branch,
        spent=Spent(usd=usd),
        payload=payload,
    )


BEGUN = Started(question="왜?", run_config=RunConfig())


def found(query: str, hits: int = 1) -> SearchCompleted:
    return SearchCompleted(query=query, hits=hits)


def lines(path: Path) -> list[Progress]:
    return [Progress.model_validate_json(line) for line in path.read_text("utf-8").splitlines()]


def test_what_was_told_and_done_again_is_there_once(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    first = Journal(path)
    for payload in (BEGUN, found("a"), found("b")):
        assert first.add(event(payload))
    again = Journal(path)
    # The search for b was told, but not saved: the resumed run does it again, later and after more work.
    assert again.add(event(BEGUN, minute=5))
    assert not again.add(event(found("b"), usd=0.5, minute=6))
    assert again.add(event(found("c"), minute=7))
    kinds = [one.payload for one in lines(path)]
    assert kinds == [BEGUN, found("a"), found("b"), BEGUN, found("c")]


def test_the_same_words_in_another_round_or_branch_are_another_event(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    Journal(path).add(event(found("a")))
    again = Journal(path)
    assert again.add(event(found("a"), number=2))
    assert again.add(event(found("a"), branch="b1"))
    assert again.add(event(found("a", hits=2)))


def test_what_one_process_tells_twice_happened_twice(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = Journal(path)
    assert journal.add(event(ReportChunk(text="and ")))
    assert journal.add(event(ReportChunk(text="and ")))
    again = Journal(path)
    added = [again.add(event(ReportChunk(text=text))) for text in ("and ", "and ", "and ")]
    assert added == [False, False, True]


def test_half_a_line_and_a_line_of_somebody_else_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    Journal(path).add(event(found("a")))
    with path.open("a", encoding="utf-8") as file:
        file.write('my own note\n[1]\n{"kind": "search comp')
    again = Journal(path)
    assert not again.add(event(found("a")))
    assert again.add(event(found("b")))
    assert path.read_text("utf-8").splitlines()[1:3] == ["my own note", "[1]"]
    assert Progress.model_validate_json(path.read_text("utf-8").splitlines()[3]).payload == found("b")


def test_the_last_round_is_known_again_but_not_that_of_a_branch(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    journal = Journal(path)
    over = RoundCompleted(round=2, claims=3, new_claims=1)
    journal.add(event(over, number=2))
    journal.add(event(RoundCompleted(round=7, claims=1, new_claims=1), number=7, branch="b1"))
    last = Journal(path).last_round
    assert last is not None
    assert last.payload == over

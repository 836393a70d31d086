"""Events as records: typed by their kind, and one line of JSON each."""

from datetime import UTC, datetime

import pytest
from fakes.records import section, sentence
from pydantic import ValidationError

from fathom.events import (
    EVENT_KINDS,
    PAYLOADS,
    Checkpoint,
    Payload,
    Progress,
    ReportKept,
    SearchCompleted,
    SearchStarted,
)
from fathom.runs.event_mapper import section_text
from fathom.state import Failure


def told(payload: Payload) -> Progress:
    """An event with that payload."""
    at = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
    return Progress(kind=payload.kind, run_id="r", round=1, limit=3, elapsed_s=0.5, at=at, payload=payload)


def test_every_kind_has_a_payload_of_its_own() -> None:
    assert tuple(PAYLOADS) == EVENT_KINDS
    assert len(set(PAYLOADS.values())) == len(EVENT_KINDS)


@pytest.mark.parametrize(
    "payload",
    [
        SearchStarted(query="조력 발전 비용"),
        SearchCompleted(
            query="q", hits=0, lost=[Failure(where="search", what="q", why="line one\nline two")]
        ),
        Checkpoint(why="review", shown={"queries": ["a", "b"], "round": 1}),
    ],
)
def test_an_event_is_one_line_and_reads_back_as_the_same(payload: Payload) -> None:
    line = told(payload).model_dump_json()
    assert "\n" not in line
    assert Progress.model_validate_json(line) == told(payload)


def test_a_payload_of_another_kind_is_refused() -> None:
    line = told(SearchStarted(query="q")).model_dump_json()
    with pytest.raises(ValidationError, match="hits"):
        Progress.model_validate_json(line.replace("search started", "search completed"))
    with pytest.raises(ValidationError, match="no such kind"):
        Progress.model_validate_json(line.replace("search started", "search begun"))


def test_a_kept_report_is_not_a_part_of_the_line() -> None:
    assert told(ReportKept()).model_dump(mode="json")["payload"] == {}


def test_the_text_of_a_section_keeps_blocks_and_rows_apart() -> None:
    cells = [
        sentence(text).model_copy(update={"block": 1, "row": 0, "column": n}) for n, text in enumerate("ab")
    ]
    assert section_text(section(sentence("One."), sentence("Two."), *cells)) == "One. Two.\na | b"

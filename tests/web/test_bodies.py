"""Bodies that a served graph must not be sent: whatever they are, one sentence or none, never an error."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.state import ResearchState, RunConfig
from fathom.web.protection import fault_of, is_checked

STATE, RUNS = "/threads/x/state", "/threads/x/runs/wait"
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([*ResearchState.__annotations__, *RunConfig.model_fields, "run_config", "other"])
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "values": st.dictionaries(NAMES, JSON, max_size=3) | JSON,
        "context": st.dictionaries(NAMES, JSON, max_size=3) | JSON,
        "config": st.fixed_dictionaries({"configurable": st.dictionaries(NAMES, JSON, max_size=3) | JSON}),
        "command": st.fixed_dictionaries({}, optional={"resume": JSON, "update": JSON, "goto": JSON}) | JSON,
        "supersteps": JSON,
        "assistant_id": st.sampled_from(["research", "chat"]),
    },
)


@settings(max_examples=150)
@given(st.sampled_from([STATE, RUNS, "/threads"]), BODIES | st.lists(BODIES, max_size=2) | JSON)
def test_any_json_is_taken_or_refused_in_one_sentence(path: str, body: object) -> None:
    fault = fault_of(path, json.dumps(body).encode())
    assert "\n" not in fault
    assert fault == "" or fault[-1] in ".?"
    assert "pydantic" not in fault


@settings(max_examples=50)
@given(st.binary(max_size=200))
def test_any_bytes_are_taken_or_refused(body: bytes) -> None:
    assert isinstance(fault_of(STATE, body), str)


@pytest.mark.parametrize(
    "values",
    [
        {"claims": [{"id": "x"}]},
        {"pages": "abc"},
        {"report": {"title": "x"}},
        {"run_config": {"budget_usd": 1e9}},
        {"budget_usd": 1e9},
        {"questions": [{"id": "Q1", "text": "x"}]},
        {"costs": [{"usd": -5}]},
    ],
)
def test_records_and_settings_cannot_be_set_from_outside(values: object) -> None:
    assert fault_of(STATE, json.dumps({"values": values}).encode())


def test_plain_words_can() -> None:
    assert fault_of(STATE, b'{"values": {"question": "Why?"}}') == ""
    assert fault_of(STATE, b'{"values": {"messages": [{"role": "user", "content": "Why?"}]}}') == ""
    assert fault_of(RUNS, b'{"input": {"question": "Why?"}, "context": {"depth": "quick"}}') == ""
    assert fault_of(RUNS, b'{"command": {"resume": {"action": "approve"}}}') == ""
    assert (
        fault_of(RUNS, json.dumps({"command": {"resume": {"a" * 32: {"action": "approve"}}}}).encode()) == ""
    )


@pytest.mark.parametrize("command", [{"update": {"claims": [1]}}, {"goto": "publish"}, {"resume": 5}])
def test_a_command_only_answers_a_plan(command: object) -> None:
    assert fault_of(RUNS, json.dumps({"command": command}).encode())


def test_only_writing_requests_are_looked_at() -> None:
    assert is_checked("POST", STATE)
    assert not is_checked("GET", STATE)
    assert not is_checked("POST", "/threads/search")

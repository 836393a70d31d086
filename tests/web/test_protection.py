"""Which requests a local server refuses before anything of it runs."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fathom.state import ResearchState, RunConfig
from fathom.web.auth import identity_of
from fathom.web.protection import Protection, RateLimit, fault_of, is_checked

HOST = {"host": "127.0.0.1:2024"}
STUDIO = "https://smith.langchain.com"


def answer(
    method: str = "GET",
    path: str = "/threads",
    most: int = 5,
    times: int = 1,
    body: object = None,
    **headers: str,
) -> tuple[int, str]:
    """The status and body of the last of some equal requests; 200 is the application's own."""
    sent: list[dict[str, Any]] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def receive() -> dict[str, Any]:
        return {
            "type": "http.request",
            "body": json.dumps({} if body is None else body).encode(),
            "more_body": False,
        }

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    guarded = Protection(
        inner, hosts=["localhost", "127.0.0.1", "::1"], origins=[STUDIO], runs_per_minute=most
    )
    names = {**HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    raw = [(name.encode(), value.encode("latin-1")) for name, value in names.items()]
    scope = {"type": "http", "method": method, "path": path, "headers": raw}
    for _ in range(times):
        asyncio.run(guarded(scope, receive, send))
    return sent[-2]["status"], str(json.loads(sent[-1]["body"]).get("detail", ""))


@pytest.mark.parametrize("host", ["127.0.0.1:2024", "localhost", "LOCALHOST:80", "[::1]:2024"])
def test_its_own_names_are_served(host: str) -> None:
    assert answer(host=host)[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::1", "evil.example:2024"])
def test_another_name_is_refused(host: str) -> None:
    status, why = answer(host=host)
    assert status == 421
    assert "FATHOM_ALLOWED_HOSTS" in why


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_only_json_bodies_are_taken(kind: str) -> None:
    assert answer("POST", content_type=kind, content_length="2")[0] == 415


def test_json_and_empty_bodies_are_taken() -> None:
    assert answer("POST", content_type="application/json; charset=utf-8", content_length="2")[0] == 200
    assert answer("DELETE", "/threads/1")[0] == 200
    assert answer("POST", content_length="0")[0] == 200


def test_a_body_of_unknown_length_needs_its_kind() -> None:
    assert answer("POST", transfer_encoding="chunked")[0] == 415


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_a_foreign_page_is_refused(method: str) -> None:
    assert answer(method, origin="https://evil.example", content_type="application/json")[0] == 403
    assert answer(method, origin="null", content_type="application/json")[0] == 403


def test_a_request_of_a_foreign_page_without_an_origin_is_refused() -> None:
    assert answer(sec_fetch_site="cross-site", sec_fetch_mode="no-cors", sec_fetch_dest="image")[0] == 403


def test_a_link_to_the_server_may_be_followed() -> None:
    def follow(into: str) -> int:
        return answer(sec_fetch_site="cross-site", sec_fetch_mode="navigate", sec_fetch_dest=into)[0]

    assert follow("document") == 200
    assert follow("iframe") == 403


def test_studio_and_the_servers_own_pages_may_ask() -> None:
    assert answer("OPTIONS", origin=STUDIO, access_control_request_method="POST")[0] == 200
    assert answer("POST", origin=STUDIO, content_type="application/json")[0] == 200
    assert answer(origin="http://127.0.0.1:2024")[0] == 200


def test_runs_are_started_only_so_often() -> None:
    assert answer("POST", "/threads/a/runs/stream", times=5)[0] == 200
    assert answer("POST", "/threads/a/runs/stream", times=6)[0] == 429
    assert answer("POST", "/threads/a/history", times=6)[0] == 200
    assert answer("POST", "/app/api/audits", times=6)[0] == 429


@pytest.mark.parametrize("method", ["message/send", "message/stream", "SendMessage", "SendStreamingMessage"])
def test_what_an_agent_sends_starts_a_run(method: str) -> None:
    assert answer("POST", "/a2a/chat", times=5, body={"method": method})[0] == 200
    assert answer("POST", "/a2a/chat", times=6, body={"method": method})[0] == 429


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "GetTask", "ListTasks"])
def test_an_agent_may_ask_for_its_task_as_often_as_it_likes(method: str) -> None:
    assert answer("POST", "/a2a/chat", times=9, body={"method": method})[0] == 200


@pytest.mark.parametrize("body", [{}, [], [{"method": "tasks/get"}], {"method": ["tasks/get"]}, "odd"])
def test_what_an_agent_wants_that_cannot_be_told_is_counted(body: object) -> None:
    assert answer("POST", "/a2a/chat", times=6, body=body)[0] == 429


def test_many_runs_in_one_request_are_many() -> None:
    assert answer("POST", "/runs/batch", body=[{}] * 5)[0] == 200
    assert answer("POST", "/runs/batch", body=[{}] * 6)[0] == 429
    assert answer("POST", "/runs/batch", times=2, body=[{}] * 3)[0] == 429


@pytest.mark.parametrize("path", ["/api/batches", "/app/api/batches"])
def test_the_questions_of_a_batch_are_counted_and_a_long_one_fills_the_minute(path: str) -> None:
    assert answer("POST", path, times=3, body={"questions": "Why?\n\nHow?"})[0] == 200
    assert answer("POST", path, times=4, body={"questions": "Why?\n\nHow?"})[0] == 429
    assert answer("POST", path, body={"questions": "Why?\n" * 100})[0] == 200
    assert answer("POST", path, times=2, body={"questions": "Why?\n" * 100})[0] == 429
    assert answer("POST", path, times=6, body={"questions": 7})[0] == 429
    assert answer("POST", path, times=5, body={"questions": "# a note\nWhy?"})[0] == 200
    assert answer("POST", f"{path}/b1/go-on", times=6)[0] == 429
    assert answer("POST", f"{path}/b1/stop", times=6)[0] == 200
    assert answer("GET", path, times=6)[0] == 200


def test_a_minute_later_runs_may_be_started_again() -> None:
    now = 0.0
    rate = RateLimit(2, lambda: now)
    assert [rate.is_exceeded() for _ in range(3)] == [False, False, True]
    now = 61.0
    assert not rate.is_exceeded()


def test_a_key_gives_a_name_that_is_not_the_key() -> None:
    keys = ["secret-one", "secret-two"]
    one = identity_of({b"x-api-key": b"secret-one"}, keys)
    two = identity_of({b"authorization": b"Bearer secret-two"}, keys)
    assert one and two and one != two
    assert "secret" not in one + two
    assert identity_of({b"x-api-key": b"secret-on"}, keys) is None
    assert identity_of({}, keys) is None
    assert identity_of({}, []) == "everybody"


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


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("approve", "It should be an object with fields."),
        ({"queries": ["a"]}, "action is missing."),
        ({"action": "approve", "note": "x"}, "There is no note."),
        ({"action": "edit", "queries": "x"}, "queries should be a list."),
        ({"action": "add"}, "add needs text."),
        ({"action": "bogus"}, "action should be 'approve', 'edit', 'feedback', 'add' or 'finish'."),
    ],
)
def test_a_wrong_answer_to_a_plan_is_refused_in_words(given: object, why: str) -> None:
    status, told = answer("POST", "/threads/a/runs/wait", body={"command": {"resume": given}})
    assert (status, told) == (422, f"That is no answer to a plan: {why}")


def test_a_wrong_setting_is_named_as_the_form_has_it() -> None:
    status, told = answer("POST", "/threads/a/runs/wait", body={"context": {"rounds": 0}})
    assert (status, told) == (422, "rounds should be greater than or equal to 1.")

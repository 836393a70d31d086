"""A real server is sent records made by hand, wrong settings and wrong answers: one sentence, never a 500."""

import json

import pytest
from langgraph_sdk.client import SyncLangGraphClient
from server.test_protection import post
from standins.devserver import DevServer

pytestmark = pytest.mark.server


@pytest.fixture
def thread(client: SyncLangGraphClient) -> str:
    thread_id: str = client.threads.create(graph_id="research")["thread_id"]
    return thread_id


@pytest.mark.parametrize(
    "values",
    [{"claims": [{"id": "x"}]}, {"claims": "x"}, {"report": {}}, {"question": 5}, {"run_config": {}}, "x"],
)
def test_a_state_made_by_hand_is_refused(server: DevServer, thread: str, values: object) -> None:
    status, body = post(server, f"/threads/{thread}/state", {"values": values})
    assert status in (400, 422), body
    assert "\n" not in body["detail"]


@pytest.mark.parametrize(
    "given",
    [
        {"context": {"budget_usd": "abc"}},
        {"context": {"depth": "x"}},
        {"config": {"configurable": {"budget_usd": "much"}}},
        {"command": {"resume": "nonsense"}},
        {"command": {"resume": {"action": "zzz"}}},
        {"command": {"update": {"claims": [{}]}}},
        {"command": {"goto": "publish"}},
    ],
)
def test_wrong_settings_and_answers_are_one_sentence(server: DevServer, thread: str, given: object) -> None:
    body = {"assistant_id": "research", "input": None, **json.loads(json.dumps(given))}
    status, told = post(server, f"/threads/{thread}/runs/wait", body)
    assert status == 422, told
    assert "\n" not in told["detail"]
    assert "pydantic" not in told["detail"]


def test_a_thread_is_not_begun_with_a_history_made_by_hand(server: DevServer) -> None:
    steps = [{"updates": [{"values": {"claims": [{"id": "x"}]}, "as_node": "judge"}]}]
    assert post(server, "/threads", {"graph_id": "research", "supersteps": steps})[0] == 422

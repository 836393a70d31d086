"""A server that is killed in the middle of a run goes on with it when it is back."""

import time
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_sync_client
from standins.devserver import DevServer
from standins.documents import QUESTION
from standins.tavily import KEY, TavilyServer, result
from standins.web import Web, html

pytestmark = [pytest.mark.server, pytest.mark.kill]
TEXTS = {
    "/dam": "A tidal barrage needs a dam, and a dam costs more than offshore wind of the same size.",
    "/wind": "Offshore wind follows the weather, while a tidal barrage follows the moon and can be planned.",
    "/slow": "Compared with a tidal barrage, offshore wind reaches a capacity factor of 45 percent.",
}
SLOW_S = 20.0


def page(text: str, delay_s: float = 0.0) -> Any:
    return html(
        f"<html><title>{text[:20]}</title><body><article><p>{text}</p></article></body>", delay_s=delay_s
    )


def test_a_killed_run_is_finished_and_nothing_is_read_twice(tmp_path: Path) -> None:
    pages = {path: page(text, SLOW_S if path == "/slow" else 0.0) for path, text in TEXTS.items()}
    with (
        Web(pages) as web,
        TavilyServer([result(f"{web.url}{path}", path, "tidal barrage") for path in pages]) as found,
    ):
        settings = {
            "FATHOM_HOME": str(tmp_path / "home"),
            "FATHOM_ALLOW_PRIVATE": "true",
            "FATHOM_TAVILY_URL": found.url,
            "TAVILY_API_KEY": KEY,
        }
        server = DevServer(tmp_path, settings).start()
        try:
            thread_id = begun(server)
            wait_until_kept(server, thread_id, fast=2)
            server.kill()
            web.pages["/slow"] = page(TEXTS["/slow"])
            server.start()
            state = finished(server, thread_id)
        finally:
            server.stop()
    assert state["report"]["status"] == "extracts"
    assert {loaded["address"] for loaded in state["pages"]} == {f"{web.url}{path}" for path in TEXTS}
    fetched = [seen.route for seen in web.answered if seen.route in TEXTS]
    assert sorted(fetched) == ["/dam", "/slow", "/wind"]


def begun(server: DevServer) -> str:
    """A run that was started and not waited for."""
    with get_sync_client(url=server.url) as client:
        thread_id = client.threads.create()["thread_id"]
        client.runs.create(thread_id, "research", input={"question": QUESTION}, context={"rounds": 1})
    return thread_id


def wait_until_kept(server: DevServer, thread_id: str, fast: int) -> None:
    """Wait until what the fast pages gave is saved, while the slow one is still being waited for."""
    until = time.monotonic() + SLOW_S - 5
    with get_sync_client(url=server.url) as client:
        while time.monotonic() < until:
            tasks: Any = client.threads.get_state(thread_id, subgraphs=True)["tasks"]
            inner = [one for task in tasks if task.get("state") for one in task["state"]["tasks"]]
            if sum(one["name"] == "page" and bool(one.get("result")) for one in inner) == fast:
                return
            time.sleep(0.1)
    raise AssertionError(f"the fast pages were not kept: {tasks}")


def finished(server: DevServer, thread_id: str) -> dict[str, Any]:
    """The state at the end, whether the server took the run up by itself or has to be told."""
    with get_sync_client(url=server.url, timeout=60) as client:
        client.threads.create(thread_id=thread_id, graph_id="research", if_exists="do_nothing")
        state = client.runs.wait(thread_id, "research", input=None)
    assert isinstance(state, dict)
    return state

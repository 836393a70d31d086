"""The page inside `langgraph dev`: below /app, beside the native routes, on the same database."""

import json
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from standins.devserver import DevServer
from standins.documents import QUESTION

pytestmark = pytest.mark.server


def ask(server: DevServer, path: str, given: object = None) -> Any:
    body = json.dumps(given).encode() if given is not None else None
    headers = {"content-type": "application/json"} if body else {}
    with urlopen(Request(f"{server.url}{path}", body, headers), timeout=30) as answer:
        text = answer.read().decode()
    return json.loads(text) if "json" in answer.headers["content-type"] else text


def test_a_run_of_the_page_is_worked_on_beside_the_native_routes(server: DevServer, shelf: Path) -> None:
    assert ask(server, "/app").startswith("<!doctype html>")
    assert "import" in ask(server, "/app/static/app.js")
    run = ask(server, "/app/api/runs", {"query": QUESTION, "config": {"docs": [str(shelf)], "rounds": 1}})
    until = time.monotonic() + 60
    while (standing := ask(server, f"/app/api/runs/{run['id']}"))["status"] != "extracts":
        assert time.monotonic() < until, standing
        time.sleep(0.1)
    assert standing["problem"] == ""
    assert ask(server, f"/app/api/runs/{run['id']}/result")["citations"]
    assert ask(server, "/ok")["ok"]
    assert "BlockingError" not in server.log

"""A page on another origin, in a real Chromium, against a real `langgraph dev` and a real `fathom serve`.

It tries every way that a browser has to send something to a server on the same machine, and to read from it.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standins.browser import PageServer, chromium
from standins.devserver import DevServer
from standins.documents import stocked
from standins.server import Answer, Seen, StandIn

from attacks.attempt import Attempt

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOREIGN, REBOUND = "foreign.example", "rebound.example"  # the browser takes both names for this machine

_TRY = Path(__file__).with_suffix(".js").read_text("utf-8")

_QUESTION = "What does a page of another origin get?"
_MESSAGE = {"role": "user", "messageId": "m", "parts": [{"kind": "text", "text": _QUESTION}]}
_CALL = {"jsonrpc": "2.0", "id": "1", "method": "message/send", "params": {"message": _MESSAGE}}
_READING = ("fetch", "no-cors", "frame", "script", "event source", "web socket")
_WRITING = ("post json", "post text", "post text, no-cors", "post without kind", "beacon", "form")


class ForeignSite(StandIn):
    """A page of somebody else."""

    def answer_to(self, seen: Seen) -> Answer:
        """The same empty page for every path."""
        return Answer(200, {"content-type": "text/html"}, b"<!doctype html><title>x</title><body>")


def attack_with_a_page(folder: Path) -> Iterator[Attempt]:
    """Try everything from another origin, and from a name that was rebound to this machine."""
    shelf, home = stocked(folder / "shelf"), folder / "home"
    settings = {"FATHOM_HOME": str(home), "FATHOM_DOCS_ROOTS": json.dumps([str(shelf)])}
    page_server = PageServer(shelf, {**settings, "FATHOM_LOCAL_SERVERS": "{}"})
    dev_server = DevServer(folder, settings)
    started = {
        "input": {"question": _QUESTION},
        "assistant_id": "research",
        "context": {"docs": [str(shelf)]},
    }
    asked = {"query": _QUESTION, "config": {"docs": [str(shelf)]}}
    targets: list[tuple[str, Any, str, list[str], list[tuple[str, str]]]] = [
        (
            "langgraph dev", dev_server, dev_server.url, ["/info", "/openapi.json", "/app/api/runs"],
            [
                ("/runs", json.dumps(started)), ("/threads", "{}"), ("/app/api/runs", json.dumps(asked)),
                ("/a2a/chat", json.dumps(_CALL)),
            ],
        ),
        (
            "fathom serve", page_server, page_server.url.rstrip("/"), ["/api/setup", "/api/runs"],
            [
                ("/api/runs", json.dumps(asked)), ("/api/forecast", json.dumps(asked)),
                ("/mcp", json.dumps({**_CALL, "method": "tools/list", "params": {}})),
            ],
        ),
    ]  # fmt: skip
    rebinding = f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1, MAP {FOREIGN} 127.0.0.1"
    with ForeignSite() as site, chromium(rebinding) as browser:
        for name, server, url, readable, writable in targets:
            server.start()
            try:
                page = browser.new_context().new_page()
                page.goto(site.url.replace("127.0.0.1", FOREIGN))
                yield from _tries(page, name, url, readable, writable)
                port = url.rpartition(":")[2]
                yield from _rebound(page, name, f"http://{REBOUND}:{port}", readable, writable)
            finally:
                server.stop()
            begun = _runs_in(home / "fathom.sqlite")
            yield Attempt(f"{name}: runs that were begun by all of it", begun == 0, f"{begun} runs")


def _tries(
    page: "Page", name: str, url: str, readable: list[str], writable: list[tuple[str, str]]
) -> Iterator[Attempt]:
    plans = [(how, path, "{}") for how in _READING for path in readable]
    plans += [(how, path, body) for how in _WRITING for path, body in writable]
    for how, path, body in plans:
        got = page.evaluate(_TRY, [url, how, path, body]) or ""
        yield Attempt(f"{name}: {how} {path}", not got.startswith("READ"), got[:80])


def _rebound(
    page: "Page", name: str, url: str, readable: list[str], writable: list[tuple[str, str]]
) -> Iterator[Attempt]:
    """The name of the foreign page now means this machine: for the browser, all is of one origin."""
    answer = page.goto(f"{url}{readable[0]}")
    status = answer.status if answer else 0
    yield Attempt(f"{name}: a rebound name is opened", status == 421, f"status {status}")
    for how, path, body in (("fetch", readable[-1], ""), ("post json", *writable[0])):
        got = page.evaluate(_TRY, [url, how, path, body]) or ""
        yield Attempt(f"{name}: {how} {path} by a rebound name", not got.startswith("READ"), got[:80])


def _runs_in(database: Path) -> int:
    if not database.exists():
        return 0
    with closing(sqlite3.connect(database)) as connection:
        words = "select count(distinct thread_id) from checkpoints"
        return int(connection.execute(words).fetchone()[0])

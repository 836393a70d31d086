"""The requests behind the page: what they answer, and how they say no."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr
from standins.documents import QUESTION

from fathom import DeepResearcher, ResearchRequest
from fathom.graph.research import graph
from fathom.report.formats import registry
from fathom.settings import Settings, load_settings
from fathom.state import RunConfig
from fathom.web.app import make_page_app
from fathom.web.page import COOKIE, STATIC
from fathom.web.run_requests import FORMATS

pytestmark = pytest.mark.whole
RUN = "api/runs/00000000-0000-4000-8000-000000000000"


@pytest.fixture
def settings(tmp_path: Path, shelf: Path) -> Settings:
    return load_settings(home=tmp_path / "home", docs_roots=[shelf], local_servers={})


def client_of(settings: Settings) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=make_page_app(settings))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321")


@pytest.fixture
async def client(settings: Settings) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(settings) as made:
        yield made


async def finished(settings: Settings, shelf: Path, question: str = QUESTION) -> str:
    request = ResearchRequest(query=question, docs=[str(shelf)])
    return (await DeepResearcher(settings).research(request)).run_id


BAD: list[tuple[str, str, Any, int, str]] = [
    ("POST", "api/runs", {}, 400, "The question is empty."),
    ("POST", "api/runs", {"query": "??"}, 400, "The question has no words."),
    ("POST", "api/runs", {"query": 7}, 400, "question"),
    ("POST", "api/runs", {"query": "a" * 3000}, 400, "The question is longer than 2000 characters."),
    ("POST", "api/runs", {"query": "Why?", "config": []}, 400, "The config of a request is an object."),
    ("POST", "api/runs", {"query": "Why?", "config": {"depth": "deep"}}, 400, "--depth"),
    (
        "POST",
        "api/runs",
        {"query": "Why?", "config": {"base_url": "http://evil"}},
        400,
        "cannot set 'base_url'",
    ),
    ("POST", "api/runs", {"query": "Why?", "config": {"model": "/x.gguf"}}, 400, "cannot set 'model'"),
    ("POST", "api/runs", {"query": "Why?", "config": {"docs": ["/etc"]}}, 400, "FATHOM_DOCS_ROOTS"),
    ("POST", "api/runs", {"query": "Why?", "config": {"budget_usd": 50}}, 400, "FATHOM_CEILINGS"),
    ("POST", "api/forecast", {"query": "Why?", "config": {"docs": ["/etc"]}}, 400, "FATHOM_DOCS_ROOTS"),
    ("POST", "api/runs", "not JSON", 400, "The body is not JSON."),
    ("POST", "api/runs", "[" * 100_000, 400, "The body is not JSON."),
    ("POST", "api/runs", [1], 400, "The body is not an object."),
    ("POST", "api/runs", {"query": "a", "x": "y" * 1_000_001}, 400, "larger than"),
    ("GET", RUN, None, 404, "There is no run"),
    ("GET", f"{RUN}/events", None, 404, "There is no run"),
    ("GET", f"{RUN}/result", None, 404, "There is no run"),
    ("GET", f"{RUN}/thread", None, 404, "There is no run"),
    ("GET", f"{RUN}/export/md", None, 404, "There is no run"),
    ("GET", f"{RUN}/export/exe", None, 400, "There is no format 'exe'"),
    ("GET", f"{RUN}/passage", None, 400, "A passage has a start and an end."),
    ("POST", f"{RUN}/answer", {"action": "approve"}, 404, "There is no run"),
    ("POST", f"{RUN}/control", {"word": "pause"}, 404, "There is no run"),
    ("POST", f"{RUN}/follow-up", {"query": "And?"}, 404, "There is no run"),
    ("POST", f"{RUN}/update", {}, 404, "There is no run"),
    ("POST", f"{RUN}/fork", {"direction": "x"}, 404, "There is no run"),
    ("POST", f"{RUN}/fork", {}, 400, "Say in words where to look instead."),
    ("GET", "api/compare", None, 404, "There is no run"),
    ("GET", "api/folders?path=/etc", None, 400, "FATHOM_DOCS_ROOTS"),
    ("GET", "api/folders?path=../../etc", None, 400, "FATHOM_DOCS_ROOTS"),
    ("GET", "api/nothing", None, 404, "There is no such address."),
    ("GET", "static/../page.py", None, 404, ""),
    ("GET", "static/%2e%2e/page.py", None, 404, "There is no such file."),
    ("GET", "static/nothing.js", None, 404, "There is no such file."),
    ("PUT", "api/uploads?name=x.exe", b"x", 400, "x.exe cannot be read"),
    ("PUT", "api/uploads?name=..", b"x", 400, "cannot be read"),
    ("PUT", "api/uploads?name=a.md&folder=../..", b"x", 400, "There is no such folder of uploads."),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "words"), BAD)
async def test_what_makes_no_sense_is_refused_in_one_sentence(
    client: httpx.AsyncClient, method: str, path: str, body: Any, status: int, words: str
) -> None:
    is_file = isinstance(body, bytes)
    content = body if is_file or body is None else body if isinstance(body, str) else json.dumps(body)
    kind = "application/octet-stream" if is_file else "application/json"
    answer = await client.request(
        method, f"/{path}", content=content, headers={"content-type": kind} if content else {}
    )
    assert answer.status_code == status
    assert words in answer.text
    if status == 400:
        assert re.fullmatch(r"[^\n]+[.?]", answer.json()["detail"])
        assert answer.json()["code"] == "bad_input"
    assert "Traceback" not in answer.text


async def test_a_foreign_page_is_refused_on_every_route(client: httpx.AsyncClient) -> None:
    foreign = {"origin": "https://evil.example"}
    for method, path in (
        ("GET", "/api/runs"),
        ("POST", "/api/runs"),
        ("PUT", "/api/uploads?name=a.md"),
        ("GET", "/"),
    ):
        assert (await client.request(method, path, headers=foreign)).status_code == 403
    for kind in ("text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"):
        headers = {"content-type": kind}
        assert (await client.put("/api/uploads?name=a.md", content=b"x", headers=headers)).status_code == 415
        assert (await client.post("/api/runs", content=b"x", headers=headers)).status_code == 415
    octets = {"content-type": "application/octet-stream"}
    assert (await client.post("/api/runs", content=b"x", headers=octets)).status_code == 415
    assert (await client.get("/", headers={"host": "evil.example"})).status_code == 421


async def test_the_page_may_load_nothing_from_elsewhere(client: httpx.AsyncClient) -> None:
    for path in ("/", "/static/app.js", "/api/setup", "/api/nothing"):
        answer = await client.get(path)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    for file in STATIC.rglob("*.*"):
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), file
        assert not re.search(r"""(?:src|href|url\(|import|fetch)\W{1,3}https?://""", text), file
    index = (STATIC / "index.html").read_text("utf-8")
    assert "style=" not in index and "<style" not in index and not re.search(r"\son\w+=", index)


async def test_a_document_is_uploaded_searched_and_cited(client: httpx.AsyncClient) -> None:
    octets = {"content-type": "application/octet-stream"}
    text = b"# Grey Sound\n\nThe barrage at Grey Sound has a capacity of 240 megawatts.\n"
    first = (await client.put("/api/uploads?name=../../grey.md", content=text, headers=octets)).json()
    again = await client.put(
        f"/api/uploads?name=b.txt&folder={first['folder']}", content=text, headers=octets
    )
    assert first["name"] == "grey.md"
    assert again.json()["path"] == first["path"]
    config = {"docs": [first["path"]]}
    body = {"query": "What capacity has the barrage at Grey Sound?", "config": config}
    assert (await client.post("/api/forecast", json=body)).json()["calls"] == 0


async def test_a_run_is_found_read_quoted_compared_and_exported(
    client: httpx.AsyncClient, settings: Settings, shelf: Path
) -> None:
    one, two = (
        await finished(settings, shelf),
        await finished(settings, shelf, "What limits a tidal barrage?"),
    )
    assert [line["id"] for line in (await client.get("/api/runs?search=LIMITS tidal")).json()] == [two]
    assert (await client.get(f"/api/runs/{one}")).json()["status"] == "extracts"
    result = (await client.get(f"/api/runs/{one}/result")).json()
    quote = result["citations"][0]["quotes"][0]
    place = {"page": quote["page"], "start": quote["start"], "end": quote["end"]}
    passage = (await client.get(f"/api/runs/{one}/passage", params=place)).json()
    assert passage["quote"] == quote["text"]
    whole = (shelf / "wind.md").read_text("utf-8")
    assert passage["before"] + passage["quote"] + passage["after"] in whole
    wrong = await client.get(f"/api/runs/{one}/passage", params={**place, "end": 10**9})
    assert wrong.status_code == 400
    other = await client.get(f"/api/runs/{one}/passage", params={**place, "page": "0" * 64})
    assert other.json()["detail"].endswith("has read no such page.")
    assert (await client.get("/api/compare", params={"first": one, "second": two})).json()["runs"][
        "second"
    ] == two
    for kind in (await client.get("/api/setup")).json()["formats"]:
        answer = await client.get(f"/api/runs/{one}/export/{kind}")
        assert answer.status_code == 200 and answer.content
        assert answer.headers["content-disposition"].startswith("attachment")
    over = await client.post(f"/api/runs/{one}/answer", json={"action": "approve"})
    assert over.json()["detail"].startswith("This run is over")
    assert (await client.post(f"/api/runs/{one}/control", json={"word": "pause"})).status_code == 400
    assert "folder" not in (await client.get("/api/runs")).text.replace("folders", "")


async def test_with_a_key_nothing_is_told_without_it(settings: Settings) -> None:
    keyed = settings.model_copy(update={"api_keys": [SecretStr("the key")]})
    async with client_of(keyed) as client:
        assert (await client.get("/")).status_code == 200
        assert (await client.get("/api/runs")).status_code == 401
        assert (await client.get("/api/health")).json() == {"is_ready": True}
        assert (await client.get("/api/runs", headers={"x-api-key": "the key"})).status_code == 200
        assert (await client.post("/api/login", json={"key": "another"})).status_code == 401
        known = await client.post("/api/login", json={"key": "the key"})
        assert (
            "httponly" in known.headers["set-cookie"].lower()
            and "samesite=strict" in known.headers["set-cookie"].lower()
        )
        assert COOKIE in client.cookies
        assert (await client.get("/api/runs")).status_code == 200
    several = settings.model_copy(update={"api_keys": [SecretStr("one"), SecretStr("two")]})
    async with client_of(several) as client:
        assert (await client.get("/api/runs", headers={"x-api-key": "one"})).status_code == 403


def test_the_picture_of_the_graph_is_the_graph() -> None:
    text = (STATIC / "watch.js").read_text("utf-8")
    nodes = set(re.findall(r"(\w+): \[\d+, \d+\]", text))
    edges = set(re.findall(r'\["(\w+)", "(\w+)"\]', text))
    drawn = graph.get_graph()
    assert nodes == {name for name in drawn.nodes if not name.startswith("__")}
    assert edges <= {(edge.source, edge.target) for edge in drawn.edges}


def test_both_languages_have_every_word_that_is_used() -> None:
    texts = {
        name: json.loads((STATIC / "texts" / f"{name}.json").read_text("utf-8")) for name in ("en", "ko")
    }
    english, korean = texts["en"], texts["ko"]
    assert set(english) <= set(korean)
    for key, text in english.items():
        places = set(re.findall(r"\{(\w+)", text))
        assert places == set(re.findall(r"\{(\w+)", korean[key])), key
    script = "".join(file.read_text("utf-8") for file in STATIC.glob("*.js"))
    used = set(re.findall(r"""\bt\("([\w .]+)\"""", script))
    assert used <= set(english), used - set(english)
    groups = {key.rpartition(".")[0] for key in english}
    assert set(re.findall(r"\bt\(`(\w+)\.\$\{", script)) <= groups


def test_every_run_setting_has_a_label_on_the_page() -> None:
    english = json.loads((STATIC / "texts" / "en.json").read_text("utf-8"))
    labels = {key.removeprefix("setting.") for key in english if key.startswith("setting.")}
    assert labels == set(RunConfig.model_fields)


def test_the_page_offers_every_format_and_the_zip() -> None:
    assert set(FORMATS) == {one.ending.removeprefix(".") for one in registry.FORMATS.values()} | {"zip"}


async def test_a_batch_is_refused_in_one_sentence_or_begun(client: httpx.AsyncClient, shelf: Path) -> None:
    for body, why in (
        ({"questions": ""}, "There is no question in the file."),
        ({"questions": "Why?\n??"}, "Line 2: The question has no words."),
        ({"questions": 7}, "A batch has questions, one a line"),
        ({"questions": "Why?", "config": {"model": "x"}}, "cannot set 'model'"),
        ({"questions": '{"question": "Why?", "model": "x"}'}, "cannot set 'model'"),
        ({"questions": '{"question": "Why?", "docs": ["/etc"]}'}, "FATHOM_DOCS_ROOTS"),
        ({"questions": "Why?", "total_usd": True}, "total_usd, a number"),
    ):
        answer = await client.post("/api/batches", json=body)
        assert (answer.status_code, why in answer.json()["detail"]) == (400, True), answer.text
    for path in ("", "/go-on", "/stop"):
        method = "POST" if path else "GET"
        assert (await client.request(method, f"/api/batches/abc{path}", json={})).status_code in (400, 404)
    answer = await client.post("/api/batches", json={"questions": "Why?\n" * 101})
    assert (answer.status_code, "at most 100 questions" in answer.text) == (400, True)
    assert (await client.get("/api/batches")).json() == []


async def test_tags_of_no_run_and_tags_that_are_none_are_refused(
    client: httpx.AsyncClient, settings: Settings, shelf: Path
) -> None:
    assert (await client.post(f"/{RUN}/tags", json={"tags": ["x"]})).status_code == 404
    run = await finished(settings, shelf)
    for tags in ("x", [1], ["x" * 41], [str(n) for n in range(21)], None):
        assert (await client.post(f"/api/runs/{run}/tags", json={"tags": tags})).status_code == 400
    kept = await client.post(f"/api/runs/{run}/tags", json={"tags": [" a ", "#b", "a", ""]})
    assert kept.json() == {"tags": ["a", "b"]}
    assert [line["id"] for line in (await client.get("/api/runs?search=%23b")).json()] == [run]
    assert (await client.get("/api/runs?search=%23c")).json() == []
    assert (await client.get(f"/api/runs/{run}/chart/0")).status_code == 400

"""MCP servers that search and fetch: real processes, over stdio and over HTTP."""

import asyncio
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from search.failures import QUERY, BadAnswer, but, fails
from standins import mcp_server
from standins.mcp_server import TOKEN, over_http

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable
from fathom.reading import Reader
from fathom.search import SearchEngine
from fathom.search.engines.mcp import McpReader, McpSearch
from fathom.search.mcp_servers import McpServer
from fathom.state import Hit, Query
from fathom.storage import open_storage

KEY = "library-key-9"
# A session is more than one request: where one of them finds nobody, another may have been served.
CASES = [*but("nobody listens"), BadAnswer("nobody listens", None, Unavailable, "cannot be reached")]
KOREAN = "mcp://my%20lib/%EC%A1%B0%EB%A0%A5%2F1"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with over_http() as url:
        yield url


@pytest.fixture
def library(address: str) -> McpServer:
    return McpServer("my lib", url=f"{address}/mcp", headers={"Authorization": f"Bearer {TOKEN}"})


def started(*args: str) -> McpServer:
    script = str(Path(mcp_server.__file__))
    return McpServer("my lib", command=sys.executable, args=(script, *args), env={"LIBRARY_KEY": KEY})


def asking(text: str) -> Query:
    return QUERY.model_copy(update={"text": text})


def at(place: str) -> Hit:
    return Hit(query="q1", address=place, title="", snippet="", engine="mcp", rank=1)


async def error_of(server: McpServer, text: str = "tides", *, timeout_s: float = 20.0) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await McpSearch(server, timeout_s=timeout_s)(asking(text), limit=5)
    assert KEY not in repr(caught.value)
    assert TOKEN not in repr(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_documents_become_hits_with_an_address_of_the_web_or_of_the_server(library: McpServer) -> None:
    hits = await McpSearch(library)(asking("조력 발전"), limit=5)
    assert [(hit.address, hit.title, hit.rank, hit.engine, hit.query) for hit in hits] == [
        ("https://ocean.example/tidal", "Tidal costs", 1, "mcp", "q1"),
        (KOREAN, "조력 발전", 2, "mcp", "q1"),
        ("mcp://my%20lib/7", "", 3, "mcp", "q1"),
    ]


async def test_the_limit_is_kept_and_nothing_found_is_an_empty_list(library: McpServer) -> None:
    assert len(await McpSearch(library)(asking("tides"), limit=2)) == 2
    assert await McpSearch(library)(asking("nothing"), limit=5) == []


async def test_a_text_is_the_page_only_where_the_operator_mapped_it(
    library: McpServer, tmp_path: Path
) -> None:
    texts = open_storage(tmp_path / "fathom.sqlite").pages
    (plain,) = await McpSearch(library, texts=texts)(asking("summaries"), limit=1)
    assert plain.snippet.startswith("In short")
    assert plain.delivered == ""
    own = library.search.model_copy(update={"fields": {"url": "url", "text": "text"}})
    (mapped,) = await McpSearch(replace(library, search=own), texts=texts)(asking("summaries"), limit=1)
    assert await texts.get(mapped.delivered) == mcp_server.SUMMARY


async def test_what_only_the_server_has_is_read_with_fetch(library: McpServer) -> None:
    reader: Reader = McpReader({"my lib": library})
    korean, numbered = await reader(at(KOREAN)), await reader(at("mcp://my%20lib/7"))
    assert (korean.title, korean.text, korean.how) == ("조력 발전", "조력 발전의 비용이 낮아졌다.", "mcp")
    assert (numbered.title, numbered.text) == ("Harbour", "# Harbour\n\nThe harbour is old.\n\nIt silts up.")


async def test_a_document_that_is_not_there_is_unreadable(library: McpServer) -> None:
    with pytest.raises(Unreadable, match=r"^mcp \(my lib\) could not fetch: .*there is no document 8"):
        await McpReader({"my lib": library})(at("mcp://my%20lib/8"))


@pytest.mark.parametrize("place", ["https://a.example/1", "mcp://other/1", "mcp://my%20lib/", "mcp://"])
async def test_the_reader_keeps_to_its_servers(place: str) -> None:
    with pytest.raises(Refused):
        await McpReader({"my lib": started()})(at(place))


async def test_a_tool_that_fails_is_unreadable_and_keeps_the_secrets(library: McpServer) -> None:
    error = await error_of(library, "fail")
    assert type(error) is Unreadable
    assert str(error).endswith("the index is gone, says None with ***")


async def test_words_where_json_was_promised_are_unreadable(library: McpServer) -> None:
    error = await error_of(library, "odd")
    assert type(error) is Unreadable
    assert str(error) == "mcp (my lib) answered search in another form than documented"


async def test_a_search_that_hangs_is_given_up(library: McpServer) -> None:
    error = await error_of(library, "hang", timeout_s=0.3)
    assert type(error) is Unavailable
    assert str(error) == "mcp (my lib) did not answer within 0.3 s"


async def test_without_the_token_it_is_the_operators_business(address: str) -> None:
    error = await error_of(McpServer("my lib", url=f"{address}/mcp"))
    assert type(error) is Refused
    assert str(error) == "mcp (my lib) answered HTTP 401"


def reached(url: str, timeout_s: float) -> McpSearch:
    return McpSearch(McpServer("lib", url=f"{url}/mcp"), timeout_s=timeout_s)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_server_that_fails_over_http_fails_like_any_other(case: BadAnswer) -> None:
    await fails(case, reached)


async def test_a_server_that_is_started_finds_and_is_stopped(tmp_path: Path) -> None:
    place = tmp_path / "pid"
    hits = await McpSearch(started("--pid", str(place)))(QUERY, limit=5)
    assert [hit.address for hit in hits][1] == KOREAN
    assert not is_alive(int(place.read_text()))


async def test_a_server_that_lacks_a_tool_is_refused(library: McpServer) -> None:
    error = await error_of(replace(library, url=library.url.replace("/mcp", "/halved")))
    assert type(error) is Refused
    assert str(error) == "mcp (my lib) lacks fetch: a server needs the tools search and fetch"


async def test_a_server_that_crashes_says_why_in_its_last_words() -> None:
    error = await error_of(started("--fate", "crash"))
    assert type(error) is Unavailable
    assert str(error) == "mcp (my lib) failed: the key *** is not accepted"


async def test_a_command_that_is_not_there_is_the_operators_business(tmp_path: Path) -> None:
    error = await error_of(McpServer("my lib", command=str(tmp_path / "none")))
    assert type(error) is Refused
    assert str(error) == "mcp (my lib) cannot be started: No such file or directory"


async def test_a_deaf_server_is_never_left_behind_whoever_gives_up(tmp_path: Path) -> None:
    punctual, cancelled = tmp_path / "punctual", tmp_path / "cancelled"

    async def cancel() -> None:
        call = asyncio.ensure_future(
            McpSearch(started("--fate", "deaf", "--pid", str(cancelled)))(QUERY, limit=5)
        )
        while not (cancelled.exists() and cancelled.read_text()):  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.01)
        for _ in range(3):  # in a hurry, as those are who press a key more than once
            call.cancel()
            await asyncio.sleep(0.1)
        with pytest.raises(asyncio.CancelledError):
            await call
        assert not is_alive(int(cancelled.read_text()))

    error, _ = await asyncio.gather(
        error_of(started("--fate", "deaf", "--pid", str(punctual)), timeout_s=1.0), cancel()
    )
    assert type(error) is Unavailable
    assert not is_alive(int(punctual.read_text()))


def test_secrets_are_not_shown_and_the_port_is_kept() -> None:
    port: SearchEngine = McpSearch(McpServer("lib", url="http://a.example/?key=k", headers={"Key": TOKEN}))
    assert TOKEN not in repr(port)
    assert "key=k" not in repr(port)
    assert KEY not in repr(started("--key", KEY))
    assert (port.name, port.capabilities) == ("mcp", frozenset({"web", "content"}))


def test_the_package_is_not_loaded_before_it_is_needed() -> None:
    modules = "fathom.search.engines.mcp, fathom.search.engines.retriever"
    words = f"import sys, {modules}; sys.exit('mcp' in sys.modules)"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", words]) == 0

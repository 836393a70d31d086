"""Exa, Context7 and Grep.app as the example file maps them, against stand-ins with their tools."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from search.failures import QUERY
from standins import mcp_vendors

from fathom.errors import BadInput, Refused
from fathom.search.engines.mcp import McpReader, McpSearch
from fathom.search.mcp_servers import McpServer, load_servers, parse_servers
from fathom.state import Query
from fathom.storage import open_storage

EXAMPLE = Path(__file__).parents[3] / "examples" / "mcp_servers.json"
SCRIPT = str(Path(mcp_vendors.__file__))


def mapped(name: str) -> McpServer:
    """A server of the example, with a stand-in in its place."""
    return replace(load_servers(EXAMPLE)[name], url="", command=sys.executable, args=(SCRIPT, name))


def asking(text: str) -> Query:
    return QUERY.model_copy(update={"text": text})


async def test_exa_delivers_the_text_of_each_page(tmp_path: Path) -> None:
    texts = open_storage(tmp_path / "fathom.sqlite").pages
    one, two = await McpSearch(mapped("exa"), texts=texts)(asking("tidal power"), limit=2)
    assert (one.address, one.title, two.address) == (
        "https://ocean.example/1",
        "Tides 1",
        "https://ocean.example/2",
    )
    assert await texts.get(one.delivered) == mcp_vendors.BODY.strip()
    assert await McpSearch(mapped("exa"))(asking("nothing"), limit=2) == []


async def test_context7_finds_a_library_and_reads_what_its_documentation_says_to_the_query() -> None:
    server = mapped("context7")
    first, second = await McpSearch(server)(asking("high water?"), limit=5)
    assert (first.title, first.snippet) == ("Tideline", "Forecasts of tides, for Python.")
    assert first.address == "mcp://context7/%2Focean%2Ftideline?query=high%20water%3F"
    assert second.address.startswith("mcp://context7/%2Focean%2Fharbour?")
    read = await McpReader({"context7": server})(first)
    assert "For high water?: call" in read.text
    assert "/ocean/tideline" in read.text
    assert (read.title, read.how) == ("Tideline", "mcp")


async def test_grep_finds_files_of_the_web_and_needs_no_tool_to_fetch() -> None:
    hits = await McpSearch(mapped("grep"))(asking("high_water"), limit=5)
    assert [(hit.title, hit.address) for hit in hits] == [
        ("tideline/forecast.py", "https://github.com/ocean/tideline/blob/main/tideline/forecast.py"),
        ("tideline/station.py", "https://github.com/ocean/tideline/blob/main/tideline/station.py"),
    ]
    assert await McpSearch(mapped("grep"))(asking("nothing"), limit=5) == []


async def test_a_tool_that_the_server_does_not_have_is_named() -> None:
    server = replace(mapped("grep"), args=(SCRIPT, "exa"))
    with pytest.raises(Refused, match="lacks searchGitHub"):
        await McpSearch(server)(asking("x"), limit=1)


def test_a_map_that_makes_no_sense_is_refused_in_a_sentence() -> None:
    wrong = {"a": {"url": "https://a.example/mcp", "fathom": {"search": {"tool": "x"}}}}
    with pytest.raises(BadInput, match=r"unexpected in fathom\.search\.arguments"):
        parse_servers(wrong)

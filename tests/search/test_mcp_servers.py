"""The file that names the MCP servers."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fathom.errors import BadInput
from fathom.search.engines.mcp import McpSearch
from fathom.search.mcp_servers import McpServer, load_servers, parse_servers
from fathom.search.wrappers import engine_key


def test_servers_are_started_or_reached_and_what_other_clients_add_is_not_minded(tmp_path: Path) -> None:
    started = {"command": "uvx", "args": ["library"], "env": {"KEY": "k"}, "cwd": "/srv", "autoApprove": []}
    reached = {"type": "http", "url": "https://lib.example/mcp", "headers": {"Authorization": "Bearer t"}}
    path = tmp_path / "mcp.json"
    content = {"mcpServers": {"도서관": started, "far": reached, "off": {"command": "x", "disabled": True}}}
    path.write_text(json.dumps(content), "utf-8-sig")
    assert load_servers(path) == {
        "도서관": McpServer("도서관", command="uvx", args=("library",), env={"KEY": "k"}, cwd="/srv"),
        "far": McpServer("far", url="https://lib.example/mcp", headers={"Authorization": "Bearer t"}),
    }


def test_the_mapping_alone_will_do() -> None:
    assert parse_servers({"a": {"command": "x"}}) == {"a": McpServer("a", command="x")}
    assert parse_servers({"servers": {"a": {"command": "x"}}}) == {"a": McpServer("a", command="x")}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "names no servers"),
        ('{"mcpServers": {}}', "names no servers"),
        ('{"mcpServers": {"a": {}}}', "'a' that needs either a command or a url"),
        ('{"a": {"command": "x", "url": "http://b.example"}}', "either a command or a url"),
        ('{"a": {"url": "ftp://b.example"}}', "does not start with http"),
        ('{"a": {"url": "http://b.example", "type": "sse"}}', "type 'sse'; known are stdio and http"),
        ('{"a": {"command": "x", "env": {"KEY": 12345678}}}', "something unexpected in env.KEY"),
        ('{"a": "x"}', "something unexpected in the whole entry"),
        ("{", "is not JSON"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(content)
    with pytest.raises(BadInput) as caught:
        load_servers(path)
    assert said in str(caught.value)
    assert "12345678" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.json cannot be read: No such file or directory\.$"):
        load_servers(tmp_path / "none.json")


def test_answers_of_a_server_are_not_taken_for_those_of_one_with_other_arguments() -> None:
    one, second = (
        McpServer("lib", command="serve", args=("--folder", place)) for place in ("a", "sk-secret")
    )
    assert engine_key(McpSearch(one)) != engine_key(McpSearch(second))
    assert engine_key(McpSearch(one)) == engine_key(McpSearch(replace(one)))
    assert "sk-secret" not in str(second.cache_parameters())

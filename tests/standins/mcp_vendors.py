"""MCP servers with the tools of Exa, Context7 and Grep.app: their names, arguments and forms of answers.

`python mcp_vendors.py exa|context7|grep`, over stdio. Nothing is really searched; the words are ours. The
tools and their arguments are those of https://github.com/exa-labs/exa-mcp-server,
https://github.com/upstash/context7 and https://mcp.grep.app.
"""

import sys
from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field

BODY = "The barrage has 24 turbines and makes 240 megawatts. " * 20
LIBRARIES = """Available Libraries:

- Title: Tideline
- Context7-compatible library ID: /ocean/tideline
- Description: Forecasts of tides,
  for Python.
- Code Snippets: 120
- Source Reputation: High
----------
- Title: Harbour
- Context7-compatible library ID: /ocean/harbour
- Description: Berths and cranes.
"""
CODE = """Repository: ocean/tideline
Path: tideline/forecast.py
URL: https://github.com/ocean/tideline/blob/main/tideline/forecast.py
License: MIT

Snippets:
--- Snippet 1 (Line 10) ---
def high_water(place):
    return forecast(place).peak
"""


def exa() -> MCPServer:
    """Exa: a search that brings texts, and a crawler."""
    server: MCPServer = MCPServer("exa", log_level="CRITICAL")

    @server.tool()
    async def web_search_exa(query: str, numResults: int = 8) -> str:  # noqa: N803 - Exa's name
        rows = [f"Title: Tides {n}\nURL: https://ocean.example/{n}\nText: {BODY}" for n in (1, 2, 3)]
        return "\n\n".join(rows[:numResults]) if query != "nothing" else "No search results found."

    @server.tool()
    async def crawling_exa(urls: list[str]) -> str:
        return f"# {urls[0]}\n\n{BODY}"

    return server


def context7() -> MCPServer:
    """Context7: a library by its name, then its documentation for a question."""
    server: MCPServer = MCPServer("context7", log_level="CRITICAL")

    @server.tool(name="resolve-library-id")
    async def resolve(query: str, libraryName: str) -> str:  # noqa: N803 - Context7's name
        return LIBRARIES if query and libraryName else "No libraries found."

    @server.tool(name="query-docs")
    async def query_docs(libraryId: str, query: str) -> str:  # noqa: N803 - Context7's name
        return f"### {libraryId}\n\nFor {query}: call `high_water(place)`.\n\n{BODY}"

    return server


def grep() -> MCPServer:
    """Grep.app: code of public repositories, one text a file."""
    server: MCPServer = MCPServer("grep", log_level="CRITICAL")

    @server.tool()
    async def searchGitHub(  # noqa: N802 - Grep.app's name
        query: str,
        matchCase: bool = False,  # noqa: N803 - Grep.app's names
        useRegexp: bool = False,  # noqa: N803
        repo: str = "",
        path: str = "",
        language: Annotated[list[str] | None, Field()] = None,
    ) -> list[str]:
        return [CODE, CODE.replace("forecast", "station")] if query != "nothing" else ["No results found"]

    return server


if __name__ == "__main__":
    {"exa": exa, "context7": context7, "grep": grep}[sys.argv[1]]().run("stdio")

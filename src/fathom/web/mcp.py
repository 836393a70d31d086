"""The MCP server over HTTP, beside the page and with its protections: `http://HOST:PORT/mcp`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from fathom.settings.settings import Settings
from fathom.web.page import PageApp
from fathom.web.protection import RateLimit

if TYPE_CHECKING:
    from starlette.applications import Starlette

PATH = "/mcp"


class McpApp:
    """The streamable HTTP transport; who may not use the page may not use it either."""

    def __init__(self, settings: Settings, page: PageApp) -> None:
        self._settings, self._page = settings, page
        self._transport: Starlette | None = None

    def routes(self) -> list[BaseRoute]:
        """Return the one route of the transport."""
        return [Route(PATH, self)]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer while this is open; the package is imported here, since the page does not need it."""
        from mcp.server.transport_security import TransportSecuritySettings

        from fathom.integrations.mcp_server import make_server

        rate = RateLimit(self._settings.runs_per_minute)
        server = make_server(self._settings, is_one_too_many=rate.is_exceeded)
        # Hosts and origins are checked by our own protection, for every route alike.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._transport = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
        async with server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        refusal = self._page.refusal(Request(scope, receive))
        if refusal is None and self._transport is not None:
            await self._transport(scope, receive, send)
        elif refusal is not None:
            await refusal(scope, receive, send)

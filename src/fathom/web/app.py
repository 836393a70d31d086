"""The applications: page and MCP server for `fathom serve`, and the page below /app for `langgraph dev`.

Both are protected alike. `langgraph dev` merges the second with its own routes.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from fathom.concurrency import limit_memory_arenas
from fathom.settings import Settings, load_settings
from fathom.web.page import PageApp, redirect
from fathom.web.protection import Protection, RateLimit

Part = Callable[[], AbstractAsyncContextManager[None]]
MCP_PATH = "/mcp"


def make_page_app(settings: Settings, *, by_workers: bool = False) -> Starlette:
    """Make the application that has the page at its root; its runs are worked on here, or `by_workers`."""
    page = PageApp(settings, by_workers=by_workers)
    mcp = McpApp(settings, page)
    return _make(settings, [page.open, mcp.open], [*mcp.routes(), *page.routes()])


def make_app() -> Starlette:
    """Make the application for `langgraph dev`, with what the operator allows."""
    limit_memory_arenas()
    settings = load_settings()
    page = PageApp(settings)
    return _make(settings, [page.open], [Route("/app", redirect), Mount("/app", routes=page.routes())])


def _make(settings: Settings, parts: Sequence[Part], routes: Sequence[BaseRoute]) -> Starlette:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for part in parts:
                await stack.enter_async_context(part())
            yield

    protection = Middleware(
        Protection,
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
        runs_per_minute=settings.runs_per_minute,
    )
    return Starlette(routes=routes, middleware=[protection], lifespan=lifespan)


class McpApp:
    """The MCP server over HTTP, beside the page: who may not use the page may not use it either."""

    def __init__(self, settings: Settings, page: PageApp) -> None:
        self._settings, self._page = settings, page
        self._transport: Starlette | None = None

    def routes(self) -> list[BaseRoute]:
        """Return the one route of the transport."""
        return [Route(MCP_PATH, self)]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answer while this is open; the package is imported here, since the page does not need it."""
        from mcp.server.transport_security import TransportSecuritySettings

        from fathom.integrations.mcp_server import make_server

        rate = RateLimit(self._settings.runs_per_minute)
        server = make_server(self._settings, is_one_too_many=rate.is_exceeded)
        # Hosts and origins are checked by our own protection, for every route alike.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._transport = server.streamable_http_app(
            streamable_http_path=MCP_PATH, transport_security=security
        )
        async with server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        refusal = self._page.refusal(Request(scope, receive))
        if refusal is None and self._transport is not None:
            await self._transport(scope, receive, send)
        elif refusal is not None:
            await refusal(scope, receive, send)


app = make_app()

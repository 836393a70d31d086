"""The applications: page and MCP server for `fathom serve`, and the page below /app for `langgraph dev`.

Both are protected alike. `langgraph dev` merges the second with its own routes.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount, Route

from fathom.settings.settings import Settings, load_settings
from fathom.web.mcp import McpApp
from fathom.web.page import PageApp, redirect
from fathom.web.protection import Protection

Part = Callable[[], AbstractAsyncContextManager[None]]


def make_page_app(settings: Settings, *, by_workers: bool = False) -> Starlette:
    """Make the application that has the page at its root; its runs are worked on here, or `by_workers`."""
    page = PageApp(settings, by_workers=by_workers)
    mcp = McpApp(settings, page)
    return _make(settings, [page.open, mcp.open], [*mcp.routes(), *page.routes()])


def make_app() -> Starlette:
    """Make the application for `langgraph dev`, with what the operator allows."""
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


app = make_app()

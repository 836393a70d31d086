"""The applications: the page alone, for `fathom serve`, and below /app for `langgraph dev`.

Both are protected alike. `langgraph dev` merges the second with its own routes.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount, Route

from fathom.settings.settings import Settings, load_settings
from fathom.web.page import PageApp, redirect
from fathom.web.protection import Protection


def make_page_app(settings: Settings) -> Starlette:
    """Make the application that has the page at its root."""
    page = PageApp(settings)
    return _make(settings, page, page.routes())


def make_app() -> Starlette:
    """Make the application for `langgraph dev`, with what the operator allows."""
    settings = load_settings()
    page = PageApp(settings)
    return _make(settings, page, [Route("/app", redirect), Mount("/app", routes=page.routes())])


def _make(settings: Settings, page: PageApp, routes: Sequence[BaseRoute]) -> Starlette:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with page.open():
            yield

    protection = Middleware(
        Protection,
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
        runs_per_minute=settings.runs_per_minute,
    )
    return Starlette(routes=routes, middleware=[protection], lifespan=lifespan)


app = make_app()

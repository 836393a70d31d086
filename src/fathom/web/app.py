"""The application that `langgraph dev` merges with its own: so far it only protects the native routes."""

from starlette.applications import Starlette
from starlette.middleware import Middleware

from fathom.settings.settings import load_settings
from fathom.web.protection import Protection


def make_app() -> Starlette:
    """Make the application with what the operator allows."""
    settings = load_settings()
    protection = Middleware(
        Protection,
        hosts=settings.allowed_hosts,
        origins=settings.allowed_origins,
        runs_per_minute=settings.runs_per_minute,
    )
    return Starlette(middleware=[protection])


app = make_app()

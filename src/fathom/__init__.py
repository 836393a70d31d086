"""Fathom: a deep-research agent whose every sentence leads back to a quotation in a source that was read.

The public names are loaded when they are first used, so that `fathom --help` stays quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fathom.errors import BadInput, FathomError, IllegalTransition, RunStopped
    from fathom.events import Progress
    from fathom.request import ResearchRequest
    from fathom.researcher import DeepResearcher
    from fathom.result import ResearchResult
    from fathom.runs.repository import RunLine
    from fathom.runs.views import ConversationThread, RunViews
    from fathom.session import Session
    from fathom.settings.settings import Settings
    from fathom.state import ReviewAnswer, RunConfig

_HOMES = {
    "BadInput": "errors",
    "ConversationThread": "runs.views",
    "DeepResearcher": "researcher",
    "FathomError": "errors",
    "IllegalTransition": "errors",
    "Progress": "events",
    "ResearchRequest": "request",
    "ResearchResult": "result",
    "ReviewAnswer": "state",
    "RunConfig": "state",
    "RunLine": "runs.repository",
    "RunStopped": "errors",
    "RunViews": "runs.views",
    "Session": "session",
    "Settings": "settings.settings",
}

__all__ = [
    "BadInput",
    "ConversationThread",
    "DeepResearcher",
    "FathomError",
    "IllegalTransition",
    "Progress",
    "ResearchRequest",
    "ResearchResult",
    "ReviewAnswer",
    "RunConfig",
    "RunLine",
    "RunStopped",
    "RunViews",
    "Session",
    "Settings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fathom' has no attribute {name!r}")
    return getattr(import_module(f"fathom.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)

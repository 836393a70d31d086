"""What is configured, what is missing, and what would be used.

Does not ask any server: it says what Fathom would do, without a key leaving this machine.
"""

import argparse
import os
from importlib.metadata import version
from pathlib import Path

from fathom.settings import Settings, load_settings


def doctor(_: argparse.Namespace) -> int:
    """Print the check-up; exit code 2 when runs could not be kept."""
    settings = load_settings()
    is_kept, kept = _home(settings)
    for title, words in [
        ("Fathom", version("fathom-research")),
        ("Database", kept),
        ("Model", _model(settings)),
        ("Local documents", "ready: name folders with --docs (no key, no network)"),
        ("Web search", _web(settings)),
        ("arXiv", f"ready at {settings.arxiv_url} (no key)"),
        ("With --docs", f"would search the documents and think with {_thinker(settings)}"),
        ("Without --docs", f"would search {_engine(settings)} and think with {_thinker(settings)}"),
    ]:
        print(f"{title:16} {words}")
    return 0 if is_kept else 2


def _home(settings: Settings) -> tuple[bool, str]:
    place = settings.home
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        return False, f"NOT WRITABLE: {settings.database} (set FATHOM_HOME to a folder you may write)"
    size = (
        f"{Path(settings.database).stat().st_size / 1e6:.1f} MB"
        if settings.database.exists()
        else "not made yet"
    )
    return True, f"{settings.database} ({size})"


def _model(settings: Settings) -> str:
    if not settings.has_model:
        return "none: set OPENAI_API_KEY, or FATHOM_BASE_URL for a server of your own"
    server = settings.base_url or "OpenAI"
    key = "key set" if settings.openai_api_key else "no key"
    return (
        f"{settings.model_for('write')} plans and writes, {settings.model_for('read')} reads; {server}, {key}"
    )


def _web(settings: Settings) -> str:
    if settings.tavily_api_key:
        return f"tavily at {settings.tavily_url}, key set"
    return "none: set TAVILY_API_KEY"


def _engine(settings: Settings) -> str:
    return "the web with tavily" if settings.tavily_api_key else "arXiv"


def _thinker(settings: Settings) -> str:
    return (
        settings.model_for("write") if settings.has_model else "no model: sentences are quoted, not written"
    )

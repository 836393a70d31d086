"""Every engine there is, made from settings: the one place to add a line for a new one.

Does not know which of them a run will ask.
"""

from pathlib import Path

from fathom.search.arxiv import Arxiv
from fathom.search.choice import choose
from fathom.search.engines import Engines
from fathom.search.local import LocalEngine
from fathom.search.patient import Patient
from fathom.search.port import Engine
from fathom.search.tavily import Tavily
from fathom.settings import Settings
from fathom.state import Knobs


def engines_for(settings: Settings, knobs: Knobs) -> Engines:
    """The engines of a run."""
    local = local_engine(settings, knobs)
    available: dict[str, Engine] = {"arxiv": Patient(Arxiv(base_url=settings.arxiv_url))}
    if settings.tavily_api_key:
        key = settings.tavily_api_key.get_secret_value()
        tavily = Tavily(key, base_url=settings.tavily_url, topic="news" if knobs.news else "general")
        available["tavily"] = Patient(tavily)
    if local:
        available["local"] = local
    return Engines(tuple(choose(knobs, available)), confessions=(local.losses,) if local else ())


def local_engine(settings: Settings, knobs: Knobs) -> LocalEngine | None:
    """The engine over the run's own documents, if it has any."""
    if not knobs.docs:
        return None
    return LocalEngine(tuple(roots_of(knobs)), settings.home / "index")


def roots_of(knobs: Knobs) -> list[Path]:
    """The folders and files of a run, in full."""
    return [Path(place).expanduser().resolve() for place in knobs.docs]

"""Which engines a run asks.

Does not know how an engine is made, or where its key comes from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from fathom.errors import BadInput
from fathom.search.port import Capability, Engine
from fathom.state import Knobs


@dataclass(frozen=True)
class Known:
    """What an engine is good for, and what it needs."""

    capabilities: frozenset[Capability]
    needs: str


KNOWN: Mapping[str, Known] = {
    "local": Known(frozenset({"local", "content"}), "folders or files to search (docs)"),
    "tavily": Known(frozenset({"web", "news", "content"}), "TAVILY_API_KEY"),
    "arxiv": Known(frozenset({"academic"}), "nothing, but it is switched off here"),
}


def choose(knobs: Knobs, available: Mapping[str, Engine]) -> list[Engine]:
    """The engines of a run, the preferred one first; BadInput says what is missing."""
    named = [_known(name) for name in knobs.engines]
    if knobs.docs:
        names = ["local", *named]
    elif named:
        names = named
    else:
        names = _by_itself(knobs, available)
    for name in names:
        if name not in available:
            raise BadInput(f"{name} needs {KNOWN[name].needs}.")
    return [available[name] for name in dict.fromkeys(names)]


def _by_itself(knobs: Knobs, available: Mapping[str, Engine]) -> list[str]:
    """The choice when nobody chose: papers if preferred, else the web, else what there is."""
    web = ["tavily"] if "tavily" in available else []
    return ["arxiv", *web] if knobs.academic else web or ["arxiv"]


def _known(name: str) -> str:
    word = name.strip().lower()
    if word in KNOWN:
        return word
    near = get_close_matches(word, KNOWN, n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise BadInput(f"There is no engine {name!r}; known are {', '.join(KNOWN)}.{guess}")

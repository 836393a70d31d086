"""Which engines a run asks, and which step in when those fail.

Does not know how an engine is made, or where its key comes from.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from fathom.errors import BadInput
from fathom.search.protocol import Capability
from fathom.state import RunConfig

HYBRID = "hybrid"


@dataclass(frozen=True)
class EngineInfo:
    """What an engine is good for, and what it needs; nothing, if it needs nothing."""

    capabilities: frozenset[Capability]
    needs: str = ""


def _engine_info(needs: str, *capabilities: Capability) -> EngineInfo:
    return EngineInfo(frozenset(capabilities), needs)


KNOWN_ENGINES: Mapping[str, EngineInfo] = {
    "local": _engine_info("folders or files to search (--docs)", "local", "content"),
    "tavily": _engine_info("TAVILY_API_KEY", "web", "news", "content"),
    "serper": _engine_info("SERPER_API_KEY", "web", "news", "academic"),
    "brave": _engine_info("BRAVE_API_KEY", "web", "news"),
    "exa": _engine_info("EXA_API_KEY", "web", "semantic", "content"),
    "google": _engine_info("GOOGLE_API_KEY and GOOGLE_CSE_ID", "web"),
    "searxng": _engine_info("SEARXNG_URL", "web", "news"),
    "model": _engine_info("OPENAI_API_KEY", "web"),
    "duckduckgo": _engine_info("", "web"),
    "wikipedia": _engine_info("", "web"),
    "semantic-scholar": _engine_info("", "academic"),
    "arxiv": _engine_info("", "academic"),
    "openalex": _engine_info("", "academic"),
    "pubmed": _engine_info("", "academic"),
    "crossref": _engine_info("", "academic"),
    "europe-pmc": _engine_info("", "academic"),
    "mcp": _engine_info("FATHOM_MCP_FILE", "web", "content"),
    "retriever": _engine_info("FATHOM_RETRIEVER", "content"),
}
# In order of preference: the first that is configured is asked, the next ones are spare.
_PAPERS = ("semantic-scholar", "arxiv", "openalex", "europe-pmc", "crossref")
_NEWS = ("tavily", "serper", "brave", "searxng")
_CHEAP = ("serper", "searxng", "brave", "tavily", "exa", "google")
_DEEP = ("tavily", "exa", "serper", "brave", "searxng", "google")
_KEYLESS = ("duckduckgo", "wikipedia")
_IN_HYBRID = ("tavily", "serper", "brave", "exa", "google", "searxng", "mcp", "retriever")


@dataclass(frozen=True)
class EngineChoice:
    """Names of the engines to ask at once, and of those to ask in turn if all of them fail."""

    asked: list[str]
    spare: list[str]


def choose_engines(run_config: RunConfig, available: Collection[str]) -> EngineChoice:
    """The engines of a run; BadInput says what is missing."""
    named = [resolve_engine_name(name) for name in run_config.engines]
    if HYBRID in named:
        named = [n for n in named if n != HYBRID] + [n for n in _IN_HYBRID if n in available]
        named = named or [n for n in _KEYLESS if n in available]
    if run_config.docs:
        return _checked_choice(["local", *named], [], available)
    if named:
        return _checked_choice(named, [], available)
    return _by_capability(run_config, available)


def _by_capability(run_config: RunConfig, available: Collection[str]) -> EngineChoice:
    """The choice when nobody chose: by what is wanted, then by cost."""
    asked: list[str] = []
    spare: list[str] = []
    if run_config.academic:
        papers = [n for n in _PAPERS if n in available]
        asked, spare = [*asked, *papers[:1]], [*spare, *papers[1:]]
    if run_config.news or not run_config.academic:
        order = _NEWS if run_config.news else _DEEP if run_config.depth == "comprehensive" else _CHEAP
        web = [n for n in order if n in available]
        keyless = [n for n in _KEYLESS if n in available]
        asked += web[:1] or keyless
        spare = [*web[1:], *(keyless if web else []), *spare]
    return _checked_choice(asked, spare, available)


def _checked_choice(asked: Sequence[str], spare: Sequence[str], available: Collection[str]) -> EngineChoice:
    for name in asked:
        if name not in available:
            raise BadInput(f"{name} needs {KNOWN_ENGINES[name].needs}.")
    if not asked:
        raise BadInput("No search engine is configured; fathom doctor says what is missing.")
    kept = list(dict.fromkeys(asked))
    return EngineChoice(kept, [n for n in dict.fromkeys(spare) if n not in kept])


def resolve_engine_name(name: str) -> str:
    """The engine meant by a word; one that nobody knows is refused with the nearest that is known."""
    word = name.strip().lower().replace("_", "-")
    if word in KNOWN_ENGINES or word == HYBRID:
        return word
    near = get_close_matches(word, [*KNOWN_ENGINES, HYBRID], n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise BadInput(f"There is no engine {name!r}; known are {', '.join([*KNOWN_ENGINES, HYBRID])}.{guess}")

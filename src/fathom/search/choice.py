"""Which engines a run asks, and which step in when those fail.

Does not know how an engine is made, or where its key comes from.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from fathom.errors import BadInput
from fathom.search.port import Capability
from fathom.state import RunConfig

HYBRID = "hybrid"


@dataclass(frozen=True)
class Known:
    """What an engine is good for, and what it needs; nothing, if it needs nothing."""

    capabilities: frozenset[Capability]
    needs: str = ""


def _known(needs: str, *capabilities: Capability) -> Known:
    return Known(frozenset(capabilities), needs)


KNOWN: Mapping[str, Known] = {
    "local": _known("folders or files to search (--docs)", "local", "content"),
    "tavily": _known("TAVILY_API_KEY", "web", "news", "content"),
    "serper": _known("SERPER_API_KEY", "web", "news", "academic"),
    "brave": _known("BRAVE_API_KEY", "web", "news"),
    "exa": _known("EXA_API_KEY", "web", "semantic", "content"),
    "google": _known("GOOGLE_API_KEY and GOOGLE_CSE_ID", "web"),
    "searxng": _known("SEARXNG_URL", "web", "news"),
    "model": _known("OPENAI_API_KEY", "web"),
    "duckduckgo": _known("", "web"),
    "wikipedia": _known("", "web"),
    "semantic-scholar": _known("", "academic"),
    "arxiv": _known("", "academic"),
    "openalex": _known("", "academic"),
    "pubmed": _known("", "academic"),
    "crossref": _known("", "academic"),
    "europe-pmc": _known("", "academic"),
    "mcp": _known("FATHOM_MCP_FILE", "web", "content"),
    "retriever": _known("FATHOM_RETRIEVER", "content"),
}
# In order of preference: the first that is configured is asked, the next ones are spare.
_PAPERS = ("semantic-scholar", "arxiv", "openalex", "europe-pmc", "crossref")
_NEWS = ("tavily", "serper", "brave", "searxng")
_CHEAP = ("serper", "searxng", "brave", "tavily", "exa", "google")
_DEEP = ("tavily", "exa", "serper", "brave", "searxng", "google")
_KEYLESS = ("duckduckgo", "wikipedia")
_IN_HYBRID = ("tavily", "serper", "brave", "exa", "google", "searxng", "mcp", "retriever")


@dataclass(frozen=True)
class Choice:
    """Names of the engines to ask at once, and of those to ask in turn if all of them fail."""

    asked: list[str]
    spare: list[str]


def choose(run_config: RunConfig, available: Collection[str]) -> Choice:
    """The engines of a run; BadInput says what is missing."""
    named = [known_name(name) for name in run_config.engines]
    if HYBRID in named:
        named = [n for n in named if n != HYBRID] + [n for n in _IN_HYBRID if n in available]
        named = named or [n for n in _KEYLESS if n in available]
    if run_config.docs:
        return _sure(["local", *named], [], available)
    if named:
        return _sure(named, [], available)
    return _by_capability(run_config, available)


def _by_capability(run_config: RunConfig, available: Collection[str]) -> Choice:
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
    return _sure(asked, spare, available)


def _sure(asked: Sequence[str], spare: Sequence[str], available: Collection[str]) -> Choice:
    for name in asked:
        if name not in available:
            raise BadInput(f"{name} needs {KNOWN[name].needs}.")
    if not asked:
        raise BadInput("No search engine is configured; fathom doctor says what is missing.")
    kept = list(dict.fromkeys(asked))
    return Choice(kept, [n for n in dict.fromkeys(spare) if n not in kept])


def known_name(name: str) -> str:
    """The engine meant by a word; one that nobody knows is refused with the nearest that is known."""
    word = name.strip().lower().replace("_", "-")
    if word in KNOWN or word == HYBRID:
        return word
    near = get_close_matches(word, [*KNOWN, HYBRID], n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise BadInput(f"There is no engine {name!r}; known are {', '.join([*KNOWN, HYBRID])}.{guess}")

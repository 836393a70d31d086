"""Every engine there is, made from settings.

Does not know which of them a run will ask. An engine's module is imported only when the run asks it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from fathom.budget.prices import load_prices
from fathom.http import RetryPolicy
from fathom.search import Scope, SearchEngine
from fathom.search.engines.local import LocalEngine
from fathom.search.federated import FederatedSearch, PaperCatalogue, search_slots
from fathom.search.local_index import ProgressCallback
from fathom.search.mcp_servers import McpServer, load_servers
from fathom.search.routing import KNOWN_ENGINES, choose_engines
from fathom.search.wrappers import CREDIT_PAUSE_S, VALID_S, MonitoredEngine, SearchCache, engine_key
from fathom.settings import Settings
from fathom.settings.model_names import OPENAI, split_name
from fathom.state import RunConfig
from fathom.storage import open_storage
from fathom.storage.content import Replies

# Module, class, and the settings that its constructor takes, by argument; one that is empty is left out.
_EngineRow = tuple[str, str, dict[str, str]]
# The engines that are another kind of search of a service: the service, and that kind.
_KINDS = {
    "google-scholar": ("serper", "scholar"),
    "serper-images": ("serper", "images"),
    "brave-images": ("brave", "images"),
    "searxng-images": ("searxng", "images"),
}
_REMOTE: dict[str, _EngineRow] = {
    "tavily": ("tavily", "Tavily", {"api_key": "tavily_api_key", "base_url": "tavily_url"}),
    "serper": ("serper", "Serper", {"api_key": "serper_api_key"}),
    "brave": ("brave", "Brave", {"api_key": "brave_api_key"}),
    "exa": ("exa", "Exa", {"api_key": "exa_api_key", "search_type": "exa_search_type"}),
    "google": ("google", "Google", {"api_key": "google_api_key", "engine_id": "google_cse_id"}),
    "searxng": ("searxng", "Searxng", {"base_url": "searxng_url"}),
    "duckduckgo": ("duckduckgo", "DuckDuckGo", {}),
    "wikipedia": ("wikipedia", "Wikipedia", {"contact": "contact"}),
    "semantic-scholar": ("semantic_scholar", "SemanticScholar", {"api_key": "semantic_scholar_api_key"}),
    "arxiv": ("arxiv", "Arxiv", {"base_url": "arxiv_url"}),
    "openalex": ("openalex", "OpenAlex", {"api_key": "openalex_api_key"}),
    "pubmed": ("pubmed", "PubMed", {"api_key": "ncbi_api_key", "contact": "contact"}),
    "crossref": ("crossref", "Crossref", {"contact": "contact"}),
    "europe-pmc": ("europe_pmc", "EuropePmc", {}),
}
_ASIDE_S = 10.0  # for what a search can do without
_SEARCHING_MODEL = "gpt-4.1"  # of OpenAI, when the models that think are of somebody else
# These send their requests through `api_client`, which pays for each of them.
_PAID_PER_REQUEST = {"model", *_REMOTE, *_KINDS} - {"tavily", "duckduckgo"}
# Without these an engine cannot be asked at all; the rest of the settings only make it better.
_NEEDED = {name: tuple(row[2].values()) for name, row in _REMOTE.items() if KNOWN_ENGINES[name].needs}
_NEEDED |= {"model": ("openai_api_key",), "mcp": ("mcp_file",), "retriever": ("retriever",)}


def engines_for(settings: Settings, run_config: RunConfig) -> FederatedSearch:
    """The engines of a run: asked at once, or spare."""
    choice = choose_engines(run_config, available_engines(settings, run_config))
    asked = [engine for name in choice.asked for engine in _make_engines(name, settings, run_config)]
    spare = [engine for name in choice.spare for engine in _make_engines(name, settings, run_config)]
    extra = [engine for name in choice.specialists for engine in _make_engines(name, settings, run_config)]
    everybody = list({engine.name: engine for engine in [*asked, *spare, *extra]}.values())
    return FederatedSearch(
        engines=tuple(asked),
        failure_reports=tuple(engine.failures for engine in asked if isinstance(engine, LocalEngine)),
        spare=tuple(spare),
        specialists=tuple(extra),
        is_academic=run_config.academic,
        max_papers=run_config.papers,
        catalogue=_make_catalogue(settings),
        scope=_make_scope(run_config),
        places=search_slots(settings.parallel_searches),
        prices={
            e.name: partial(_usd, e) for e in everybody if isinstance(e, MonitoredEngine) and _is_paid(e)
        },
        cache=_make_cache(settings, run_config, everybody),
    )


def available_engines(settings: Settings, run_config: RunConfig) -> set[str]:
    """The engines that have what they need."""
    ready = set(_REMOTE) | set(_NEEDED)
    ready -= {name for name, needed in _NEEDED.items() if not all(getattr(settings, n) for n in needed)}
    ready |= {name for name, (service, _) in _KINDS.items() if service in ready}
    return ready | {"local"} if run_config.docs else ready


def _make_engines(name: str, settings: Settings, run_config: RunConfig) -> list[SearchEngine]:
    """The engine of that name; one for each server where there may be several."""
    if name == "local":
        engine = local_engine(settings, run_config)
        return [engine] if engine else []
    bare = (
        _SPECIAL[name](settings, run_config)
        if name in _SPECIAL
        else [_make_remote(name, settings, run_config)]
    )
    prices = load_prices(settings.prices_file, settings.home)
    return [_wrap_engine(engine, prices.engines.get(name)) for engine in bare]


def _make_cache(settings: Settings, run_config: RunConfig, engines: Sequence[SearchEngine]) -> SearchCache:
    """Answered searches of the web; one's own documents may have changed since."""
    is_shared = run_config.reuse and not run_config.fresh
    keys = {e.name: e.cache_key for e in engines if isinstance(e, MonitoredEngine) and e.name != "retriever"}
    return SearchCache(Replies(open_storage(settings.database), is_shared=is_shared, max_age_s=VALID_S), keys)


def _wrap_engine(engine: SearchEngine, usd: float | None) -> MonitoredEngine:
    """The engine with its own price, or with the one a person gave, or with that of its tokens too."""
    own = getattr(engine, "usd_per_call", 0.0) if usd is None else usd
    return MonitoredEngine(
        engine,
        policy=RetryPolicy(),
        is_charged_here=engine.name not in _PAID_PER_REQUEST,
        pause_s=getattr(engine, "pause_s", 0.0),
        usd_per_call=getattr(engine, "usual_usd", own),
        units=getattr(engine, "units", lambda _: 1.0),
        cache_key=engine_key(engine),
        ask_credit=getattr(engine, "credit_left", None),
        credit_pause_s=getattr(engine, "credit_pause_s", CREDIT_PAUSE_S),
    )


def _is_paid(engine: MonitoredEngine) -> bool:
    """Whether asking it costs money; a model that searches takes tokens, also where searching is free."""
    return bool(engine.usd_per_call) or engine.name == "model"


def _usd(engine: MonitoredEngine, limit: int) -> float:
    return engine.usd_per_call * engine.units(limit)


def _make_remote(name: str, settings: Settings, run_config: RunConfig) -> SearchEngine:
    service, kind = _KINDS.get(name, (name, ""))
    module, class_name, arguments = _REMOTE[service]
    made = getattr(import_module(f"fathom.search.engines.{module}"), class_name)
    words = {argument: _reveal_secret(getattr(settings, setting)) for argument, setting in arguments.items()}
    address = settings.engine_urls.get(name) or settings.engine_urls.get(service)
    words |= {"base_url": address} if address else {}
    words |= _run_words(service, settings, run_config)
    if kind:
        words |= {"kind": kind, "name": name, "capabilities": KNOWN_ENGINES[name].capabilities}
    fields = made.__dataclass_fields__
    engine: SearchEngine = made(**{k: v for k, v in words.items() if v is not None and k in fields})
    return engine


def _run_words(service: str, settings: Settings, run_config: RunConfig) -> dict[str, Any]:
    """What a run wants of an engine; each takes of it what it knows."""
    is_deep = run_config.is_deep_search and not run_config.fresh
    is_scholar = run_config.academic and service == "serper"
    return {
        "scope": _make_scope(run_config),
        "topic": "news" if run_config.news else None,
        "kind": "news" if run_config.news else "scholar" if is_scholar else None,
        "categories": tuple(run_config.arxiv_categories),
        "has_tldrs": run_config.tldrs,
        "has_images": run_config.images,
        "is_deep": is_deep,
        "texts": open_storage(settings.database).pages if is_deep else None,
    }


def _make_catalogue(settings: Settings) -> PaperCatalogue:
    """Who is asked about papers beyond a search. OpenAlex without the key, so that nobody is charged."""
    from fathom.search.engines.crossref import Crossref
    from fathom.search.engines.openalex import OpenAlex
    from fathom.search.engines.semantic_scholar import SemanticScholar

    def address(name: str) -> dict[str, str]:
        return {"base_url": settings.engine_urls[name]} if name in settings.engine_urls else {}

    key = _reveal_secret(settings.semantic_scholar_api_key) or ""
    scholar = SemanticScholar(key, timeout_s=_ASIDE_S, **address("semantic-scholar"))  # type: ignore[arg-type]
    openalex = OpenAlex(timeout_s=_ASIDE_S, **address("openalex"))  # type: ignore[arg-type]
    crossref = Crossref(settings.contact or "", timeout_s=_ASIDE_S, **address("crossref"))  # type: ignore[arg-type]
    checks = {"crossref": crossref.retracted, "openalex": openalex.retracted}
    return PaperCatalogue((scholar, openalex), checks)


def _reveal_secret(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _make_scope(run_config: RunConfig) -> Scope:
    return Scope(
        include_domains=tuple(run_config.include_domains),
        exclude_domains=tuple(run_config.exclude_domains),
        since=date.fromisoformat(run_config.since) if run_config.since else None,
        until=date.fromisoformat(run_config.until) if run_config.until else None,
        language=run_config.source_language,
    )


def _make_model_search(settings: Settings, run_config: RunConfig) -> list[SearchEngine]:
    from fathom.search.engines.model_search import ModelSearch

    provider, named = split_name(settings.model_for("plan", run_config.model_of("plan")))
    name, server = named if provider == "openai" else _SEARCHING_MODEL, settings.base_url or OPENAI
    prices = load_prices(settings.prices_file, settings.home)
    key = _reveal_secret(settings.openai_api_key)
    made = ModelSearch(
        key,
        name,
        base_url=server,
        scope=_make_scope(run_config),
        prices=prices,
        most_out=settings.max_answer_tokens,
    )
    return [replace(made, usd_per_call=prices.engines.get("model", made.usd_per_call))]


def _make_mcp(settings: Settings, run_config: RunConfig) -> list[SearchEngine]:
    from fathom.search.engines.mcp import McpSearch

    texts = None if run_config.fresh else open_storage(settings.database).pages
    servers = mcp_servers(settings).items()
    return [McpSearch(server, name=f"mcp:{name}", texts=texts) for name, server in servers]


def mcp_servers(settings: Settings) -> dict[str, McpServer]:
    """The MCP servers that the operator named."""
    return load_servers(settings.mcp_file) if settings.mcp_file else {}


def _make_retriever(settings: Settings, run_config: RunConfig) -> list[SearchEngine]:
    from fathom.search.engines.retriever import RetrieverSearch

    assert settings.retriever
    roots = tuple(document_roots(run_config))
    return [
        RetrieverSearch(
            settings.retriever,
            settings.retriever_arguments,
            open_storage(settings.database).pages,
            roots=roots,
        )
    ]


_SPECIAL: dict[str, Callable[[Settings, RunConfig], list[SearchEngine]]] = {
    "model": _make_model_search,
    "mcp": _make_mcp,
    "retriever": _make_retriever,
}


def local_engine(
    settings: Settings, run_config: RunConfig, progress: ProgressCallback | None = None
) -> LocalEngine | None:
    """The engine over the run's own documents, if it has any; `progress` hears how far reading them is."""
    if not run_config.docs:
        return None
    return LocalEngine(tuple(document_roots(run_config)), settings.home / "index", progress=progress)


def document_roots(run_config: RunConfig) -> list[Path]:
    """The folders and files of a run, in full."""
    return [Path(place).expanduser().resolve() for place in run_config.docs]

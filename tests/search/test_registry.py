"""Every engine in the table can be made from settings, and needs what it says."""

from pathlib import Path

import pytest

from fathom.errors import BadInput
from fathom.search.engines import available_engines, engines_for
from fathom.search.federated import FederatedSearch
from fathom.search.routing import KNOWN_ENGINES
from fathom.search.wrappers import MonitoredEngine
from fathom.settings import Settings, load_settings
from fathom.state import RunConfig

KEYS = dict.fromkeys(
    """tavily_api_key serper_api_key brave_api_key exa_api_key google_api_key google_cse_id openai_api_key
    semantic_scholar_api_key openalex_api_key ncbi_api_key""".split(),  # noqa: SIM905
    "word",
)
REMOTE = sorted(set(KNOWN_ENGINES) - {"local", "mcp", "retriever"})


def full() -> Settings:
    return load_settings(**KEYS, searxng_url="http://127.0.0.1:1", contact="me@example.org")


def names(engines: FederatedSearch) -> list[str]:
    return [engine.name for engine in engines.engines]


@pytest.mark.parametrize("name", REMOTE)
def test_every_engine_can_be_made_and_keeps_its_name(name: str) -> None:
    engines = engines_for(
        full(), RunConfig(engines=[name], since="2024-01-01", include_domains=["a.example"])
    )
    assert names(engines) == [name]
    assert isinstance(engines.engines[0], MonitoredEngine)
    assert engines.engines[0].capabilities <= KNOWN_ENGINES[name].capabilities | {"semantic", "content"}


@pytest.mark.parametrize("name", [name for name in REMOTE if KNOWN_ENGINES[name].needs])
def test_what_an_engine_needs_is_asked_for(name: str) -> None:
    with pytest.raises(BadInput, match=f"{name} needs "):
        engines_for(load_settings(), RunConfig(engines=[name]))


def test_without_keys_the_keyless_ones_are_there(tmp_path: Path) -> None:
    found = available_engines(load_settings(), RunConfig())
    assert found == {name for name, known in KNOWN_ENGINES.items() if not known.needs}
    assert available_engines(load_settings(), RunConfig(docs=[str(tmp_path)])) == found | {"local"}


def test_prices_are_known_for_engines_that_cost() -> None:
    engines = engines_for(full(), RunConfig(engines=["serper", "arxiv"]))
    assert 0 < engines.prices["serper"](10) < engines.prices["serper"](11) < 0.1
    assert "arxiv" not in engines.prices


def test_another_address_can_be_named_for_any_engine() -> None:
    settings = load_settings(engine_urls={"crossref": "http://127.0.0.1:9"})
    watched = engines_for(settings, RunConfig(engines=["crossref"])).engines[0]
    assert "127.0.0.1:9" in repr(watched)

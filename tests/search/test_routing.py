"""Which engines a run asks: named, by what is wanted, by cost, with others to step in."""

import pytest

from fathom.errors import BadInput
from fathom.search.routing import KNOWN_ENGINES, choose_engines
from fathom.state import RunConfig

KEYLESS = {name for name, known in KNOWN_ENGINES.items() if not known.needs}
ALL = set(KNOWN_ENGINES)


@pytest.mark.parametrize(
    ("run_config", "asked"),
    [
        (RunConfig(), ["serper"]),
        (RunConfig(depth="comprehensive"), ["tavily"]),
        (RunConfig(academic=True), ["semantic-scholar"]),
        (RunConfig(news=True), ["tavily"]),
        (RunConfig(news=True, academic=True), ["semantic-scholar", "tavily"]),
        (RunConfig(docs=["notes"]), ["local"]),
        (RunConfig(docs=["notes"], engines=["brave"]), ["local", "brave"]),
        (RunConfig(engines=["arxiv", "GOOGLE", "arxiv"]), ["arxiv", "google"]),
        (RunConfig(engines=["europe_pmc"]), ["europe-pmc"]),
    ],
)
def test_the_engine_fits_what_is_wanted_and_the_users_word_counts_most(
    run_config: RunConfig, asked: list[str]
) -> None:
    assert choose_engines(run_config, ALL).asked == asked


def test_others_step_in_and_never_the_same_twice() -> None:
    choice = choose_engines(RunConfig(), ALL)
    assert choice.spare[:2] == ["searxng", "brave"]
    assert choice.spare[-2:] == ["duckduckgo", "wikipedia"]
    assert not set(choice.asked) & set(choice.spare)
    assert choose_engines(RunConfig(academic=True), KEYLESS).spare == [
        "arxiv",
        "openalex",
        "europe-pmc",
        "crossref",
    ]


def test_a_named_engine_is_replaced_only_by_others_of_its_kind() -> None:
    assert choose_engines(RunConfig(engines=["brave"]), KEYLESS | {"brave", "serper"}).spare == [
        "serper",
        "duckduckgo",
        "wikipedia",
    ]
    assert choose_engines(RunConfig(engines=["arxiv"]), ALL).spare[:2] == ["semantic-scholar", "openalex"]
    images = choose_engines(RunConfig(engines=["serper-images"]), ALL)
    assert images.spare == ["brave-images", "searxng-images"]
    assert choose_engines(RunConfig(docs=["notes"]), ALL).spare == []
    assert choose_engines(RunConfig(engines=["brave"], fallback=False), ALL).spare == []


def test_images_are_looked_for_where_an_engine_offers_them() -> None:
    assert choose_engines(RunConfig(images=True), KEYLESS | {"brave", "brave-images"}).asked == [
        "brave",
        "brave-images",
    ]
    assert choose_engines(RunConfig(images=True), KEYLESS).asked == ["duckduckgo", "wikipedia"]


def test_catalogues_know_subjects_and_are_at_hand_unless_engines_were_named() -> None:
    known = choose_engines(RunConfig(academic=True), ALL).specialists
    assert known == ["pubmed", "arxiv", "openalex", "google-scholar"]
    assert choose_engines(RunConfig(academic=True), KEYLESS).specialists == ["pubmed", "arxiv", "openalex"]
    assert choose_engines(RunConfig(engines=["arxiv"]), ALL).specialists == []
    assert choose_engines(RunConfig(news=True), ALL).specialists == []


def test_without_any_key_keyless_engines_serve() -> None:
    assert choose_engines(RunConfig(), KEYLESS).asked == ["duckduckgo", "wikipedia"]
    assert choose_engines(RunConfig(news=True), KEYLESS).asked == ["duckduckgo", "wikipedia"]
    assert choose_engines(RunConfig(academic=True), KEYLESS).asked == ["semantic-scholar"]


def test_hybrid_asks_all_that_are_configured() -> None:
    assert choose_engines(RunConfig(engines=["hybrid"]), KEYLESS | {"exa", "model"}).asked == ["exa", "model"]
    assert choose_engines(RunConfig(engines=["hybrid"]), KEYLESS | {"exa", "tavily"}).asked == [
        "tavily",
        "exa",
    ]
    assert choose_engines(RunConfig(engines=["hybrid", "arxiv"]), KEYLESS | {"exa"}).asked == ["arxiv", "exa"]
    assert choose_engines(RunConfig(engines=["hybrid"]), KEYLESS).asked == ["duckduckgo", "wikipedia"]


@pytest.mark.parametrize(
    ("run_config", "sentence"),
    [
        (
            RunConfig(engines=["tavliy"]),
            "There is no engine 'tavliy'; known are local, .* Did you mean tavily?",
        ),
        (RunConfig(engines=["zzz"]), "There is no engine 'zzz'; known are .*hybrid\\.$"),
        (RunConfig(engines=["tavily"]), "tavily needs TAVILY_API_KEY"),
        (RunConfig(engines=["google"]), "google needs GOOGLE_API_KEY and GOOGLE_CSE_ID"),
        (RunConfig(engines=["local"]), "local needs folders or files"),
    ],
)
def test_what_is_not_there_is_said_with_what_to_do(run_config: RunConfig, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        choose_engines(run_config, KEYLESS)


def test_with_nothing_at_all_the_run_does_not_start() -> None:
    with pytest.raises(BadInput, match="fathom doctor"):
        choose_engines(RunConfig(), set())

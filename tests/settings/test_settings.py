"""Who is heard first, what is refused, and what is never shown."""

from pathlib import Path
from typing import Any

import pytest

from fathom.errors import BadInput
from fathom.request import ResearchRequest
from fathom.settings import Settings, load_settings
from fathom.state import RunConfig

KEY = "sk-very-secret-1234"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder of one's own, so that no `.env` of this machine is read."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_caller_beats_the_environment_beats_the_files(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load_settings().model is None
    (here / "fathom.toml").write_text('model = "from-toml"\nsmall_model = "toml-small"\n')
    assert load_settings().model == "from-toml"
    (here / ".env").write_text("FATHOM_MODEL=from-dotenv\n")
    assert load_settings().model == "from-dotenv"
    monkeypatch.setenv("FATHOM_MODEL", "from-environment")
    assert load_settings().model == "from-environment"
    assert load_settings(model="from-caller").model == "from-caller"
    assert load_settings(model=None).model == "from-environment"
    assert load_settings().small_model == "toml-small"


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "FATHOM_OPENAI_API_KEY"])
def test_a_key_is_heard_under_both_names_and_never_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    settings = load_settings()
    assert settings.has_model
    assert settings.openai_api_key is not None
    assert settings.openai_api_key.get_secret_value() == KEY
    for shown in (repr(settings), str(settings), settings.model_dump_json(), f"{settings.model_dump()}"):
        assert KEY not in shown


def test_our_own_name_beats_the_common_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("FATHOM_BASE_URL", "http://127.0.0.1:2/v1/")
    assert load_settings().base_url == "http://127.0.0.1:2/v1"


@pytest.mark.parametrize("empty", ["", "   "])
def test_an_empty_key_is_no_key(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", empty)
    monkeypatch.setenv("OPENAI_BASE_URL", "")
    settings = load_settings()
    assert settings.openai_api_key is None
    assert not settings.has_model


@pytest.mark.parametrize(
    "address",
    [
        "localhost:80",
        "ftp://a.example",
        "http://",
        "http://me:pass@a.example/v1",
        "http://[broken",
        "nonsense",
    ],
)
def test_an_address_that_is_no_server_is_refused_in_one_sentence(address: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_settings(base_url=address)
    said = str(caught.value)
    assert said.startswith("The setting base_url is not usable:")
    assert said.endswith(".")
    assert "\n" not in said
    assert "pass@" not in said


def test_a_number_off_its_limits_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_CALL_RETRIES", "99")
    with pytest.raises(BadInput, match="call_retries is not usable"):
        load_settings()


def test_a_bad_value_beside_a_key_does_not_show_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(BadInput) as caught:
        load_settings(base_url="nonsense")
    assert KEY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_large_roles_and_small_roles_have_their_models() -> None:
    assert Settings().model_for("plan") == "gpt-4.1"
    assert Settings().model_for("read") == "gpt-4.1-mini"
    one = Settings(model="big")
    assert {one.model_for(role) for role in ("plan", "write", "read", "check")} == {"big"}
    two = Settings(model="big", small_model="small", models={"judge": "wise"})
    assert [two.model_for(r) for r in ("outline", "verify", "judge")] == ["big", "small", "wise"]
    assert two.model_for("judge", "named") == "named"


def test_roles_can_be_set_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FATHOM_MODELS", '{"judge": "wise"}')
    assert load_settings().model_for("judge") == "wise"
    monkeypatch.setenv("FATHOM_MODELS", '{"cook": "x"}')
    with pytest.raises(BadInput, match=r"models\.cook"):
        load_settings()


def test_a_caller_whose_word_counts_adds_to_what_is_allowed() -> None:
    settings = Settings(base_url="http://127.0.0.1:1/v1")
    admitted = settings.with_allowed(RunConfig(docs=["notes"], base_url="http://127.0.0.1:2/v1"))
    assert admitted.docs_roots == [Path(), Path("notes")]
    assert admitted.base_url == "http://127.0.0.1:2/v1"
    assert settings.docs_roots == [Path()]
    assert settings.with_allowed(RunConfig()).base_url == settings.base_url


def test_the_home_is_absolute_and_holds_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().database == tmp_path / "fathom.sqlite"
    assert load_settings(home="sub").home == tmp_path / "sub"
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert load_settings(home="~/x").home == tmp_path / "me" / "x"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('modle = "x"', "fathom.toml sets modle, which is no setting; did you mean model?"),
        ('FATHOM_MODEL = "x"', "fathom.toml sets FATHOM_MODEL, which is no setting; did you mean model?"),
        ("zzzz = 1", "fathom.toml sets zzzz, which is no setting."),
        ("rounds = 3", "fathom.toml sets rounds in the wrong place: it belongs below [run]."),
        ('[run]\nmodel = "x"', "fathom.toml sets model in the wrong place: it belongs above [run]."),
        ("[run]\nround = 3", "fathom.toml sets round, which is no setting; did you mean rounds?"),
        ("[run]\nbudgets = 3", "fathom.toml sets budgets, which is no setting; did you mean budget?"),
        (
            "[run]\ntime-limit = 3",
            "fathom.toml sets time-limit, which is no setting; did you mean time_limit_s?",
        ),
        ("run = 3", "In fathom.toml, run is a table: write [run] and the settings of a run below it."),
        ("call_retries = = 3", "The settings cannot be read: "),
    ],
)
def test_a_file_with_a_name_nobody_knows_is_refused_with_the_nearest(
    here: Path, text: str, sentence: str
) -> None:
    (here / "fathom.toml").write_text(text)
    with pytest.raises(BadInput) as caught:
        load_settings()
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize("place", ["environment", ".env"])
@pytest.mark.parametrize(
    ("variable", "near"),
    [("FATHOM_MODLE", "FATHOM_MODEL"), ("FATHOM_BUDGETS", "FATHOM_BUDGET"), ("FATHOM_QQQQQQ", "")],
)
def test_a_variable_of_ours_that_nobody_knows_is_refused_with_the_nearest(
    here: Path, place: str, variable: str, near: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place == ".env":
        (here / ".env").write_text(f"{variable}=x\nSOMEBODY_ELSES=y\n")
    else:
        monkeypatch.setenv(variable, "x")
    with pytest.raises(BadInput) as caught:
        load_settings()
    told = f"{variable} is no setting of Fathom{f'; did you mean {near}?' if near else '.'}"
    assert str(caught.value).removeprefix(".env: ") == told


def test_a_secret_in_the_file_is_refused_and_not_shown(here: Path) -> None:
    (here / "fathom.toml").write_text(f'tavily_api_key = "{KEY}"')
    with pytest.raises(BadInput, match=r"fathom\.toml holds a secret, tavily_api_key") as caught:
        load_settings()
    assert KEY not in str(caught.value)


def test_a_bad_value_is_told_with_the_place_where_it_stands(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "fathom.toml").write_text("[run]\nrounds = 0\n")
    with pytest.raises(
        BadInput, match=r"run\.rounds is not usable: .*equal to 1 \(set in .*fathom\.toml\)\."
    ):
        load_settings()
    monkeypatch.setenv("FATHOM_ROUNDS", "many")
    with pytest.raises(BadInput, match=r"run\.rounds is not usable: .* \(set in FATHOM_ROUNDS\)\."):
        load_settings()


def test_what_is_usual_for_runs_can_be_set_in_the_file_and_the_environment(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "fathom.toml").write_text(
        'small_model = "s"\nparallel_searches = 2\n[run]\ndepth = "standard"\nbudget_usd = 0.5\n'
        'engines = ["tavily"]\nacademic = true\n'
    )
    (here / ".env").write_text("FATHOM_THRESHOLD=0.7\nFATHOM_ROUNDS=\nFATHOM_SOURCES=4\n")
    monkeypatch.setenv("FATHOM_ENGINES", "arxiv, openalex")
    monkeypatch.setenv("FATHOM_PARALLEL_EXTRACTIONS", "3")
    settings = load_settings()
    assert (settings.parallel_searches, settings.parallel_extractions, settings.small_model) == (2, 3, "s")
    assert settings.run == RunConfig(
        depth="standard",
        budget_usd=0.5,
        engines=["arxiv", "openalex"],
        threshold=0.7,
        sources=4,
        academic=True,
    )


def test_a_run_has_what_is_usual_unless_it_says_otherwise(here: Path) -> None:
    (here / "fathom.toml").write_text('[run]\nrounds = 2\nengines = ["arxiv"]\nreview = "plan"\nlevels = 4\n')
    settings = load_settings()
    silent = ResearchRequest(query="What?").run_config(settings.run)
    assert (silent.rounds, silent.engines, silent.review, silent.levels) == (2, ["arxiv"], "plan", 4)
    spoken = ResearchRequest(query="What?", max_rounds=5, review="off", providers=[]).run_config(settings.run)
    assert (spoken.rounds, spoken.engines, spoken.review) == (5, [], "off")
    # The graph itself, as a server serves it.
    assert settings.usual(RunConfig()).rounds == 2
    assert settings.usual(RunConfig(rounds=7)).rounds == 7
    assert settings.usual(silent) == silent


def test_what_is_usual_and_what_is_said_must_go_together(here: Path) -> None:
    (here / "fathom.toml").write_text('[run]\nstrategy = "tree"\n')
    with pytest.raises(BadInput, match="--endless is a loop"):
        ResearchRequest(query="What?", endless=True).run_config(load_settings().run)


def test_a_variable_set_to_nothing_takes_back_what_the_files_say(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "fathom.toml").write_text('model = "m"\n')
    (here / ".env").write_text("OPENAI_API_KEY=sk-1\nFATHOM_MODEL=\n")
    assert load_settings().model == "m"
    assert load_settings().openai_api_key is not None
    monkeypatch.setenv("FATHOM_MODEL", "")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert load_settings().model is None
    assert load_settings().openai_api_key is None


def test_a_setting_nobody_knows_is_no_word_of_a_caller_either() -> None:
    with pytest.raises(BadInput, match="modle"):
        load_settings(modle="x")


@pytest.mark.parametrize("depth", [7, "comprehensive"])
def test_a_depth_that_is_said_takes_back_the_rounds_and_pages_that_are_usual(depth: Any) -> None:
    usual = RunConfig(rounds=2, sources=3, levels=4, threshold=0.5)
    run_config = ResearchRequest(query="What?", depth=depth).run_config(usual)
    assert (run_config.rounds, run_config.sources) == ((1, 7) if depth == 7 else (None, None))
    assert (run_config.levels, run_config.threshold) == (None, 0.5)


def test_older_names_are_known_in_the_file_and_as_variables(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "fathom.toml").write_text('[run]\nsearch = "arxiv, exa"\nbudget = 0.5\nmax_rounds = 2\n')
    assert load_settings().run == RunConfig(engines=["arxiv", "exa"], budget_usd=0.5, rounds=2)
    monkeypatch.setenv("FATHOM_SEARCH", "tavily")
    monkeypatch.setenv("FATHOM_MAX_ROUNDS", "3")
    assert (load_settings().run.engines, load_settings().run.rounds) == (["tavily"], 3)
    monkeypatch.setenv("FATHOM_ROUNDS", "4")
    assert load_settings().run.rounds == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mine.toml", 'model = "m"\n[run]\nrounds = 2\n'),
        ("mine.json", '{"model": "m", "run": {"rounds": 2}}'),
    ],
)
def test_a_settings_file_can_be_named_instead(
    here: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    (here / "fathom.toml").write_text('small_model = "s"\n')
    (here / name).write_text(text)
    named = load_settings(here / name)
    assert (named.model, named.small_model, named.run.rounds) == ("m", None, 2)
    assert load_settings().small_model == "s"
    monkeypatch.setenv("FATHOM_CONFIG", str(here / name))
    assert load_settings().model == "m"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("gone.toml", None, "There is no settings file "),
        ("odd.json", "[1]", "The settings cannot be read: "),
        ("odd.json", "{", "The settings cannot be read: "),
        ("odd.json", '{"modle": 1}', "odd.json sets modle, which is no setting; did you mean model?"),
    ],
)
def test_a_named_file_that_is_none_is_one_sentence(
    here: Path, name: str, text: str | None, sentence: str
) -> None:
    if text is not None:
        (here / name).write_text(text)
    with pytest.raises(BadInput) as caught:
        load_settings(here / name)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)

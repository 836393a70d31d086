"""Who is heard first, what is refused, and what is never shown."""

from pathlib import Path

import pytest

from fathom.errors import BadInput
from fathom.settings import Settings, load_settings
from fathom.state import Knobs

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
    admitted = settings.admitting(Knobs(docs=["notes"], base_url="http://127.0.0.1:2/v1"))
    assert admitted.docs_roots == [Path(), Path("notes")]
    assert admitted.base_url == "http://127.0.0.1:2/v1"
    assert settings.docs_roots == [Path()]
    assert settings.admitting(Knobs()).base_url == settings.base_url


def test_the_home_is_absolute_and_holds_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().database == tmp_path / "fathom.sqlite"
    assert load_settings(home="sub").home == tmp_path / "sub"
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert load_settings(home="~/x").home == tmp_path / "me" / "x"

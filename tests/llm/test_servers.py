"""Model servers on this machine are found, quickly, by their documented lists, and only they."""

from pathlib import Path

import pytest
from standins import local_servers as standins
from standins.local_servers import llama_cpp, lm_studio, ollama, vllm
from standins.server import Answer, closed_port, deaf_port, json_answer

from fathom.errors import BadInput
from fathom.llm.servers import (
    CHOICE_FILE,
    PROBE_TIMEOUT_S,
    ChosenModel,
    find_local_models,
    load_choice,
    save_choice,
)
from fathom.settings import LOCAL_SERVERS, LocalServer, load_settings

pytestmark = pytest.mark.wire


async def test_each_program_is_found_with_its_models_for_chats() -> None:
    with ollama() as one, lm_studio() as two, llama_cpp() as three, vllm() as four:
        servers: dict[LocalServer, str] = {
            "ollama": one.url,
            "lmstudio": two.url,
            "llamacpp": three.url,
            "vllm": four.url,
        }
        found = await find_local_models(servers)
    assert [(model.server, model.choice.model, model.choice.base_url) for model in found] == [
        ("Ollama", "llama3.1:latest", f"{one.url}/v1"),
        ("LM Studio", "qwen2.5-7b-instruct", f"{two.url}/v1"),
        ("llama.cpp", "smollm2", f"{three.url}/v1"),
        ("vLLM", "Qwen/Qwen3-8B", f"{four.url}/v1"),
    ]
    assert all(len(server.records) == 1 for server in (one, two, three, four))
    assert not any("authorization" in seen.headers for seen in (*one.records, *four.records))


def test_ollama_at_its_usual_port_is_named_by_its_provider() -> None:
    from fathom.llm.servers import _choice

    assert _choice("ollama", LOCAL_SERVERS["ollama"], "llama3.1").options == "--model ollama:llama3.1"
    assert (
        _choice("vllm", "http://127.0.0.1:8000", "m").options
        == "--model m --base-url http://127.0.0.1:8000/v1"
    )


async def test_what_is_no_list_of_models_is_none() -> None:
    elsewhere = standins.LocalServer("/elsewhere", {})
    with (
        elsewhere,
        standins.LocalServer("/v1/models", {"data": [{"id": "m", "owned_by": "tests"}]}) as foreign,
    ):
        strange = [
            standins.LocalServer("/v1/models", {}, Answer(302, {"location": f"{elsewhere.url}/elsewhere"})),
            standins.LocalServer("/v1/models", [1, {"data": 7}]),
            standins.LocalServer("/v1/models", {"data": [None, {"id": 7, "owned_by": "vllm"}]}),
            standins.LocalServer("/v1/models", {}, Answer(200, {"content-type": "text/html"}, b"<html>")),
            standins.LocalServer("/v1/models", {}, json_answer({"error": "no"}, 401)),
            standins.LocalServer("/v1/models", {}, Answer(200, {}, b"[" + b"1," * 2_500_000 + b"1]")),
        ]
        assert await find_local_models({"vllm": foreign.url}) == []
        for server in strange:
            with server:
                assert await find_local_models({"vllm": server.url}) == []
        assert elsewhere.records == []


async def test_servers_that_never_answer_cost_less_than_half_a_second_together() -> None:
    silent = standins.LocalServer("/v1/models", {}, Answer(hangs=True))
    with silent, deaf_port() as deaf, ollama() as there:
        servers: dict[LocalServer, str] = {
            "ollama": there.url,
            "lmstudio": f"http://127.0.0.1:{deaf}",
            "llamacpp": silent.url,
            "vllm": f"http://127.0.0.1:{closed_port()}",
        }
        found = await find_local_models(servers)
    assert PROBE_TIMEOUT_S < 0.5
    assert [model.server for model in found] == ["Ollama"]


@pytest.mark.parametrize(
    "servers",
    ['{"ollama": "http://10.0.0.1:11434"}', '{"vllm": "http://a.example"}', '{"other": "http://[::1]"}'],
)
def test_only_this_machine_and_only_known_programs_are_asked(
    servers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FATHOM_LOCAL_SERVERS", servers)
    with pytest.raises(BadInput, match="local_servers"):
        load_settings()


def test_the_suite_ignores_what_runs_on_the_machine() -> None:
    assert load_settings().local_servers == {}


def test_a_choice_is_kept_and_a_broken_file_is_no_choice(tmp_path: Path) -> None:
    home = tmp_path / "new"
    assert load_choice(home) is None
    choice = ChosenModel(model="m", base_url="http://127.0.0.1:1/v1")
    save_choice(home, choice)
    assert load_choice(home) == choice
    (home / CHOICE_FILE).write_text("{")
    assert load_choice(home) is None

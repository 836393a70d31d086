"""Ask model servers what they offer: the models on this machine, and the context window of any model.

Local servers are Ollama, LM Studio, llama.cpp and vLLM; the user's choice among their models is stored.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError

from fathom.llm.clients import model_ssl_context
from fathom.settings import LOCAL_SERVERS, LocalServer
from fathom.settings.model_names import GGUF

CHOICE_FILE = "local_model.json"
PROBE_TIMEOUT_S = 0.45  # for all servers together: a closed port says so at once, a busy machine is slow
_WINDOW_TIMEOUT_S = 5.0
_MAX_BYTES = 4_000_000
_OLLAMA_DEFAULT_TOKENS = 4_096  # Ollama's default, whatever the model was trained for
_WINDOW_FIELDS = (
    "max_model_len",
    "loaded_context_length",
    "context_length",
    "context_window",
    "max_context_length",
)
_CHAT_TYPES = {"llm", "vlm"}


class _ServerKind(NamedTuple):
    title: str
    path: str  # its documented model listing
    owner: str = ""  # the value of `owned_by` there


_SERVERS: dict[LocalServer, _ServerKind] = {
    "ollama": _ServerKind("Ollama", "/api/tags"),
    "lmstudio": _ServerKind("LM Studio", "/api/v0/models"),
    "llamacpp": _ServerKind("llama.cpp", "/v1/models", "llamacpp"),
    "vllm": _ServerKind("vLLM", "/v1/models", "vllm"),
}


class ChosenModel(BaseModel):
    """The user's choice: the values of `--model` and, if needed, `--base-url`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    base_url: str | None = None

    @property
    def options(self) -> str:
        """Return the choice as command line options."""
        return f"--model {self.model}" + (f" --base-url {self.base_url}" if self.base_url else "")


@dataclass(frozen=True)
class LocalModel:
    """A model on a local server."""

    server: str
    choice: ChosenModel


async def find_local_models(servers: Mapping[LocalServer, str]) -> list[LocalModel]:
    """Return the models of all local servers, asked concurrently."""
    if not servers:
        return []
    # No proxy and no redirect: requests stay on this machine.
    async with httpx2.AsyncClient(trust_env=False, verify=False, follow_redirects=False) as http:
        found = await asyncio.gather(*(_probe(http, name, address) for name, address in servers.items()))
    return [model for models in found for model in models]


async def _probe(http: httpx2.AsyncClient, name: LocalServer, address: str) -> list[LocalModel]:
    server, root = _SERVERS[name], address.rstrip("/")
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            listing = await _fetch_json(http, "GET", f"{root}{server.path}")
    except TimeoutError:
        return []
    names = _ollama_names(listing) if name == "ollama" else _openai_names(listing, server.owner)
    return [LocalModel(server.title, _choice(name, root, model)) for model in names]


async def _fetch_json(http: httpx2.AsyncClient, method: str, address: str, **words: Any) -> Any:
    """Return the JSON that a server answers; None if it answers nothing of the kind."""
    try:
        async with http.stream(method, address, **words) as answer:
            body = b""
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    return None
        return json.loads(body) if answer.status_code == httpx2.codes.OK else None
    except (httpx2.HTTPError, ValueError):
        return None


def _ollama_names(listing: Any) -> list[str]:
    """Return the local chat models: no embedding and no cloud models."""
    return [
        entry["name"]
        for entry in _entries(listing, "models")
        if isinstance(entry.get("name"), str)
        and not entry.get("remote_host")
        and "bert" not in str((entry.get("details") or {}).get("family", ""))
    ]


def _openai_names(listing: Any, owner: str) -> list[str]:
    """Return the listed models of this owner; another service on the same port has another owner, or none."""
    return [
        entry["id"]
        for entry in _entries(listing, "data")
        if isinstance(entry.get("id"), str)
        and (entry.get("owned_by") == owner if owner else entry.get("type") in _CHAT_TYPES)
    ]


def _entries(listing: Any, name: str) -> list[dict[str, Any]]:
    found = _nested_value(listing, name)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _choice(name: str, root: str, model: str) -> ChosenModel:
    if name == "ollama" and root == LOCAL_SERVERS["ollama"] and find_spec("langchain_ollama"):
        return ChosenModel(model=f"ollama:{model}")
    # A name with this suffix would be taken for a file. llama.cpp has one model and accepts any name.
    served = Path(model).name.removesuffix(GGUF) if name == "llamacpp" else model
    return ChosenModel(model=served, base_url=f"{root}/v1")


def load_choice(home: Path) -> ChosenModel | None:
    """Return the stored choice, if any."""
    try:
        return ChosenModel.model_validate_json((home / CHOICE_FILE).read_bytes())
    except (OSError, ValidationError):
        return None


def save_choice(home: Path, choice: ChosenModel) -> None:
    """Store a choice for later runs."""
    home.mkdir(parents=True, exist_ok=True)
    (home / CHOICE_FILE).write_text(choice.model_dump_json(exclude_none=True), "utf-8")


async def ask_ollama_window(server: str, model: str) -> int | None:
    """Return the window an Ollama server gives a model, or None if it does not answer."""
    async with await _window_client() as http:
        if await _fetch_json(http, "GET", f"{server}/api/version") is None:
            return None
        return await _find_ollama_window(http, server, model)


async def ask_server_window(server: str, model: str, key: object = None) -> int | None:
    """Return the window the server reports for the model; the key is sent only to the model listing."""
    parts = urlsplit(server)
    root = f"{parts.scheme}://{parts.netloc}"
    secret = key.get_secret_value() if isinstance(key, SecretStr) else ""
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    async with await _window_client() as http:
        entry = _model_entry(await _fetch_json(http, "GET", f"{server}/models", headers=headers), model)
        if entry.get("owned_by") == "llamacpp":  # a slot has only a part of the listed window
            props = await _fetch_json(http, "GET", f"{root}/props")
            if size := _positive_int(_nested_value(props, "default_generation_settings", "n_ctx")):
                return size
            return _positive_int(_nested_value(entry, "meta", "n_ctx")) or _positive_int(
                _nested_value(entry, "meta", "n_ctx_train")
            )
        if size := _listed_window(entry):
            return size
        if entry.get("owned_by") == "library":
            return await _find_ollama_window(http, root, model)
        loaded = _model_entry(await _fetch_json(http, "GET", f"{root}/api/v0/models"), model)
        return _listed_window(loaded)


async def _find_ollama_window(http: httpx2.AsyncClient, root: str, model: str) -> int:
    """Return the window of the loaded model, or of its file, or Ollama's default."""
    for entry in _entries(await _fetch_json(http, "GET", f"{root}/api/ps"), "models"):
        is_it = model in (entry.get("name"), entry.get("model"))
        if is_it and (size := _positive_int(entry.get("context_length"))):
            return size
    shown = await _fetch_json(http, "POST", f"{root}/api/show", json={"model": model})
    asked = re.search(r"^num_ctx\s+(\d+)", str(_nested_value(shown, "parameters") or ""), re.MULTILINE)
    if asked:
        return int(asked.group(1))
    about = (_nested_value(shown, "model_info") or {}).items()
    trained = [size for name, n in about if name.endswith(".context_length") and (size := _positive_int(n))]
    return min([_OLLAMA_DEFAULT_TOKENS, *trained])


async def _window_client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=_WINDOW_TIMEOUT_S, verify=await asyncio.to_thread(model_ssl_context))


def _listed_window(entry: Mapping[str, Any]) -> int | None:
    return next((n for name in _WINDOW_FIELDS if (n := _positive_int(entry.get(name)))), None)


def _model_entry(listing: Any, model: str) -> Mapping[str, Any]:
    """Return the model's entry of a listing; on a server with one model, that one."""
    entries = _entries(listing, "data")
    named = [entry for entry in entries if entry.get("id") == model]
    return named[0] if named else entries[0] if len(entries) == 1 else {}


def _nested_value(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _positive_int(value: Any) -> int | None:
    is_size = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return int(value) if is_size else None

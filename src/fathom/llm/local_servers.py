"""Find models on local servers (Ollama, LM Studio, llama.cpp, vLLM), and store the user's choice."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from fathom.settings.model_names import GGUF
from fathom.settings.settings import LOCAL_SERVERS, LocalServer

CHOICE_FILE = "local_model.json"
PROBE_TIMEOUT_S = 0.45  # for all servers together: a closed port says so at once, a busy machine is slow
_MAX_BYTES = 1_000_000
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
            listing = await _read_json(http, f"{root}{server.path}")
    except (httpx2.HTTPError, TimeoutError, ValueError):
        return []
    names = _ollama_names(listing) if name == "ollama" else _openai_names(listing, server.owner)
    return [LocalModel(server.title, _choice(name, root, model)) for model in names]


async def _read_json(http: httpx2.AsyncClient, address: str) -> Any:
    async with http.stream("GET", address) as answer:
        if answer.status_code != httpx2.codes.OK:
            return None
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > _MAX_BYTES:
                raise ValueError("this is no list of models")
    return json.loads(body)


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
    found = listing.get(name) if isinstance(listing, dict) else None
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

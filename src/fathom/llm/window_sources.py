"""Where the size of a model's window is known from: the server that runs it, or a table without a network.

Does not know prompts. Formats: vLLM's `max_model_len`, llama.cpp's `/props`, Ollama's `/api/ps` and
`/api/show`, LM Studio's `/api/v0/models`, and what OpenRouter, Together and Groq put into `/v1/models`.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from fathom.llm.clients import certificates
from fathom.llm.dialects import provider_of
from fathom.model_names import chat_model_name

_PATIENCE_S = 5.0
_OLLAMA = 4_096  # what Ollama gives a model unless it is told otherwise, whatever the model was trained for
_LISTED = ("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length")


async def window_of(client: BaseChatModel, server: str, *, is_asked: bool) -> int | None:
    """Return the window of a model in tokens, or None when nobody knows."""
    name, provider = chat_model_name(client), provider_of(client)
    if provider == "ollama" and (size := getattr(client, "num_ctx", None)):
        return int(size)
    if provider == "ollama":
        return await ollama_window(server, name)
    key = getattr(client, "openai_api_key", None)
    found = await asked_of(server, name, key) if is_asked and provider == "openai" else None
    if found:
        return found
    profile: Mapping[str, Any] = client.profile or {}
    told = profile.get("max_input_tokens")
    return int(told) if told else await asyncio.to_thread(_in_table, name)


async def ollama_window(server: str, model: str) -> int | None:
    """Return what an Ollama server gives a model; None when nobody answers there."""
    async with httpx2.AsyncClient(timeout=_PATIENCE_S, verify=await asyncio.to_thread(certificates)) as http:
        if await _json(http, "GET", f"{server}/api/version") is None:
            return None
        return await _ollama(http, server, model)


async def asked_of(server: str, model: str, key: object = None) -> int | None:
    """What the server says of the model; the key goes to the listing only, which is where calls go too."""
    parts = urlsplit(server)
    root = f"{parts.scheme}://{parts.netloc}"
    secret = key.get_secret_value() if isinstance(key, SecretStr) else ""
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    async with httpx2.AsyncClient(timeout=_PATIENCE_S, verify=await asyncio.to_thread(certificates)) as http:
        entry = _entry(await _json(http, "GET", f"{server}/models", headers=headers), model)
        if entry.get("owned_by") == "llamacpp":  # a slot has a part of what the listing says
            props = await _json(http, "GET", f"{root}/props")
            if size := _number(_at(props, "default_generation_settings", "n_ctx")):
                return size
            return _number(_at(entry, "meta", "n_ctx")) or _number(_at(entry, "meta", "n_ctx_train"))
        if size := next((n for name in _LISTED if (n := _number(entry.get(name)))), None):
            return size
        if entry.get("owned_by") == "library":
            return await _ollama(http, root, model)
        loaded = _entry(await _json(http, "GET", f"{root}/api/v0/models"), model)
        return next((n for name in _LISTED if (n := _number(loaded.get(name)))), None)


async def _ollama(http: httpx2.AsyncClient, root: str, model: str) -> int:
    """What the loaded model has, or what its file asks for, or what all get."""
    running = _at(await _json(http, "GET", f"{root}/api/ps"), "models")
    for entry in running if isinstance(running, list) else []:
        is_it = model in (_at(entry, "name"), _at(entry, "model"))
        if is_it and (size := _number(_at(entry, "context_length"))):
            return size
    shown = await _json(http, "POST", f"{root}/api/show", json={"model": model})
    asked = re.search(r"^num_ctx\s+(\d+)", str(_at(shown, "parameters") or ""), re.MULTILINE)
    if asked:
        return int(asked.group(1))
    trained = [n for name, n in (_at(shown, "model_info") or {}).items() if name.endswith(".context_length")]
    return min([_OLLAMA, *(n for n in trained if isinstance(n, int) and n > 0)])


async def _json(http: httpx2.AsyncClient, method: str, address: str, **words: Any) -> Any:
    try:
        answer = await http.request(method, address, **words)
        return answer.json() if answer.status_code == 200 else None
    except (httpx2.HTTPError, ValueError):
        return None


def _entry(listing: Any, model: str) -> Mapping[str, Any]:
    """What a listing says of the model; of a server with one model, that one."""
    found = _at(listing, "data")
    entries = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    named = [entry for entry in entries if entry.get("id") == model]
    return named[0] if named else entries[0] if len(entries) == 1 else {}


def _at(value: Any, *names: str) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _number(value: Any) -> int | None:
    is_size = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return int(value) if is_size else None


def _in_table(model: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot  # half a second of imports

    try:
        _, found = get_snapshot().find_provider_model(model, None, None, None)
    except LookupError:
        return None
    return found.context_window

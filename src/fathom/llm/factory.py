"""Make research models from settings: LangChain chat models by name or object, with their roles.

A name is `PROVIDER:MODEL`, a plain name for an OpenAI-compatible server, the path of a GGUF file, or `none`.
A missing package, key or provider is reported here, before the run.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, get_args

from langchain_core.language_models import BaseChatModel
from openai import Timeout
from pydantic import SecretStr, ValidationError

from fathom.budget.prices import Prices, load_prices
from fathom.errors import BadInput
from fathom.llm.chat import Chat, answer_limit, provider_of
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.fallback import FallbackModel
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.openai_compatible import CompatibleChatOpenAI
from fathom.llm.prompt_budget import ContextWindow
from fathom.llm.protocol import ResearchModel
from fathom.llm.rate_limiter import ModelRetryPolicy, limiter_for
from fathom.llm.servers import ask_ollama_window, ask_server_window
from fathom.llm.structured_output import StructuredOutput
from fathom.settings import Settings
from fathom.settings.model_names import (
    OPENAI,
    SUPPORTED_PROVIDERS,
    chat_model_name,
    describe_unknown_provider,
    provider_facts,
    split_name,
)
from fathom.state import Role, RunConfig
from fathom.storage import open_storage
from fathom.storage.content import Replies

_CONNECT_S = 10.0
# Reasoning tokens by effort, and for models that reason by default.
_THINKING = {"none": 0, "minimal": 1_024, "low": 4_096, "medium": 8_192, "high": 16_384}
_UNASKED_THINKING = 8_192
_THINKS_UNASKED = {"openai", "google_genai"}
_windows: dict[tuple[object, ...], ContextWindow] = {}
# Parameters that do not change a model's answers, or are not plain values; left out of its identity.
_NOT_IDENTITY = """name cache verbose callbacks tags metadata custom_get_token_ids rate_limiter profile
disable_streaming client async_client root_client root_async_client http_client http_async_client
http_socket_options max_retries timeout request_timeout default_request_timeout streaming stream_usage
client_args client_kwargs async_client_kwargs sync_client_kwargs default_metadata output_version"""


def make_research_model(settings: Settings, run_config: RunConfig) -> ResearchModel:
    """Return the research model of a run, with an extractive fallback."""
    language = {"language": run_config.language} if run_config.language else {}
    by_role = make_outputs(settings, run_config)
    return FallbackModel(LLMResearchModel(by_role, **language), ExtractiveModel())


def make_outputs(settings: Settings, run_config: RunConfig) -> dict[Role, StructuredOutput]:
    """Return the structured output of each role; roles with the same model share one.

    The small model also writes when money is too short for the other one.
    """
    prices = load_prices(settings.prices_file, settings.home)
    outputs: dict[object, StructuredOutput] = {}
    by_role: dict[Role, StructuredOutput] = {}
    parts = _models_by_role(settings, run_config)
    cache = Replies(open_storage(settings.database), is_shared=run_config.reuse)
    for role in sorted(parts, key=lambda role: role != "read"):  # the small one first
        name, given = parts[role]
        key = id(given) if given is not None else name
        if key not in outputs:
            played: list[Role] = [r for r, part in parts.items() if part[0] == name and part[1] is given]
            chat = _chat(settings, name, given, played, cache, prices)
            if by_role:
                chat = replace(chat, cheaper=by_role["read"].chat)
            outputs[key] = StructuredOutput(chat, _window(settings, chat, run_config.context_tokens))
        by_role[role] = outputs[key]
    return by_role


def make_chat_model(settings: Settings, name: str, max_tokens: int) -> BaseChatModel:
    """Return the LangChain chat model of that name; BadInput names in one sentence what is missing."""
    provider, model = split_name(name)
    if provider == "gguf":
        from fathom.llm.gguf import make_gguf_model  # few use it

        return make_gguf_model(Path(model), max_tokens=max_tokens)
    if provider == "openai":
        return _openai(settings, name, model, max_tokens)
    key, facts = settings.key_of(provider), provider_facts(provider)
    if facts.key_settings and key is None:
        raise BadInput(f"To think with {name}, set {facts.key_words}.")
    words: dict[str, Any] = {facts.limit_option: max_tokens}
    if provider in SUPPORTED_PROVIDERS:
        words["base_url"] = settings.server_of(name)
    if key is not None:
        words["api_key"] = key.get_secret_value()
    if provider != "ollama":
        words |= {"max_retries": 0, "timeout": settings.call_timeout_s}
    return _init_chat_model(name, provider, model, words)


def model_identity(model: BaseChatModel) -> list[Any]:
    """Return what identifies a chat model across processes: its class and plain parameters."""
    kind = type(model)
    names = sorted(set(kind.model_fields) - set(_NOT_IDENTITY.split()))
    plain = {name: _to_plain_json(getattr(model, name, None)) for name in names}
    said = {name: value for name, value in plain.items() if value not in (None, [], {})}
    return [f"{kind.__module__}.{kind.__qualname__}", said]


def _models_by_role(
    settings: Settings, run_config: RunConfig
) -> dict[Role, tuple[str, BaseChatModel | None]]:
    """Return name and, if given, model object of each role; a model set by the run plays all roles."""
    named = {role: run_config.model_of(role) for role in get_args(Role)}
    return {
        role: (settings.model_for(role, name), None if name else settings.chat_model(role))
        for role, name in named.items()
    }


def _chat(
    settings: Settings,
    name: str,
    given: BaseChatModel | None,
    played: Sequence[Role],
    cache: Replies,
    prices: Prices,
) -> Chat:
    client = given if given is not None else make_chat_model(settings, name, settings.max_answer_tokens)
    if given is None and (thinking := _thinking_room(settings, client, played)):
        limit = {provider_facts(provider_of(client)).limit_option: settings.max_answer_tokens + thinking}
        client = client.model_copy(update=limit)
    server = settings.server_of(name) if given is None else _address_of(given)
    return Chat(
        client,
        server,
        cache,
        limiter_for(server, name, settings.parallel_calls),
        ModelRetryPolicy(settings.call_retries, settings.outage_s),
        settings.call_timeout_s,
        prices,
        full_name=name,
        identity=() if given is None else model_identity(given),
        role_options={role: _call_options(settings, role) for role in played},
    )


def _call_options(settings: Settings, role: Role) -> dict[str, Any]:
    """Return the call options of a role."""
    said = {"reasoning_effort": settings.effort_for(role), "temperature": settings.temperature_for(role)}
    return {name: value for name, value in said.items() if value is not None}


def _thinking_room(settings: Settings, client: BaseChatModel, played: Sequence[Role]) -> int:
    """Return the extra tokens for reasoning; without them long reasoning leaves no room for an answer."""
    profile = client.profile or {}
    is_thinking = bool(profile.get("reasoning_output")) and provider_of(client) in _THINKS_UNASKED
    efforts = [settings.effort_for(role) for role in played]
    return max(_THINKING[e] if e else _UNASKED_THINKING * is_thinking for e in efforts)


def _window(settings: Settings, chat: Chat, size: int | None) -> ContextWindow:
    """Return the process-wide window of a model, so that runs share what they learn."""
    limit = answer_limit(chat.client) or settings.max_answer_tokens
    answer = min(limit, settings.max_answer_tokens)
    known = (str(settings.database), chat.server, chat.name, size, limit, json.dumps(chat.identity))
    source = partial(find_window, chat.client, chat.server, is_asked=chat.server != OPENAI)
    return _windows.setdefault(known, ContextWindow(size, answer, limit - answer, source))


async def find_window(client: BaseChatModel, server: str, *, is_asked: bool) -> int | None:
    """Return the window of a model in tokens, or None if unknown."""
    name, provider = chat_model_name(client), provider_of(client)
    if provider == "ollama" and (size := getattr(client, "num_ctx", None)):
        return int(size)
    if provider == "ollama":
        return await ask_ollama_window(server, name)
    key = getattr(client, "openai_api_key", None)
    found = await ask_server_window(server, name, key) if is_asked and provider == "openai" else None
    if found:
        return found
    profile: Mapping[str, Any] = client.profile or {}
    limit = profile.get("max_input_tokens")
    return int(limit) if limit else await asyncio.to_thread(_look_up_window, name)


def _look_up_window(model: str) -> int | None:
    from genai_prices.data_snapshot import get_snapshot  # half a second of imports

    try:
        _, found = get_snapshot().find_provider_model(model, None, None, None)
    except LookupError:
        return None
    return found.context_window


def _openai(settings: Settings, name: str, model: str, max_tokens: int) -> BaseChatModel:
    key, server = settings.openai_api_key, settings.server_of(name)
    if key is None and server == OPENAI:
        raise BadInput(f"To think with {name}, set OPENAI_API_KEY or name a server with --base-url.")
    if server == OPENAI and ":" in model and not model.startswith("ft:"):
        raise BadInput(describe_unknown_provider(name))
    return _compatible(model, server, key or SecretStr("none"), settings.call_timeout_s, max_tokens)


class _HashableTimeout(Timeout):
    """A timeout that LangChain can use as a cache key for its default clients.

    The clients are not used, but each cache miss loads all certificates again.
    """

    def __hash__(self) -> int:
        return hash((self.connect, self.read, self.write, self.pool))


@lru_cache(maxsize=64)
def _compatible(
    model: str, server: str, key: SecretStr, timeout_s: float, max_tokens: int
) -> CompatibleChatOpenAI:
    """Return one shared object for all runs with the same key."""
    return CompatibleChatOpenAI(
        model=model,
        base_url=server,
        api_key=key,
        # A connect timeout differs from a late answer: it is never billed.
        timeout=_HashableTimeout(timeout_s, connect=min(_CONNECT_S, timeout_s / 2)),
        max_retries=0,  # the rate limiter retries; the client's retries do not know of each other
        include_response_headers=True,
        max_completion_tokens=max_tokens,
        stream_usage=True,
        use_responses_api=False,
    )


def _init_chat_model(name: str, provider: str, model: str, words: dict[str, Any]) -> BaseChatModel:
    from langchain.chat_models import init_chat_model  # seconds of imports

    try:
        made: BaseChatModel = init_chat_model(model, model_provider=provider, **words)
    except ImportError as error:
        named = re.search(r"pip install (?:-U )?([\w-]+)", str(error))
        package = named[1] if named else str(error.name or provider).replace("_", "-")
        extra = provider_facts(provider).extra
        what = f"fathom-research[{extra}]" if extra else package
        raise BadInput(f"To think with {name}, install its package: pip install '{what}'.") from None
    except (ValidationError, ValueError) as error:
        first = error.errors(include_input=False)[0]["msg"] if isinstance(error, ValidationError) else error
        reason = " ".join(str(first).split())[:200].rstrip(".")
        raise BadInput(f"The model {name} cannot be used: {reason}.") from None
    return made


def _address_of(model: BaseChatModel) -> str:
    """Return the server address of a chat model object, if it has one."""
    names = ("openai_api_base", "anthropic_api_url", "base_url", "azure_endpoint", "endpoint")
    found = next((url for name in names if isinstance(url := getattr(model, name, None), str) and url), "")
    return found.rstrip("/") or provider_facts(provider_of(model)).address


def _to_plain_json(value: object) -> Any:
    """Return a value as plain JSON; None for secrets, functions and clients."""
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(k): p for k, v in sorted(value.items(), key=str) if (p := _to_plain_json(v)) is not None}
    if isinstance(value, list | tuple | set | frozenset):
        items = [p for v in value if (p := _to_plain_json(v)) is not None]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    return None

"""Names of models: `PROVIDER:MODEL`, a plain name, the path of a GGUF file, or `none`.

Imports little, since every command imports it.
"""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True)
class Provider:
    """What Fathom knows about a provider beyond what LangChain does."""

    name: str
    chat_class: str  # LangChain's class, or a base class of it
    address: str
    address_setting: str = ""  # fields of `Settings`
    key_settings: tuple[str, ...] = ()
    key_words: str = ""  # environment variables, as messages name them
    extra: str = ""  # the extra of Fathom's package that installs it
    limit_option: str = "max_tokens"


_SUPPORTED = (
    Provider("openai", "BaseChatOpenAI", OPENAI, "base_url", ("openai_api_key",), "OPENAI_API_KEY"),
    Provider(
        "anthropic",
        "ChatAnthropic",
        "https://api.anthropic.com",
        "anthropic_url",
        ("anthropic_api_key",),
        "ANTHROPIC_API_KEY",
        "anthropic",
    ),
    Provider(
        "google_genai",
        "ChatGoogleGenerativeAI",
        "https://generativelanguage.googleapis.com",
        "gemini_url",
        ("gemini_api_key", "google_api_key"),
        "GOOGLE_API_KEY or GEMINI_API_KEY",
        "google",
        "max_output_tokens",
    ),
    Provider(
        "ollama",
        "ChatOllama",
        "http://127.0.0.1:11434",
        "ollama_url",
        extra="ollama",
        limit_option="num_predict",
    ),
    Provider("gguf", "GGUFChatModel", "http://localhost"),
)
SUPPORTED_PROVIDERS = {provider.name: provider for provider in _SUPPORTED}
# The providers that LangChain's `init_chat_model` knows; a test compares them.
_PROVIDERS = """anthropic anthropic_bedrock azure_ai azure_openai baseten bedrock bedrock_converse
bedrock_mantle_anthropic bedrock_mantle_openai cohere deepseek fireworks google_anthropic_vertex google_genai
google_vertexai groq huggingface ibm langsmith litellm meta mistralai nvidia ollama openai openrouter
perplexity together upstage xai"""
PROVIDERS = frozenset(_PROVIDERS.split())
NO_MODEL = "none"
RECORDED = "recorded:"  # followed by the language of the demo
GGUF = ".gguf"
_PROVIDER = re.compile(r"([a-z][a-z0-9]*(?:[_-][a-z0-9]+)*):(?!//)(.+)")


def provider_facts(name: str) -> Provider:
    """Return what is known about a provider; for any other its name, which stands for its address too."""
    return SUPPORTED_PROVIDERS.get(name) or Provider(name, "", name)


def describe_unknown_provider(name: str) -> str:
    """Return one sentence for a name such as `antropic:claude`, with the nearest provider."""
    known = get_close_matches(name.partition(":")[0], sorted(PROVIDERS), n=1)
    guess = f" Did you mean {known[0]}?" if known else ""
    return f"There is no provider for the model {name}.{guess} Known: {', '.join(sorted(PROVIDERS))}."


def split_name(name: str) -> tuple[str, str]:
    """Return a model's provider and its name there; a plain name belongs to an OpenAI-compatible server.

    Names with a colon of their own (`llama3:8b`) are plain unless what stands before it is a provider.
    """
    if name.lower().endswith(GGUF):
        return "gguf", name
    found = _PROVIDER.fullmatch(name)
    if found and (provider := found[1].replace("-", "_")) in PROVIDERS:
        return provider, found[2]
    return "openai", name


def is_full_name(name: str) -> bool:
    """Whether a name includes the provider, or is a file."""
    return split_name(name) != ("openai", name)


def chat_model_name(model: Any) -> str:
    """Return the name of a LangChain chat model, as in costs and messages."""
    fields = ("model_name", "model", "model_id", "name")
    found = next((name for field in fields if isinstance(name := getattr(model, field, None), str)), "")
    return found.removeprefix("models/") or type(model).__name__

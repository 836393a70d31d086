"""Translate call options into the arguments of each provider's LangChain package.

Options use OpenAI's names (`response_format`, `tools`, `max_completion_tokens`, `reasoning_effort`,
`temperature`); most packages accept them, the others are translated here.
"""

from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel

from fathom.llm.errors import NotSupported
from fathom.settings.model_names import SUPPORTED_PROVIDERS, provider_facts

_BY_CLASS = {provider.chat_class: provider.name for provider in SUPPORTED_PROVIDERS.values()}
_LEAST_EFFORT = {"none": None, "minimal": "low"}  # where a provider has no such level


def provider_of(model: BaseChatModel) -> str:
    """Return the provider of a chat model; `other` if unknown."""
    found = (_BY_CLASS.get(kind.__name__) for kind in type(model).__mro__)
    return next((provider for provider in found if provider), "other")


def answer_limit(model: BaseChatModel) -> int | None:
    """Return the answer limit of a chat model in tokens, if it has one."""
    names = ("max_tokens", "max_output_tokens", "num_predict")
    return next((n for name in names if isinstance(n := getattr(model, name, None), int) and n > 0), None)


def prepare_call(model: BaseChatModel, options: Mapping[str, Any]) -> tuple[BaseChatModel, dict[str, Any]]:
    """Return the model and the keyword arguments for `ainvoke`."""
    provider = provider_of(model)
    is_responses = provider == "openai" and bool(getattr(model, "use_responses_api", False))
    if provider == "openai" and not is_responses:
        # As extra_body, because otherwise the SDK discards a truncated answer.
        return model, {"extra_body": dict(options)}
    words: dict[str, Any] = {}
    if "response_format" in options:
        if provider not in SUPPORTED_PROVIDERS:
            raise NotSupported(f"{type(model).__name__} is not known to take a schema.")
        words["response_format"] = options["response_format"]
    if "tools" in options:
        words |= _tool_options(model, options)
    settings = {name: options[name] for name in ("max_completion_tokens", "temperature") if name in options}
    limit = settings.pop("max_completion_tokens", None)
    if limit is not None:
        settings[provider_facts(provider).limit_option] = limit
    words |= _effort_options(model, provider, options.get("reasoning_effort"))
    if provider == "ollama":  # it takes them only all together
        return model.model_copy(update=settings) if settings else model, words
    return model, {**words, **{n: v for n, v in settings.items() if provider != "other" or hasattr(model, n)}}


def _tool_options(model: BaseChatModel, options: Mapping[str, Any]) -> dict[str, Any]:
    name = options["tool_choice"]["function"]["name"]
    try:
        bound: Any = model.bind_tools(options["tools"], tool_choice=name)
    except NotImplementedError:
        raise NotSupported(f"{type(model).__name__} takes no tools.") from None
    return dict(getattr(bound, "kwargs", {}))


def _effort_options(model: BaseChatModel, provider: str, effort: str | None) -> dict[str, Any]:
    if effort is None:
        return {}
    known = _LEAST_EFFORT.get(effort, effort)
    match provider:
        case "anthropic":
            return {"reasoning_effort": known} if known else {}
        case "google_genai":
            return {"thinking_budget": 0} if effort == "none" else {"reasoning_effort": effort}
        case "ollama":
            return {"reasoning": known or False}
        case _:
            return {"reasoning_effort": effort} if hasattr(model, "reasoning_effort") else {}

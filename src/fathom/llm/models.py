"""Models from settings: one ladder a model, one model a role.

Does not know prompts.
"""

from dataclasses import replace
from functools import partial
from typing import get_args

from openai import Timeout
from pydantic import SecretStr

from fathom import store
from fathom.budget.prices import Prices, load_prices
from fathom.llm.chat import Chat
from fathom.llm.clients import unconnected
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.fallback import FallbackModel
from fathom.llm.learnt import Learnt
from fathom.llm.limiter import Endurance, limiter_for
from fathom.llm.llm_model import LLMResearchModel
from fathom.llm.outspoken import Outspoken
from fathom.llm.port import ResearchModel
from fathom.llm.structured_output import StructuredOutput
from fathom.llm.window import Window
from fathom.llm.window_sources import window_of
from fathom.settings import OPENAI, Settings
from fathom.state import Role, RunConfig

_CONNECT_S = 10.0
_windows: dict[tuple[object, ...], Window] = {}


def prompted_mind(settings: Settings, run_config: RunConfig) -> ResearchModel:
    """The mind that asks the configured models, with a stand-in that needs none.

    The small model writes too, when there is no longer enough money for the other.
    """
    roles: dict[Role, str] = {role: settings.model_for(role, run_config.model) for role in get_args(Role)}
    prices = load_prices(settings.prices_file, settings.home)
    chats = {name: _chat(settings, name, run_config, prices) for name in set(roles.values())}
    small = chats[roles["read"]]
    by_model = {
        name: StructuredOutput(
            chat if chat is small else replace(chat, cheaper=small),
            _window(settings, chat, run_config.context_tokens),
        )
        for name, chat in chats.items()
    }
    ladders = {role: by_model[name] for role, name in roles.items()}
    mind = (
        LLMResearchModel(ladders, run_config.language) if run_config.language else LLMResearchModel(ladders)
    )
    return FallbackModel(mind, ExtractiveModel())


def _chat(settings: Settings, model: str, run_config: RunConfig, prices: Prices) -> Chat:
    server = settings.base_url or OPENAI
    http, http_async = unconnected()
    client = Outspoken(
        model=model,
        base_url=server,
        api_key=settings.openai_api_key or SecretStr("none"),
        # A connection that is not made in time is told apart from a late answer: nobody is paid for it.
        timeout=Timeout(settings.call_timeout_s, connect=min(_CONNECT_S, settings.call_timeout_s / 2)),
        http_client=http,
        http_async_client=http_async,
        max_retries=0,  # the limiter's business: the client's retries do not know of each other
        include_response_headers=True,
        max_completion_tokens=settings.max_answer_tokens,
    )
    return Chat(
        client,
        server,
        store.replies(settings.database, is_shared=run_config.reuse),
        limiter_for(server, model, settings.parallel_calls),
        Endurance(settings.call_retries, settings.outage_s),
        settings.call_timeout_s,
        prices,
    )


def _window(settings: Settings, chat: Chat, size: int | None) -> Window:
    """The window that all runs of this process share for a model: what one has learnt, the others know."""
    known = (str(settings.database), chat.server, chat.name, size, settings.max_answer_tokens)
    source = partial(window_of, chat.client, chat.server, is_asked=chat.server != OPENAI)
    learnt = None if size else Learnt(settings.database, chat.server, chat.name)  # a knob is for its run only
    return _windows.setdefault(known, Window(size, settings.max_answer_tokens, source, learnt))

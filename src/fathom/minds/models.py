"""Models from settings: one ladder a model, one model a role.

Does not know prompts.
"""

from dataclasses import replace
from functools import partial
from typing import get_args

from openai import Timeout
from pydantic import SecretStr

from fathom import store
from fathom.minds.chat import Chat
from fathom.minds.clients import unconnected
from fathom.minds.extractive import Extractive
from fathom.minds.ladder import Ladder
from fathom.minds.learnt import Learnt
from fathom.minds.limiter import Endurance, limiter_for
from fathom.minds.outspoken import Outspoken
from fathom.minds.port import Mind
from fathom.minds.prompted import Prompted
from fathom.minds.steadfast import Steadfast
from fathom.minds.window import Window
from fathom.minds.window_sources import window_of
from fathom.settings import OPENAI, Settings
from fathom.spend.prices import Prices, load_prices
from fathom.state import Knobs, Role

_CONNECT_S = 10.0
_windows: dict[tuple[object, ...], Window] = {}


def prompted_mind(settings: Settings, knobs: Knobs) -> Mind:
    """The mind that asks the configured models, with a stand-in that needs none.

    The small model writes too, when there is no longer enough money for the other.
    """
    roles: dict[Role, str] = {role: settings.model_for(role, knobs.model) for role in get_args(Role)}
    prices = load_prices(settings.prices_file, settings.home)
    chats = {name: _chat(settings, name, knobs, prices) for name in set(roles.values())}
    small = chats[roles["read"]]
    by_model = {
        name: Ladder(
            chat if chat is small else replace(chat, cheaper=small),
            _window(settings, chat, knobs.context_tokens),
        )
        for name, chat in chats.items()
    }
    ladders = {role: by_model[name] for role, name in roles.items()}
    mind = Prompted(ladders, knobs.language) if knobs.language else Prompted(ladders)
    return Steadfast(mind, Extractive())


def _chat(settings: Settings, model: str, knobs: Knobs, prices: Prices) -> Chat:
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
        store.replies(settings.database, is_shared=knobs.reuse),
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

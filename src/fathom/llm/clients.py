"""Chat models with one connection pool per event loop, closed when the loop's last user leaves.

A connection of a finished loop fails in the next one, and a script with two `asyncio.run` calls has two
loops. OpenAI and Anthropic models share one pool per loop; Google and Ollama models have their own. SDK
retries are off: the rate limiter decides. Provider packages and LangChain are not imported here, since that
takes seconds.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from typing import TYPE_CHECKING, Any

import httpx2

from fathom.concurrency import PerLoop

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

MAX_ANSWER_BYTES = 16 * 1024 * 1024  # bytes of an answer: far more than any model writes, but bounded
_CONNECT_S = 10.0
_RECREATED_CLASSES = ("ChatGoogleGenerativeAI", "ChatOllama")
_CONSTRUCTOR_FIELDS = {"client", "profile", "default_metadata"}  # set by the constructor itself


@dataclass
class LoopClients:
    """Open resources of one event loop: a pool, its chat models, and the number of users."""

    users: int = 0
    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    http: httpx2.AsyncClient | None = None
    # Keyed by id; the original is kept so that its id is not reused.
    models: "dict[int, tuple[BaseChatModel, BaseChatModel]]" = field(default_factory=dict)
    closing: list[Callable[[], Awaitable[object]]] = field(default_factory=list)


loop_clients = PerLoop(LoopClients)


@asynccontextmanager
async def model_clients() -> AsyncIterator[None]:
    """Keep model clients open inside the block; the last to leave closes them."""
    mine = loop_clients()
    mine.users += 1
    try:
        yield
    finally:
        mine.users -= 1
        if not mine.users:
            await asyncio.shield(_close(mine))


async def client_for_loop(model: "BaseChatModel") -> "BaseChatModel":
    """Return the chat model bound to the running loop's connections; always the same object."""
    mine = loop_clients()
    if found := mine.models.get(id(model)):
        return found[1]
    async with mine.making:
        if id(model) not in mine.models:
            # In a thread: certificates are read from files.
            made = await asyncio.to_thread(_copy_for_loop, model, mine)
            mine.models[id(model)] = (model, made)
        return mine.models[id(model)][1]


def _copy_for_loop(model: "BaseChatModel", mine: LoopClients) -> "BaseChatModel":
    kinds = {kind.__name__ for kind in type(model).__mro__}
    if "BaseChatOpenAI" in kinds:
        return _openai(model, mine)
    if "ChatAnthropic" in kinds:
        return _anthropic(model, mine)
    if type(model).__name__ in _RECREATED_CLASSES:
        return _recreate(model, mine)
    has_retries = "max_retries" in type(model).model_fields
    return model.model_copy(update={"max_retries": 0}) if has_retries else model


def _openai(model: Any, mine: LoopClients) -> "BaseChatModel":
    own = {} if model.http_async_client else {"http_client": _pool(mine)}
    root = model.root_async_client.with_options(max_retries=0, **own)
    update = {"root_async_client": root, "async_client": root.chat.completions, "max_retries": 0}
    update["stream_usage"] = True  # off by default for a custom address; if refused, no streaming
    copied: BaseChatModel = model.model_copy(update=update)
    return copied


def _anthropic(model: Any, mine: LoopClients) -> "BaseChatModel":
    own = {} if model.anthropic_proxy else {"http_client": _pool(mine)}
    copied: BaseChatModel = model.model_copy(update={"max_retries": 0})
    copied.__dict__["_async_client"] = model._async_client.with_options(max_retries=0, **own)
    return copied


def _recreate(model: Any, mine: LoopClients) -> "BaseChatModel":
    fields = type(model).model_fields
    given = {
        name: getattr(model, name) for name in model.model_fields_set - _CONSTRUCTOR_FIELDS if name in fields
    }
    if "max_retries" in fields:
        given["max_retries"] = 0
    made: Any = type(model)(**given)
    if hasattr(made, "aclose"):
        mine.closing.append(made.aclose)
    else:
        mine.closing += [made._async_client.close, lambda: asyncio.to_thread(made._client.close)]
    found: BaseChatModel = made
    return found


def _pool(mine: LoopClients) -> httpx2.AsyncClient:
    """Return the pool of a loop, with the environment's proxies and a limit on body size."""
    if mine.http is None:
        mine.http = httpx2.AsyncClient(
            verify=model_ssl_context(),
            timeout=httpx2.Timeout(600.0, connect=_CONNECT_S),
            limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
            follow_redirects=True,
            event_hooks={"response": [_limit_body]},
        )
        mine.closing.append(mine.http.aclose)
    return mine.http


@cache
def model_ssl_context() -> SSLContext:
    """Return the shared SSL context; loading certificates takes as long as ten calls."""
    return httpx2.create_ssl_context()


async def _close(mine: LoopClients) -> None:
    closing, mine.closing = mine.closing, []
    mine.models.clear()
    mine.http = None
    for close in closing:
        await close()


async def _limit_body(response: httpx2.Response) -> None:
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _LimitedBody(response.stream)


class AnswerTooLarge(httpx2.ReadError):
    """The answer exceeds the size limit; the rest was not read."""


class _LimitedBody(httpx2.AsyncByteStream):
    """A response body that raises when it exceeds the size limit."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise AnswerTooLarge(f"The answer is longer than {MAX_ANSWER_BYTES:,} bytes.")
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()

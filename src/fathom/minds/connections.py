"""Connections to model servers: each event loop has its own, and the last who works in a loop closes them.

Does not know models. The client's own connections are one set for the process, and a set that was used in a
loop that has ended fails in the next one: a script that waits for two questions in turn has two loops.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from ssl import SSLContext
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fathom.once import Once
from fathom.turns import PerLoop

if TYPE_CHECKING:  # seconds of imports that a run without a model never pays
    from langchain_openai import ChatOpenAI
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, DefaultHttpxClient


@dataclass
class _Connections:
    """Those of one loop, made when first needed, the clients that use them, and how many work with them."""

    users: int = 0
    http: "DefaultAsyncHttpxClient | None" = None
    clients: "WeakKeyDictionary[AsyncOpenAI, ChatOpenAI]" = field(default_factory=WeakKeyDictionary)
    making: asyncio.Lock = field(default_factory=asyncio.Lock)


_here = PerLoop(_Connections)


@Once
def certificates() -> SSLContext:
    """Whom all believe who ask a model's server; to read them takes as long as ten calls."""
    import httpx2

    return httpx2.create_ssl_context()


@cache
def unconnected() -> "tuple[DefaultHttpxClient, DefaultAsyncHttpxClient]":
    """What a client is made with, though nobody calls through it: else each reads certificates, twice."""
    from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

    verify = certificates.waited()
    return DefaultHttpxClient(verify=verify), DefaultAsyncHttpxClient(verify=verify)


async def here(client: "ChatOpenAI") -> "ChatOpenAI":
    """The client with the running loop's connections; always the same one, which remembers who it is."""
    mine = _here()
    if found := mine.clients.get(client.root_async_client):
        return found
    async with mine.making:
        http = mine.http = mine.http or _made(await certificates())
    from fathom.minds.completions import Completions

    root = client.root_async_client.with_options(http_client=http)
    own = client.model_copy(update={"root_async_client": root, "async_client": Completions(root)})
    return mine.clients.setdefault(client.root_async_client, own)


def _made(verify: SSLContext) -> "DefaultAsyncHttpxClient":
    import httpx2
    from openai import DefaultAsyncHttpxClient

    from fathom.lanes import Lanes

    lanes = Lanes(lambda limits: httpx2.AsyncHTTPTransport(verify=verify, limits=limits))
    # Behind the environment's proxies, which are in the list already: what none of them is for.
    return DefaultAsyncHttpxClient(verify=verify, mounts={"all://*": lanes})


@asynccontextmanager
async def connections() -> AsyncIterator[None]:
    """Work with models inside; whoever leaves last closes what was opened."""
    mine = _here()
    mine.users += 1
    try:
        yield
    finally:
        mine.users -= 1
        if not mine.users and (http := mine.http):
            mine.http = None
            mine.clients.clear()
            await asyncio.shield(http.aclose())

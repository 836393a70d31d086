"""Clients of models with the running loop's connections.

Does not know prompts. A client's own connections are one set for the process, and a set that was used in a
loop that has ended fails in the next one: a script that waits for two questions in turn has two loops.
"""

from functools import cache
from ssl import SSLContext

import httpx2
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

from fathom.lanes import Lanes
from fathom.llm.completions import MOST_BYTES, Completions, Envelope
from fathom.llm.connections import of_this_loop
from fathom.once import Once


@Once
def certificates() -> SSLContext:
    """Whom all believe who ask a model's server; to read them takes as long as ten calls."""
    return httpx2.create_ssl_context()


@cache
def unconnected() -> tuple[DefaultHttpxClient, DefaultAsyncHttpxClient]:
    """What a client is made with, though nobody calls through it: else each reads certificates, twice."""
    verify = certificates.waited()
    return DefaultHttpxClient(verify=verify), DefaultAsyncHttpxClient(verify=verify)


async def here(client: ChatOpenAI) -> ChatOpenAI:
    """The client with the running loop's connections; always the same one, which remembers who it is."""
    mine, known = of_this_loop(), client.root_async_client
    if found := mine.clients.get(known):
        return found
    async with mine.making:  # whoever comes second finds it
        return mine.clients.get(known) or mine.clients.setdefault(known, await _connected(client))


async def _connected(client: ChatOpenAI) -> ChatOpenAI:
    mine, verify = of_this_loop(), await certificates()
    envelope = await Envelope.of(client.root_async_client)
    http = mine.http = mine.http or _made(verify)
    root = client.root_async_client.with_options(http_client=http)
    completions = Completions(root, http, envelope)
    return client.model_copy(update={"root_async_client": root, "async_client": completions})


def _made(verify: SSLContext) -> DefaultAsyncHttpxClient:
    # Behind the environment's proxies, which are in the list already: what none of them is for.
    return DefaultAsyncHttpxClient(verify=verify, mounts={"all://*": Lanes(verify, most_bytes=MOST_BYTES)})

"""Connections to model servers: each event loop has its own, and the last who works in a loop closes them.

Does not know models, nor the packages that ask them: a run without a model must not pay seconds of imports.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from fathom.turns import PerLoop

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient


@dataclass
class Connections:
    """Those of one loop, made when first needed, the clients that use them, and how many work with them."""

    users: int = 0
    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    http: "DefaultAsyncHttpxClient | None" = None
    clients: "WeakKeyDictionary[AsyncOpenAI, ChatOpenAI]" = field(default_factory=WeakKeyDictionary)


of_this_loop = PerLoop(Connections)


@asynccontextmanager
async def connections() -> AsyncIterator[None]:
    """Work with models inside; whoever leaves last closes what was opened."""
    mine = of_this_loop()
    mine.users += 1
    try:
        yield
    finally:
        mine.users -= 1
        if not mine.users and (http := mine.http):
            mine.http = None
            mine.clients.clear()
            await asyncio.shield(http.aclose())

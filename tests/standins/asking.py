"""A client that asks through our own connections, and believes no certificate."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from fathom.lanes import Lanes


def nobody() -> ssl.SSLContext:
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@asynccontextmanager
async def through(
    *, idle_s: float = 5.0, most_idle: int = 100, limits: httpx2.Timeout | float = 5.0
) -> AsyncIterator[httpx2.AsyncClient]:
    lanes = Lanes(nobody(), idle_s=idle_s, most_idle=most_idle)
    async with httpx2.AsyncClient(transport=lanes, timeout=limits) as client:
        yield client

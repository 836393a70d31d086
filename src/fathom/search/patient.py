"""Trying again, for anything that may be unavailable for a moment.

Does not know what it calls: only that `Unavailable` is worth another try, and nothing else is.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import stamina
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from fathom.errors import Unavailable
from fathom.reading.port import Document, Reader
from fathom.search.port import Capability, Engine
from fathom.state import Hit, Query

T = TypeVar("T")
_log = logging.getLogger(__name__)


def _tell(details: RetryDetails) -> None:
    _log.info("Attempt %d in %.1f s: %s", details.retry_num + 1, details.wait_for, details.caused_by)


# By default stamina tells structlog, if that is installed, and structlog prints to where the report goes.
set_on_retry_hooks([_tell])


@dataclass(frozen=True)
class Patience:
    """How often, and how long in between; `longest_s` is the longest wait a provider may ask for."""

    attempts: int = 3
    first_wait_s: float = 1.0
    most_wait_s: float = 10.0
    jitter_s: float = 1.0
    longest_s: float = 30.0

    def after(self, error: Exception) -> bool | timedelta:
        """Whether to try again, or after what time exactly; asking sooner than told is of no use."""
        if not isinstance(error, Unavailable):
            return False
        if error.wait_s is None:
            return True
        return timedelta(seconds=error.wait_s) if error.wait_s <= self.longest_s else False


async def patiently(call: Callable[[], Awaitable[T]], patience: Patience) -> T:
    """What the call returns, at the latest on the last attempt; or the last error."""
    try:
        return await call()  # outside of stamina, which is dear where nothing goes wrong
    except Unavailable as error:
        failures = [error]
    tries = stamina.retry_context(
        on=patience.after,
        attempts=patience.attempts,
        timeout=None,
        wait_initial=patience.first_wait_s,
        wait_max=patience.most_wait_s,
        wait_jitter=patience.jitter_s,
    )
    async for attempt in tries:
        with attempt:
            if failures:  # the first attempt was made above
                raise failures.pop()
            return await call()
    raise AssertionError("stamina ends with a result or with the last error")


@dataclass(frozen=True)
class Patient:
    """An engine that is asked again when it is unavailable."""

    engine: Engine
    patience: Patience = field(default_factory=Patience)

    @property
    def name(self) -> str:
        """The engine's own name."""
        return self.engine.name

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What the engine can do."""
        return self.engine.capabilities

    async def __call__(self, query: Query, *, limit: int) -> Sequence[Hit]:
        """The engine's hits."""
        return await patiently(lambda: self.engine(query, limit=limit), self.patience)


@dataclass(frozen=True)
class PatientReader:
    """A reader that is asked again when the page is unavailable."""

    reader: Reader
    patience: Patience = field(default_factory=Patience)

    async def __call__(self, hit: Hit) -> Document:
        """The document behind one hit."""
        return await patiently(lambda: self.reader(hit), self.patience)

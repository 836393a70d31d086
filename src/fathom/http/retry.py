"""Trying again, for anything that may be unavailable for a moment.

Does not know what it calls: only that `Unavailable` is worth another try, and nothing else is.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import stamina
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from fathom.errors import Unavailable

T = TypeVar("T")
_log = logging.getLogger(__name__)


def _log_retry(details: RetryDetails) -> None:
    _log.info("Attempt %d in %.1f s: %s", details.retry_num + 1, details.wait_for, details.caused_by)


# By default stamina tells structlog, if that is installed, and structlog prints to where the report goes.
set_on_retry_hooks([_log_retry])


@dataclass(frozen=True)
class RetryPolicy:
    """How often, and how long in between; `longest_s` is the longest wait a provider may ask for."""

    attempts: int = 3
    first_wait_s: float = 1.0
    most_wait_s: float = 10.0
    jitter_s: float = 1.0
    longest_s: float = 30.0

    def after(self, error: Exception) -> bool | timedelta:
        """Return whether to try again, or after what time exactly; asking sooner than told is of no use."""
        if not isinstance(error, Unavailable):
            return False
        if error.wait_s is None:
            return True
        return timedelta(seconds=error.wait_s) if error.wait_s <= self.longest_s else False


async def retry(call: Callable[[], Awaitable[T]], policy: RetryPolicy) -> T:
    """Return what the call returns, at the latest on the last attempt; or raise its last error."""
    tries = stamina.retry_context(
        on=policy.after,
        attempts=policy.attempts,
        timeout=None,
        wait_initial=policy.first_wait_s,
        wait_max=policy.most_wait_s,
        wait_jitter=policy.jitter_s,
    )
    async for attempt in tries:
        with attempt:
            return await call()
    raise AssertionError("stamina ends with a result or with the last error")

"""HTTP on httpx2: one client an event loop, and guarded, polite fetching of pages.

Here: which errors statuses are, and how calls are retried that raise `Unavailable`, also those of models.
"""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TypeVar

import stamina
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable

T = TypeVar("T")
_log = logging.getLogger(__name__)


def _log_retry(details: RetryDetails) -> None:
    _log.info("Attempt %d in %.1f s: %s", details.retry_num + 1, details.wait_for, details.caused_by)


# Without this, stamina logs through structlog, which prints to stdout beside the report.
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
        """Return whether to retry, or the exact wait that the server demands."""
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


_RETRYABLE = {408, 425, 429}
_REFUSED = {401, 402, 403, 432, 433}  # 432 and 433 are Tavily's: the plan or the budget is used up


def error_for_status(
    who: str, status: int, *, retry_after: str | None = None, said: str = ""
) -> ProviderError:
    """Return the error for a status: worth a retry, the operator's business, or ours."""
    message = f"{who} answered HTTP {status}" + (f": {said}" if said else "")
    if status in _RETRYABLE or status >= 500:
        return Unavailable(message, wait_s=retry_after_s(retry_after), status=status)
    error = Refused(message) if status in _REFUSED else Unreadable(message)
    error.status = status
    return error


def retry_after_s(header: str | None) -> float | None:
    """Return the seconds a `Retry-After` header asks for, given as seconds or as a date."""
    if header is None:
        return None
    with suppress(ValueError):  # if it is no number, it is a date, or nonsense
        return max(0.0, float(header))
    try:
        until = parsedate_to_datetime(header)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())

"""What an HTTP answer that is not a good one means for us.

Does not know any service, or which library carried the answer.
"""

from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable

_LATER = {408, 425, 429}
_OPERATOR = {401, 402, 403, 432, 433}  # 432 and 433 are Tavily's: the plan or the budget is used up


def failure(who: str, status: int, *, retry_after: str | None = None, said: str = "") -> ProviderError:
    """The error for a status: worth a retry, the operator's business, or ours."""
    message = f"{who} answered HTTP {status}" + (f": {said}" if said else "")
    if status in _LATER or status >= 500:
        return Unavailable(message, wait_s=wait_from(retry_after), status=status)
    error = Refused(message) if status in _OPERATOR else Unreadable(message)
    error.status = status
    return error


def wait_from(retry_after: str | None) -> float | None:
    """The seconds a `Retry-After` header asks for, given as seconds or as a date."""
    if retry_after is None:
        return None
    with suppress(ValueError):  # if it is no number, it is a date, or nonsense
        return max(0.0, float(retry_after))
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())

"""What an HTTP answer that is not a good one means for us.

Does not know any service, or which library carried the answer.
"""

from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from fathom.errors import ProviderError, Refused, Unavailable, Unreadable

_LATER = {408, 425, 429}
_OPERATOR = {401, 402, 403, 432, 433}  # 432 and 433 are Tavily's: the plan or the budget is used up


def error_for_status(
    who: str, status: int, *, retry_after: str | None = None, said: str = ""
) -> ProviderError:
    """Return the error for a status: worth a retry, the operator's business, or ours."""
    message = f"{who} answered HTTP {status}" + (f": {said}" if said else "")
    if status in _LATER or status >= 500:
        return Unavailable(message, wait_s=retry_after_s(retry_after), status=status)
    error = Refused(message) if status in _OPERATOR else Unreadable(message)
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

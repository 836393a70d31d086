"""Old names of `fathom.http.status`, for those who still use them."""

from fathom.http.status import error_for_status as failure
from fathom.http.status import retry_after_s as wait_from

__all__ = ["failure", "wait_from"]

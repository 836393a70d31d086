"""Errors, by who can act on them."""

from collections.abc import Sequence
from typing import ClassVar

from fathom.state import Cost, Failure, Reason


class FathomError(RuntimeError):
    """Anything Fathom says no to, in one sentence for a person.

    A RuntimeError because `langgraph dev` hides the words of errors that are not of Python's own kinds. Its
    `code` stays the same from version to version, for programs (docs/errors.md).
    """

    code: ClassVar[str] = "error"


class BadInput(FathomError):
    """The caller asked for something that is not there or not allowed."""

    code = "bad_input"


class IllegalTransition(BadInput):
    """Something was to become what it cannot become from where it is."""


class RunStopped(FathomError):
    """A run stands where it is, checkpointed, and can be resumed."""

    code = "run_stopped"


class DatabaseError(FathomError):
    """The database server cannot be asked just now."""

    code = "database_error"


class ProviderError(FathomError):
    """A model, an engine or a page failed; the error carries what was paid."""

    code = "provider_error"

    status: int | None = None  # of the HTTP answer that said so, if there was one

    def __init__(self, message: str, costs: Sequence[Cost] = ()) -> None:
        super().__init__(message)
        self.costs = list(costs)

    def failure(self, where: str, what: str, told: Reason | None = None, stand_in: str = "") -> Failure:
        """The record of what was lost through it."""
        return Failure(where=where, what=what, why=str(self), code=self.code, told=told, stand_in=stand_in)


class Unavailable(ProviderError):
    """Timeout, 429, 5xx, no route: worth another try, after `wait_s` if the provider said so."""

    code = "unavailable"

    def __init__(
        self,
        message: str,
        costs: Sequence[Cost] = (),
        *,
        wait_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message, costs)
        self.wait_s = wait_s
        self.status = status


class Unreachable(Unavailable):
    """The host does not listen or cannot be reached."""


class Refused(ProviderError):
    """Bad key, no quota, forbidden, blocked by the guard: the operator can act."""

    code = "refused"


class OutOfBudget(Refused):
    """It was not asked: that could have cost more than is left."""

    code = "out_of_budget"


class OutOfTime(ProviderError):
    """The run's time is used up: only the report may still be started."""

    code = "out_of_time"


class Unreadable(ProviderError):
    """It answered, but not as promised."""

    code = "unreadable"


class BadQuery(Unreadable):
    """It did not take these words; the same question put more plainly may do."""

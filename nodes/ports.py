"""Protocols for what nodes use besides a model. Implementations live in other packages."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from fathom.budget import Account
from fathom.search import SearchOutcome
from fathom.state import Cost, Forecast, Query

Clock = Callable[[], datetime]
Forecaster = Callable[[str, str], Awaitable[Forecast]]  # (question, run name) -> forecast


class EnginesPort(Protocol):
    """All search engines of a run behind one call."""

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """Return merged hits, failures and costs; raise a ProviderError if every engine failed."""


class PagesPort(Protocol):
    """Store of page texts."""

    async def put(self, text: str) -> str:
        """Store a text and return its hash."""

    async def get(self, sha: str) -> str:
        """Return the text of a hash."""


class RunConfigsPort(Protocol):
    """Store of run configurations."""

    async def remember_config(self, run: str, config: str) -> None:
        """Store a run's configuration as JSON, replacing an earlier one."""

    async def config_of(self, run: str) -> str | None:
        """Return the configuration as JSON, or None."""


class TimeBudgetPort(Protocol):
    """Working time of a run."""

    def worked_s(self) -> float:
        """Return the working time so far, in seconds."""


class PageLeasesPort(Protocol):
    """Which branch reads which page, so that no page is read twice in a run."""

    async def begin(self) -> str:
        """Return a new unique run name."""

    async def take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        """Return the first addresses that this branch holds or can take now. Idempotent."""


class ControlSignalsPort(Protocol):
    """Signals that a user sends to a running run. A node that runs again gets the same answers."""

    async def added(self, number: int, place: str = "review") -> Mapping[int, str]:
        """Assign the waiting queries to this round and place, and return them by signal number."""

    async def waiting(self) -> list[str]:
        """Return queries that were added and belong to no round yet."""

    async def is_pausing(self, place: str) -> bool:
        """Tell whether a user wants a pause at this place; in any other place the same pause is over."""

    async def is_stopping(self, place: str = "") -> bool:
        """Tell whether a user wants to stop the search; with a place, the signal is consumed there."""


class BudgetPort(Protocol):
    """What a run may still spend."""

    async def account(self) -> Account:
        """Return what is spent or reserved, and whether further research was refused."""

    async def unreported_costs(self, known: Iterable[Cost]) -> list[Cost]:
        """Return costs of paid calls that are missing from these."""

"""What nodes need of the world beside a model.

Does not know who provides it.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from fathom.budget.budget import Account
from fathom.search.protocol import SearchOutcome
from fathom.state import Cost, Forecast, Query

Clock = Callable[[], datetime]
Forecaster = Callable[[str, str], Awaitable[Forecast]]  # of a question, for the run of that name


class EnginesPort(Protocol):
    """All engines of a run behind one call."""

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """Merged hits, losses and costs; raises a ProviderError when every engine failed."""


class PagesPort(Protocol):
    """Where page texts are kept."""

    async def put(self, text: str) -> str:
        """Keep a text, return its hash."""

    async def get(self, sha: str) -> str:
        """The text of a hash."""


class RunConfigsPort(Protocol):
    """Where the configurations of runs are kept."""

    async def remember_config(self, run: str, config: str) -> None:
        """Keep a run's configuration as JSON, in the place of an earlier one."""

    async def config_of(self, run: str) -> str | None:
        """Return the configuration as JSON, or None."""


class TimeBudgetPort(Protocol):
    """How long a run was worked on."""

    def worked_s(self) -> float:
        """In seconds, so far."""


class PageLeasesPort(Protocol):
    """What the branches of one run share while they work: pages nobody else takes."""

    async def begin(self) -> str:
        """A name for a run that no other run has."""

    async def take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        """The first addresses that are the branch's, taken now or before; asking again gives the same."""


class ControlSignalsPort(Protocol):
    """What a person orders from anywhere while the run works; a node that runs again is told the same."""

    async def added(self, number: int, place: str = "review") -> Mapping[int, str]:
        """The queries that wait, for this round and this place from now on; by the number of their order."""

    async def waiting(self) -> list[str]:
        """Queries that were added and belong to no round yet."""

    async def is_pausing(self, place: str) -> bool:
        """Whether a person wants a pause, here; asked in another place, the same pause is over."""

    async def is_stopping(self, place: str = "") -> bool:
        """Whether a person wants no more to be looked for; with a place, the order is carried out there."""


class BudgetPort(Protocol):
    """What a run may still spend."""

    async def account(self) -> Account:
        """What it has spent or set aside, and whether looking further had to be refused."""

    async def unreported_costs(self, told: Iterable[Cost]) -> list[Cost]:
        """Charges for what was paid and is in none of these."""

"""A storage: everything that is kept in one database, whether a file or a server.

Does not know SQL. Every call is one short transaction. It may be made from any event loop of any thread, and
never blocks the loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from fathom.storage.content_tables import ControlTable, PageTable, ReplyTable, WebPageTable, WindowTable
from fathom.storage.records import RemovedRows
from fathom.storage.run_tables import (
    BatchLimit,
    CostTable,
    LeaseTable,
    RunTable,
    SignalTable,
    ThreadTable,
    WatchTable,
)
from fathom.storage.sql import Database
from fathom.storage.thinning import CheckpointTable

if TYPE_CHECKING:
    from fathom.storage.postgres_tables import BatchTable, EventTable, PaceTable, PaperTable


class HeldLock(Protocol):
    """A lock that is held."""

    async def release(self) -> None:
        """Let others have it; also when whoever waits for that is cut off."""

    async def remove(self) -> None:
        """The same, for a lock that nobody will want again."""


class LockStore(Protocol):
    """Who works on what: one at a time in all processes. A killed process holds nothing."""

    async def acquire(self, name: str) -> HeldLock | None:
        """Return the lock, held, or None when somebody else holds it."""

    async def is_held(self, name: str) -> bool:
        """Whether anybody holds the lock."""

    async def lost(self) -> set[str]:
        """Return the locks that this process held, and somebody else has taken since."""


class PruneStore(Protocol):
    """Runs taken away, and the room they took given back."""

    async def remove_runs(
        self, gone: Sequence[str], *, is_idle: bool, now: float, older_s: float | None, is_dry: bool
    ) -> RemovedRows:
        """Take out the runs that are gone and what nobody needs any more; with `is_dry` only count it.

        `is_idle` says that no run was at work when it was `now`: what was put since stays, for a run may have
        begun. Otherwise what was put lately stays, whoever needs it.
        """

    async def page_names(self) -> set[str]:
        """Return the names of all texts that are kept."""

    async def shrink(self) -> None:
        """Give the room of what was taken out back to the disk."""

    async def size_bytes(self) -> int:
        """Return how much room everything takes."""


@dataclass(frozen=True, eq=False)
class Storage:
    """All parts of one database; `name` tells databases apart within a process.

    Whoever keeps something takes a storage, and never an address: only those who know the settings open one.
    """

    name: str
    pages: PageTable
    replies: ReplyTable
    web_pages: WebPageTable
    costs: CostTable
    signals: SignalTable
    leases: LeaseTable
    threads: ThreadTable
    runs: RunTable
    watches: WatchTable
    windows: WindowTable
    controls: ControlTable
    checkpoints: CheckpointTable
    locks: LockStore
    cleaning: PruneStore
    # What machines share beside; where one machine has a file of its own, folders have events and papers.
    events: "EventTable | None" = None
    papers: "PaperTable | None" = None
    paces: "PaceTable | None" = None
    batches: "BatchTable | None" = None


def make_storage(
    name: str,
    database: Database,
    checkpoints: CheckpointTable,
    locks: LockStore,
    cleaning: PruneStore,
    left_in_batch: BatchLimit = lambda _connection, _run: None,
) -> Storage:
    """Return everything that is kept in a database."""
    return Storage(
        name=name,
        pages=PageTable(database),
        replies=ReplyTable(database),
        web_pages=WebPageTable(database),
        costs=CostTable(database, left_in_batch),
        signals=SignalTable(database),
        leases=LeaseTable(database),
        threads=ThreadTable(database),
        runs=RunTable(database),
        watches=WatchTable(database),
        windows=WindowTable(database),
        controls=ControlTable(database),
        checkpoints=checkpoints,
        locks=locks,
        cleaning=cleaning,
    )

"""A storage put together: the tables that both databases share, and what each does in its own way.

Does not know SQL: the parts do.
"""

from fathom.storage.content_tables import ControlTable, PageTable, ReplyTable, WebPageTable, WindowTable
from fathom.storage.protocol import CheckpointStore, LockStore, PruneStore, Storage
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


def make_storage(
    name: str,
    database: Database,
    checkpoints: CheckpointStore,
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

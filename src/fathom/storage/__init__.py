"""Everything that lasts: checkpoints, page texts, answers, costs, signals, leases, run records.

`open_storage` gives the one storage of a database. Nothing here imports LangGraph but `checkpoints`.
"""

from fathom.storage.protocol import Storage
from fathom.storage.sqlite import close_storage, open_storage

__all__ = ["Storage", "close_storage", "open_storage"]

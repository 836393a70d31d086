"""What servers have shown of their models' windows, kept so that the next run need not learn it again.

Does not know how it was learnt. It holds for a day, and only while the server says of itself what it said
then: whoever gives a model a larger window, or another one its name, is believed at once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from fathom.storage import Storage

KEPT_S = 24 * 3600.0


@dataclass(frozen=True)
class Learnt:
    """The window of one model on one server; every call is its own short transaction."""

    storage: Storage
    server: str
    model: str
    clock: Callable[[], float] = time.time

    async def size(self, said: int | None) -> int | None:
        """What was learnt and still holds, when the server says this of itself now."""
        now = self.clock()
        return await self.storage.windows.get(self._name, said, now - KEPT_S, now)

    async def keep(self, size: int, said: int | None) -> None:
        """The server has shown this, whatever it said."""
        now = self.clock()
        await self.storage.windows.put(self._name, size, said, now, now - KEPT_S)

    @property
    def _name(self) -> str:
        return sha256(f"{self.server}\n{self.model}".encode()).hexdigest()  # an address may hold a password

"""What servers have shown of their models' windows, kept so that the next run need not learn it again.

Does not know how it was learnt. It holds for a day, and only while the server says of itself what it said
then: whoever gives a model a larger window, or another one its name, is believed at once.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from fathom.database import looked_up, opened, written

KEPT_S = 24 * 3600.0


@dataclass(frozen=True)
class Learnt:
    """The window of one model on one server; every call is its own short transaction."""

    database: Path
    server: str
    model: str
    clock: Callable[[], float] = time.time

    async def size(self, said: int | None) -> int | None:
        """What was learnt and still holds, when the server says this of itself now."""
        return await looked_up(self.database, self._size, said)

    async def keep(self, size: int, said: int | None) -> None:
        """The server has shown this, whatever it said."""
        await written(self.database, self._keep, size, said)

    @property
    def _name(self) -> str:
        return sha256(f"{self.server}\n{self.model}".encode()).hexdigest()  # an address may hold a password

    def _size(self, said: int | None) -> int | None:
        words = "select size from windows where name = ? and said is ? and at between ? and ?"
        now = self.clock()
        with opened(self.database) as connection:
            row = connection.execute(words, (self._name, said, now - KEPT_S, now)).fetchone()
        return int(row[0]) if row else None

    def _keep(self, size: int, said: int | None) -> None:
        now = self.clock()
        with opened(self.database) as connection:
            connection.execute(
                "insert or replace into windows values (?, ?, ?, ?)", (self._name, size, said, now)
            )
            connection.execute("delete from windows where at < ?", (now - KEPT_S,))

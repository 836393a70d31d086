"""Where a run that goes another way came from.

Does not know how it goes on.
"""

from pydantic import Field

from fathom.state.records import Record


class Fork(Record):
    """The run and the round that a fork shares everything up to, and where it went from there."""

    run: str
    round: int = Field(ge=1)
    direction: str

"""What a run is expected to cost, as a record.

Does not know how it is worked out.
"""

from pydantic import Field

from fathom.state.records import Record


class Forecast(Record):
    """Cost and time before a run begins: what is likely, and the worst."""

    expected_usd: float = Field(ge=0)
    worst_usd: float = Field(ge=0)  # the budget: it cannot be exceeded
    expected_s: float = Field(ge=0)
    worst_s: float = Field(ge=0)
    calls: int = Field(ge=0)  # of models, expected
    tokens_in: int = Field(ge=0)
    tokens_out: int = Field(ge=0)
    because: str  # what the figures rest on
    unpriced: list[str] = Field([])  # models that no price is known for: the figures leave them out

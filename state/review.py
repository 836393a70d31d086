"""What a person may answer when shown a plan.

Does not know how the answer is asked for or carried out.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator


class ReviewAnswer(BaseModel):
    """One decision about the plan on the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Literal["approve", "edit", "feedback", "add", "finish"] = Field(
        description="Go on; go on with other queries; plan again; go on with one query more; write now."
    )
    queries: list[str] = Field([], description="For edit: the queries to send, all of them.")
    text: str = Field("", description="For feedback: what to change. For add: the query to add.")

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "ReviewAnswer":
        if self.action == "edit" and not any(q.strip() for q in self.queries):
            raise ValueError("edit needs at least one query")
        if self.action in {"feedback", "add"} and not self.text.strip():
            raise ValueError(f"{self.action} needs text")
        return self

"""What a person may answer when shown a plan.

Does not know how the answer is asked for or carried out. Drawn as a form by LangGraph Studio.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Action = Literal["approve", "edit", "feedback", "add", "finish"]


class ReviewAnswer(BaseModel):
    """One decision about the plan on the table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Action = Field(
        description="approve: go on with the plan. edit: go on with the queries and sub-questions given here."
        " feedback: plan again, with what is said in text. add: go on, with the query in text beside the"
        " others. finish: look no further and write the report now."
    )
    queries: list[str] = Field(
        [], description="For edit: the queries to send, all of them; empty: those of the plan."
    )
    questions: list[str] = Field(
        [],
        description="For edit: the sub-questions to answer, all of them; empty: those of the plan. One that"
        " evidence was found for stays.",
    )
    text: str = Field(
        "", max_length=2000, description="For feedback: what to change, in your words. For add: the query."
    )

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "ReviewAnswer":
        if self.action == "edit" and not any(q.strip() for q in [*self.queries, *self.questions]):
            raise ValueError("edit needs at least one query or sub-question")
        if self.action in {"feedback", "add"} and not self.text.strip():
            raise ValueError(f"{self.action} needs text")
        return self

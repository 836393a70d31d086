"""The knobs of one run: plain JSON, drawn as a form by LangGraph Studio.

Does not know the process's settings: keys and addresses of services are never knobs.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Depth = Literal["quick", "standard", "comprehensive"]
Strategy = Literal["loop", "tree", "rollouts"]
Orchestration = Literal["concurrent", "sequential", "handoff"]
Review = Literal["off", "plan", "rounds"]
_DAY = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"
_SOURCES = 10
ROUNDS: dict[Depth, int] = {"quick": 3, "standard": 5, "comprehensive": 10}
LEVELS: dict[Depth, int] = {"quick": 2, "standard": 3, "comprehensive": 5}
BREADTH = 5
USUAL_USD = 1.0
ENDLESS_ROUNDS = 100
ENDLESS_USD = 10.0


# Above the fields of a form: a name in words, with its unit.
_TITLES = {
    "budget_usd": "Budget (USD)",
    "reserve": "Reserve for writing (share)",
    "time_limit_s": "Time limit (seconds)",
    "context_tokens": "Window of the model (tokens)",
    "docs": "Documents",
    "base_url": "Server of the model",
}


def _title(name: str, _: object) -> str:
    return _TITLES.get(name) or name.replace("_", " ").capitalize()


class RunConfig(BaseModel):
    """One dial, depth; everything else follows from it unless it is set."""

    model_config = ConfigDict(frozen=True, extra="forbid", field_title_generator=_title)

    depth: Depth = Field("quick", description="How far to go: at most 3, 5 or 10 rounds.")
    rounds: int | None = Field(None, ge=1, le=100, description="At most this many rounds; empty: by effort.")
    sources: int | None = Field(
        None, ge=1, le=100, description="At most this many pages are read a round; empty: by effort."
    )
    queries: int = Field(5, ge=1, le=20, description="At most this many searches a round.")
    threshold: float = Field(0.8, ge=0, le=1, description="The sufficiency score that is enough.")
    budget_usd: float = Field(
        USUAL_USD, ge=0, le=1_000_000, description="The run never costs more than this, in USD."
    )
    reserve: float = Field(
        0.15, ge=0, lt=1, description="Share of the budget that is kept for writing and checking the report."
    )
    time_limit_s: float | None = Field(
        None,
        gt=0,
        le=10_000_000,
        description="Seconds of work after which the report is written; empty: no limit.",
    )
    reuse: bool = Field(True, description="Take answers of models and engines from earlier runs.")
    context_tokens: int | None = Field(
        None, ge=1024, description="The model's window in tokens; empty: known, or asked of the server."
    )
    docs: list[str] = Field([], description="Folders or files to search; empty: search the web.")
    engines: list[str] = Field([], description="Engines by name, or hybrid for all; empty: chosen for you.")
    include_domains: list[str] = Field([], description="Only hosts of these domains.")
    exclude_domains: list[str] = Field([], description="No hosts of these domains.")
    since: str | None = Field(None, pattern=_DAY, description="Nothing older than this day, YYYY-MM-DD.")
    until: str | None = Field(None, pattern=_DAY, description="Nothing newer than this day, YYYY-MM-DD.")
    source_language: str | None = Field(
        None, pattern="^[a-z]{2}$", description="Only sources in this language, as two letters."
    )
    fresh: bool = Field(False, description="Read every page anew, even one read a moment ago.")
    academic: bool = Field(False, description="Prefer papers.")
    news: bool = Field(False, description="Prefer news.")
    model: str | None = Field(None, description="The model that thinks; empty: as configured.")
    base_url: str | None = Field(
        None, description="Its OpenAI-compatible server; must be one the operator named."
    )
    language: str | None = Field(None, description="Language of the report; empty: that of the question.")
    unsupported: Literal["drop", "mark"] = Field(
        "drop", description="What becomes of a sentence that its quotes do not carry, also rewritten."
    )
    review: Review = Field(
        "off",
        description="Stop and show the first plan, or the plan of every round, before it is carried out.",
    )
    endless: bool = Field(
        False, description="Go on until somebody stops it, for 100 rounds or 10 USD at most."
    )

    strategy: Strategy = Field(
        "loop", description="One loop; a tree of directions, level by level; or rollouts from several starts."
    )
    branches: int | None = Field(
        None, ge=1, le=8, description="Branches of a rollout, or of a level of the tree; empty: by effort."
    )
    levels: int | None = Field(
        None, ge=1, le=5, description="Levels of the tree, or rounds of each rollout; empty: by depth."
    )
    breadth: int | None = Field(
        None, ge=1, le=20, description="Searches and pages a step of a branch; empty: at most 5."
    )
    orchestration: Orchestration = Field(
        "concurrent", description="Branches at once, one after another, or each building on the one before."
    )

    @field_validator("review", mode="before")
    @classmethod
    def _as_it_was_asked_before(cls, given: Any) -> Any:
        """Runs that were begun before there was a choice remember yes or no."""
        return {True: "rounds", False: "off"}.get(given, given) if isinstance(given, bool) else given

    @model_validator(mode="before")
    @classmethod
    def _endless_has_limits_of_its_own(cls, given: Any) -> Any:
        """Without an end, money and rounds are the ends, unless the caller set lower ones."""
        if not isinstance(given, dict) or not given.get("endless"):
            return given
        usd = given.get("budget_usd")
        rounds = given.get("rounds")
        return {
            **given,
            "budget_usd": min(usd, ENDLESS_USD) if isinstance(usd, int | float) else ENDLESS_USD,
            "rounds": ENDLESS_ROUNDS if rounds is None else rounds,
        }

    @property
    def max_rounds(self) -> int:
        """Rounds this run may have; where there are branches, how often they are judged together."""
        if self.strategy == "rollouts":
            return 1
        if self.strategy == "tree":
            return min(self.levels or LEVELS[self.depth], self.rounds or 100)
        return self.rounds if self.rounds is not None else ROUNDS[self.depth]

    @property
    def max_sources(self) -> int:
        """Pages this run may read a round."""
        return self.sources if self.sources is not None else _SOURCES

    @property
    def step(self) -> int:
        """Searches a step of a branch, and pages."""
        return self.breadth or min(BREADTH, self.queries)

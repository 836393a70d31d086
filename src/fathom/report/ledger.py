"""The report as a ledger: everything a stranger needs to check it again, years later (docs/ledger.md).

Does not know how it is checked. Reading is lenient about what later versions add, and strict about the rest.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, model_validator

from fathom.budget.prices import CostBy
from fathom.errors import BadInput
from fathom.state import (
    Citation,
    Claim,
    Contradiction,
    ControlTally,
    Direction,
    Effort,
    Failure,
    Finding,
    Forecast,
    Fork,
    Judgement,
    Outline,
    Page,
    Query,
    Rejected,
    RunConfig,
    RunUpdate,
    Section,
    SubQuestion,
    ThreadTurn,
)

LEDGER_FORMAT: Literal["fathom-ledger/1"] = "fathom-ledger/1"
_MAX_BYTES = 256 * 1024 * 1024


class RunMetadata(BaseModel):
    """The run in numbers."""

    model_config = ConfigDict(frozen=True)

    rounds: int
    queries: int
    sources: int
    claims: int
    duration_s: float
    model_calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float
    cost_by: CostBy
    is_priced: bool
    score: float
    stop: str
    because: str
    gain_per_query: float = 0.0  # new findings, smoothed over rounds
    gain_per_usd: float | None = None
    saved_usd: float = 0.0  # by answers that were known before
    saved_calls: int = 0  # so many, of models and engines
    saved_tokens: int = 0
    tokens_cached: int = 0  # of those that went in, what the server still had
    # How often models were asked with a schema, with a tool, in words …; called `rungs` in earlier versions.
    strategies: dict[str, int] = Field({}, validation_alias=AliasChoices("strategies", "rungs"))
    forecast: Forecast | None = None  # what was expected before it began


class Ledger(BaseModel):
    """The chain from every sentence to the words of a page, and what was done to get there.

    A new field needs a default, so that ledgers written before it can still be read.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal["fathom-ledger/1"]
    fathom: str  # the version that wrote it
    run_id: str
    question: str
    status: str
    report: str
    kind: Literal["report", "extracts"] = "report"
    outline: Outline | None = None
    sections: list[Section]
    claims: list[Claim]
    sources: list[Page]
    citations: list[Citation]
    questions: list[SubQuestion] = []
    findings: list[Finding] = []
    contradictions: list[Contradiction] = []
    rejected: list[Rejected] = []
    control_tallies: list[ControlTally] = []  # how the verifiers did on statements of known truth
    judgements: list[Judgement] = []
    asked: list[Query] = []
    errors: list[Failure] = []
    settings: RunConfig = RunConfig()
    update: RunUpdate | None = None  # of an earlier run, and what changed since
    thread: list[ThreadTurn] = []  # of a follow-up: what was asked and answered before it
    fork: Fork | None = None  # of another run: what was known up to that round is shared
    effort: Effort | None = None
    directions: list[Direction] = []  # of a run with branches: the tree, or where each rollout started
    is_partial: bool | None = None
    metadata: RunMetadata | None = None

    @model_validator(mode="before")
    @classmethod
    def _accept_old_names(cls, given: Any) -> Any:
        """Read ledgers of version 0.1, which said `dropped` for `rejected`."""
        if not isinstance(given, dict):
            return given
        sections = given.get("sections")
        if isinstance(sections, list):
            given = {**given, "sections": [_rename_dropped(section) for section in sections]}
        return _rename_dropped(given)


def _rename_dropped(given: Any) -> Any:
    if isinstance(given, dict) and "dropped" in given and "rejected" not in given:
        given = {**given, "rejected": given["dropped"]}
        del given["dropped"]
    return given


def read_ledger(path: Path) -> Ledger:
    """The ledger in a file; one sentence when there is none in it."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise BadInput(f"{path} is larger than {_MAX_BYTES:,} bytes.")
        body = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None
    except ValueError as error:  # a name with a null in it
        raise BadInput(f"{str(path)!r} is not a file's name: {error}.") from None
    try:
        return Ledger.model_validate_json(body, extra="ignore")
    except ValidationError as error:
        raise BadInput(f"{path} {_describe_damage(error)}") from None


def _describe_damage(error: ValidationError) -> str:
    errors = error.errors(include_url=False, include_context=False)
    by_place = {found["loc"]: found for found in errors}
    first = errors[0]
    if first["type"] == "json_invalid":
        return f"is not JSON: {first['msg'].removeprefix('Invalid JSON: ')}."
    named = by_place.get(("format",))
    if named and isinstance(named["input"], str):
        return f"is in another format than {LEDGER_FORMAT}, which this version of Fathom reads."
    if named or first["loc"] == ():
        return "is not a report of Fathom (the report.json that a run writes)."
    place = ".".join(str(part) for part in first["loc"])
    return f"is a damaged report: {place[:80]}: {first['msg'][:120]}."

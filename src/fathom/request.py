"""What a caller asks for, checked at the door.

Does not know how it is done.
"""

from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from fathom.distance import knobs_for, read_depth, refuse_odd
from fathom.errors import BadInput
from fathom.state import (
    ENDLESS_USD,
    MAX_QUESTION_CHARS,
    USUAL_USD,
    Depth,
    Orchestration,
    Review,
    RunConfig,
    Strategy,
)

_ISO_639_1 = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = frozenset(_ISO_639_1.split())


class ResearchRequest(BaseModel):
    """One question and how it is to be researched."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    query: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS, pattern=r"\w")
    depth: Depth | int = "quick"
    output_format: Literal["markdown", "json"] = "markdown"
    language: str | None = None
    max_rounds: int | None = Field(None, ge=1, le=100)
    max_sources: int | None = Field(None, ge=1, le=100)
    max_queries: int = Field(5, ge=1, le=20)
    threshold: float = Field(0.8, ge=0, le=1)
    budget_usd: float | None = Field(None, ge=0, le=1_000_000)
    reserve: float = Field(0.15, ge=0, lt=1)
    time_limit_s: float | None = Field(None, gt=0, le=10_000_000)
    reuse: bool = True
    context_tokens: int | None = Field(None, ge=1024)
    providers: list[str] = []
    academic: bool = False
    news: bool = False
    include_domains: list[str] = []
    exclude_domains: list[str] = []
    since: date | None = None
    until: date | None = None
    source_language: str | None = Field(None, pattern="^[a-z]{2}$")
    fresh: bool = False
    docs: list[str] = []
    model: str | None = None
    base_url: str | None = None
    unsupported: Literal["drop", "mark"] = "drop"
    review: Review = "off"
    endless: bool = False
    strategy: Strategy | None = None
    branches: int | None = Field(None, ge=1, le=8)
    breadth: int | None = Field(None, ge=1, le=20)
    orchestration: Orchestration = "concurrent"

    _depth = field_validator("depth", mode="before")(read_depth)

    @model_validator(mode="after")
    def _goes_together(self) -> "ResearchRequest":
        if self.since and self.until and self.since > self.until:
            raise ValueError("--since is after --until: no day is between them")
        if self.source_language and self.source_language not in LANGUAGES:
            raise ValueError(f"--source-language {self.source_language} is not a language's code (ISO 639-1)")
        refuse_odd(self.depth, self.breadth, self.strategy, self.branches, self.orchestration, self.endless)
        return self

    def run_config(self, usual: RunConfig | None = None) -> RunConfig:
        """The same as the graph takes it; folders in full, so that a run can be resumed from anywhere.

        What the request leaves open is as `usual` has it.
        """
        if usual and usual.model_fields_set:
            run_config = self._over(usual).run_config()
            is_open = run_config.levels is None and "depth" not in self.model_fields_set
            return run_config.model_copy(update={"levels": usual.levels}) if is_open else run_config
        return RunConfig(
            **knobs_for(
                self.depth, self.breadth, self.strategy, self.max_rounds, self.max_sources, self.max_queries
            ),
            branches=self.branches,
            orchestration=self.orchestration,
            threshold=self.threshold,
            budget_usd=self._budget(),
            reserve=self.reserve,
            time_limit_s=self.time_limit_s,
            reuse=self.reuse,
            context_tokens=self.context_tokens,
            docs=[str(Path(place).expanduser().resolve()) for place in self.docs],
            engines=self.providers,
            academic=self.academic,
            news=self.news,
            include_domains=self.include_domains,
            exclude_domains=self.exclude_domains,
            since=self.since.isoformat() if self.since else None,
            until=self.until.isoformat() if self.until else None,
            source_language=self.source_language,
            fresh=self.fresh,
            model=self.model,
            base_url=self.base_url.rstrip("/") if self.base_url else None,
            language=self.language,
            unsupported=self.unsupported,
            review=self.review,
            endless=self.endless,
        )

    def _over(self, usual: RunConfig) -> "ResearchRequest":
        # A depth that is said takes back what usually follows from another one.
        taken = usual.model_fields_set - (
            {"rounds", "sources", "levels"} if "depth" in self.model_fields_set else set()
        )
        words = {_OF_KNOBS.get(name, name): getattr(usual, name) for name in taken}
        known = {name: value for name, value in words.items() if name in ResearchRequest.model_fields}
        return checked_request(**{**known, **{name: getattr(self, name) for name in self.model_fields_set}})

    def _budget(self) -> float:
        """What was said, else what is usual for such a run."""
        usual = ENDLESS_USD if self.endless else USUAL_USD
        return usual if self.budget_usd is None else self.budget_usd


# The field of a knob, where it has another name.
_OF_KNOBS = {
    "rounds": "max_rounds",
    "sources": "max_sources",
    "queries": "max_queries",
    "engines": "providers",
}
# What the command line calls a field, where that differs.
FLAGS = {
    "include_domains": "only",
    "exclude_domains": "not",
    "providers": "search",
    "output_format": "format",
    "max_rounds": "rounds",
    "max_sources": "sources",
    "max_queries": "queries",
    "budget_usd": "budget",
    "source_language": "source-language",
    "base_url": "base-url",
    "time_limit_s": "time-limit",
    "context_tokens": "context",
}
_SENTENCES = {
    ("query", "string_too_short"): "The question is empty.",
    ("query", "string_pattern_mismatch"): "The question has no words.",
    ("query", "string_too_long"): f"The question is longer than {MAX_QUESTION_CHARS} characters.",
}


def field_of(word: str) -> str:
    """The field of a request that is meant by its own name, a flag's or a knob's."""
    name = word.strip().lower().removeprefix("--").replace("-", "_")
    fields = [*ResearchRequest.model_fields]
    words = (
        {flag.replace("-", "_"): field for field, flag in FLAGS.items()} | _OF_KNOBS | {"question": "query"}
    )
    if name in fields:
        return name
    if name not in words:
        near = get_close_matches(name, [*fields, *words], n=1)
        raise BadInput(f"There is no setting {word!r}{f'; did you mean {near[0]}?' if near else '.'}")
    return words[name]


def checked_request(**words: object) -> ResearchRequest:
    """A request from loose words; one sentence when they do not make sense."""
    try:
        return ResearchRequest.model_validate(words)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        said = first["msg"].removeprefix("Input ").removeprefix("Value error, ")
        place = f"--{FLAGS.get(name, name)} " if name else ""  # without a name, it is about several
        told = _SENTENCES.get((name, first["type"])) or f"{place}{said}."
        raise BadInput(told) from None

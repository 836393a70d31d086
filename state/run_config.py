"""The configuration of one run as plain JSON values, for Python, Studio, settings files and the CLI.

It never contains keys or service addresses: those are settings of the process.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from fathom.state.depth import (
    BREADTH,
    LEVELS,
    MAX_ROUNDS,
    QUERIES,
    ROUNDS,
    USUAL_USD,
    Depth,
    Orchestration,
    Review,
    Strategy,
    Thinking,
    apply_depth,
    apply_endless_limits,
)
from fathom.state.records import Role

_DAY = r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"
_ARXIV_CATEGORY = r"[a-z]+(-[a-z]+)?(\.[A-Za-z]{2}|\.[a-z]+-[a-z]+|\.\*)?"
_SOURCES, _SHALLOW_HITS = 10, 5
_LISTS = ("docs", "engines", "include_domains", "exclude_domains", "arxiv_categories")
SearchDepth = Literal["shallow", "medium", "deep"]
_DAYS_AGO = {"today": 0, "yesterday": 1, "오늘": 0, "어제": 1}
_LENGTHS = ("short", "standard", "long")
_FEWEST_WORDS, _MOST_WORDS = 50, 20_000
_ISO_639_1 = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = frozenset(_ISO_639_1.split())

FIND_GROUP = "where to look"
THINK_GROUP = "who thinks"
FAR_GROUP = "how far to go"


@dataclass(frozen=True)
class Option:
    """How the command line shows a field, and the field's older names."""

    group: str
    metavar: str = "N"
    flag: str = ""  # default: the field's name
    aliases: tuple[str, ...] = ()
    bare: str = ""  # the option's value when given without one


# Form titles with units.
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
    """Configuration of a run: `depth` sets everything else that is not set.

    Older names of fields are accepted. A numeric `depth` is accepted too: alone, it is one pass over so many
    pages; with `breadth` or `strategy`, it counts rounds of recursion.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", field_title_generator=_title)

    docs: Annotated[list[str], Option(FIND_GROUP, "PLACE")] = Field(
        [], description="Folders or files to search; empty: search the web."
    )
    engines: Annotated[
        list[str], Option(FIND_GROUP, "NAMES", aliases=("engine", "search", "providers", "provider"))
    ] = Field([], description="Search engines by name, or hybrid for all; empty: chosen for you.")
    academic: Annotated[bool, Option(FIND_GROUP)] = Field(False, description="Prefer papers.")
    news: Annotated[bool, Option(FIND_GROUP)] = Field(False, description="Prefer news.")
    include_domains: Annotated[list[str], Option(FIND_GROUP, "DOMAIN", aliases=("only",))] = Field(
        [], description="Only pages of these domains."
    )
    exclude_domains: Annotated[list[str], Option(FIND_GROUP, "DOMAIN", aliases=("not",))] = Field(
        [], description="No pages of these domains."
    )
    since: Annotated[str | None, Option(FIND_GROUP, "DAY")] = Field(
        None, pattern=_DAY, description="Nothing older than this day, YYYY-MM-DD."
    )
    until: Annotated[str | None, Option(FIND_GROUP, "DAY")] = Field(
        None, pattern=_DAY, description="Nothing newer than this day, YYYY-MM-DD."
    )
    source_language: Annotated[str | None, Option(FIND_GROUP, "XX")] = Field(
        None, pattern="^[a-z]{2}$", description="Only sources in this language, as two letters: ko."
    )
    fresh: Annotated[bool, Option(FIND_GROUP)] = Field(
        False, description="Read every page anew, even one read a moment ago."
    )
    fallback: Annotated[bool, Option(FIND_GROUP)] = Field(
        True, description="Ask another engine of the same kind when a named one is down."
    )
    search_depth: Annotated[SearchDepth | None, Option(FIND_GROUP, "HOW")] = Field(
        None,
        description="shallow: a few results a query; deep: engines search harder and deliver texts; empty:"
        " deep with depth comprehensive, else medium.",
    )
    images: Annotated[bool, Option(FIND_GROUP)] = Field(
        False, description="Look for images too; each is named with the page it stands on."
    )
    arxiv_categories: Annotated[list[str], Option(FIND_GROUP, "NAMES")] = Field(
        [], description="Only papers of these categories of arXiv, as cs.CL; empty: of all."
    )
    papers: Annotated[int | None, Option(FIND_GROUP)] = Field(
        None, ge=1, le=100, description="At most this many papers a query; empty: as many as other results."
    )
    pdfs: Annotated[bool, Option(FIND_GROUP)] = Field(
        True, description="Read papers in full, from their PDF, rather than the page that announces them."
    )
    tldrs: Annotated[bool, Option(FIND_GROUP)] = Field(
        True, description="Show a paper's summary in one sentence where a catalogue has one."
    )
    citations: Annotated[Literal["auto", "on", "off"], Option(FIND_GROUP, "WHEN")] = Field(
        "auto", description="Follow who cites a found paper and whom it cites; auto: if the question asks."
    )

    model: Annotated[str | None, Option(THINK_GROUP, "NAME")] = Field(
        None, description="The model, as NAME, PROVIDER:NAME, a .gguf file, or none; empty: as configured."
    )
    models: Annotated[dict[Role, str], Option(THINK_GROUP, "ROLE=NAME")] = Field(
        {}, description="Another model for single roles: plan, read, verify, judge, outline, write, check."
    )
    base_url: Annotated[str | None, Option(THINK_GROUP, "URL")] = Field(
        None, description="The model's OpenAI-compatible server; must be one the operator named."
    )
    context_tokens: Annotated[int | None, Option(THINK_GROUP, "TOKENS", flag="context")] = Field(
        None,
        ge=1024,
        description="The model's context window in tokens; empty: known, or asked of the server.",
    )
    reuse: Annotated[bool, Option(THINK_GROUP)] = Field(
        True, description="Take answers of models and engines from earlier runs."
    )
    language: Annotated[str | None, Option(THINK_GROUP, "NAME")] = Field(
        None, description="Language of the report; empty: that of the question."
    )
    length: Annotated[str | None, Option(THINK_GROUP, "HOW")] = Field(
        None,
        description="Length of the report: short, standard, long or a number of words; empty: by question.",
    )
    unsupported: Annotated[Literal["drop", "mark"], Option(THINK_GROUP, "HOW")] = Field(
        "drop", description="Drop or mark a sentence that its quotes do not support, also rewritten."
    )
    quotes: Annotated[bool, Option(THINK_GROUP)] = Field(
        False, description="List the quotes below each source of the report, not only in quotes.md."
    )

    depth: Annotated[Depth, Option(FAR_GROUP, "HOW")] = Field(
        "standard",
        description="How far to go: quick, standard or comprehensive, for at most 3, 5 or 10 rounds.",
    )
    rounds: Annotated[int | None, Option(FAR_GROUP, aliases=("max_rounds",))] = Field(
        None, ge=1, le=MAX_ROUNDS, description="At most this many rounds; empty: by the question."
    )
    sources: Annotated[int | None, Option(FAR_GROUP, aliases=("max_sources",))] = Field(
        None, ge=1, le=100, description="At most this many pages are read a round; empty: by the question."
    )
    queries: Annotated[int, Option(FAR_GROUP, aliases=("max_queries",))] = Field(
        QUERIES, ge=1, le=20, description="At most this many searches a round."
    )
    threshold: Annotated[float, Option(FAR_GROUP, "SCORE")] = Field(
        0.8, ge=0, le=1, description="The sufficiency score that is enough."
    )
    budget_usd: Annotated[float, Option(FAR_GROUP, "USD", flag="budget")] = Field(
        USUAL_USD, ge=0, le=1_000_000, description="The run never costs more than this, in USD."
    )
    reserve: Annotated[float, Option(FAR_GROUP, "SHARE")] = Field(
        0.15, ge=0, lt=1, description="Share of the budget that is kept for writing and checking the report."
    )
    time_limit_s: Annotated[float | None, Option(FAR_GROUP, "SECONDS", flag="time_limit")] = Field(
        None,
        gt=0,
        le=10_000_000,
        description="Seconds of work after which the report is written; empty: no limit.",
    )
    review: Annotated[Review, Option(FAR_GROUP, "WHEN", bare="rounds")] = Field(
        "off", description="Show the first plan, or the plan of every round, and wait: off, plan or rounds."
    )
    endless: Annotated[bool, Option(FAR_GROUP)] = Field(
        False, description="Go on until somebody stops it, for 100 rounds or 10 USD at most."
    )
    strategy: Annotated[Strategy, Option(FAR_GROUP, "HOW")] = Field(
        "loop", description="One loop; a tree of directions, level by level; or rollouts from several starts."
    )
    branches: Annotated[int | None, Option(FAR_GROUP)] = Field(
        None,
        ge=1,
        le=8,
        description="Branches of a rollout, or of a level of the tree; empty: by the question.",
    )
    levels: Annotated[int | None, Option(FAR_GROUP)] = Field(
        None, ge=1, le=5, description="Levels of the tree, or rounds of each rollout; empty: by depth."
    )
    breadth: Annotated[int | None, Option(FAR_GROUP)] = Field(
        None, ge=1, le=20, description="Searches and pages a step of a branch; empty: at most 5."
    )
    orchestration: Annotated[Orchestration, Option(FAR_GROUP, "HOW")] = Field(
        "concurrent",
        description="Branches concurrent, sequential, or handoff: each builds on the one before.",
    )

    thinking: Annotated[Thinking, Option(FAR_GROUP, "HOW")] = Field(
        "auto",
        description=(
            "How rounds are planned: scientific, first-principles, occam, falsification, or auto for what"
            " each round calls for."
        ),
    )

    session_id: Annotated[str | None, Option(FAR_GROUP, "ID")] = Field(
        None,
        max_length=100,
        pattern=r"^[\w.:-]+$",
        description="The client session the run belongs to, such as a browser's tab; empty: none.",
    )

    @model_validator(mode="before")
    @classmethod
    def _read_words(cls, given: Any) -> Any:
        """Normalize older names, numeric depths and the limits of an endless run."""
        if not isinstance(given, Mapping):
            return given
        return apply_endless_limits(apply_depth(canonical_names(given)))

    @field_validator(*_LISTS, mode="before")
    @classmethod
    def _read_list(cls, given: Any) -> Any:
        """Accept one name or a comma-separated list; a path may contain commas."""
        if not isinstance(given, str):
            return given
        return [word.strip() for word in given.split(",") if word.strip()]

    @field_validator("docs", mode="before")
    @classmethod
    def _read_places(cls, given: Any) -> Any:
        return [given] if isinstance(given, str) else given

    @field_validator("since", "until", mode="before")
    @classmethod
    def _read_day(cls, given: Any) -> Any:
        if isinstance(given, str):
            if given.strip().lower() in _DAYS_AGO:
                return (date.today() - timedelta(days=_DAYS_AGO[given.strip().lower()])).isoformat()
            try:
                date.fromisoformat(given)
            except ValueError:
                raise ValueError("should be a day, as YYYY-MM-DD, today or yesterday") from None
        return given.isoformat() if isinstance(given, date) else given

    @field_validator("review", mode="before")
    @classmethod
    def _read_review(cls, given: Any) -> Any:
        """Accept the booleans that older runs stored."""
        return {True: "rounds", False: "off"}.get(given, given) if isinstance(given, bool) else given

    @field_validator("length", mode="before")
    @classmethod
    def _read_length(cls, given: Any) -> Any:
        if given is None:
            return None
        word = str(given).strip().lower()
        if word not in _LENGTHS and not (word.isdecimal() and _FEWEST_WORDS <= int(word) <= _MOST_WORDS):
            raise ValueError(
                f"the length should be short, standard, long, or {_FEWEST_WORDS} to {_MOST_WORDS} words"
            )
        return word

    @field_validator("arxiv_categories")
    @classmethod
    def _are_categories(cls, names: list[str]) -> list[str]:
        if wrong := [name for name in names if not re.fullmatch(_ARXIV_CATEGORY, name)]:
            raise ValueError(f"{wrong[0]} is not a category of arXiv, such as cs.CL or hep-th")
        return names

    @field_validator("source_language")
    @classmethod
    def _is_language(cls, code: str | None) -> str | None:
        if code and code not in LANGUAGES:
            raise ValueError(f"{code} is not a language's code (ISO 639-1)")
        return code

    @field_validator("base_url")
    @classmethod
    def _without_slash(cls, address: str | None) -> str | None:
        return address.rstrip("/") if address else None

    @model_validator(mode="after")
    def _has_days(self) -> Self:
        if self.since and self.until and self.since > self.until:
            raise ValueError("--since is after --until: no day is between them")
        return self

    @property
    def max_rounds(self) -> int:
        """Return the most rounds of this run; with branches, how often they are judged together."""
        if self.strategy == "rollouts":
            return 1
        if self.strategy == "tree":
            return min(self.levels or LEVELS[self.depth], self.rounds or MAX_ROUNDS)
        return self.rounds if self.rounds is not None else ROUNDS[self.depth]

    @property
    def max_sources(self) -> int:
        """Return the most pages that this run reads per round."""
        return self.sources if self.sources is not None else _SOURCES

    @property
    def is_deep_search(self) -> bool:
        """Return whether engines search as hard as they can, and deliver what they read."""
        return (self.search_depth or ("deep" if self.depth == "comprehensive" else "medium")) == "deep"

    @property
    def max_hits(self) -> int:
        """Return the most results of one query."""
        return min(self.max_sources, _SHALLOW_HITS) if self.search_depth == "shallow" else self.max_sources

    @property
    def step(self) -> int:
        """Return the searches and pages per step of a branch."""
        return self.breadth or min(BREADTH, self.queries)

    def as_one_loop(self) -> Self:
        """Return the same configuration for one loop without branches."""
        plain = {"strategy": "loop", "orchestration": "concurrent"}
        return self.model_copy(update={**plain, "branches": None, "levels": None, "breadth": None})

    def model_of(self, role: Role) -> str | None:
        """Return the model this run names for a role; None: as configured."""
        return self.models.get(role) or self.model

    def refuse_odd(self) -> None:
        """Raise ValueError, in one sentence, if settings contradict each other.

        Not part of validation, since defaults may be incomplete until a run adds to them.
        """
        if self.endless and self.strategy != "loop":
            raise ValueError("--endless is a loop: it goes with no --breadth and no other --strategy")
        if self.strategy == "loop" and (self.branches is not None or self.orchestration != "concurrent"):
            word = "--branches" if self.branches is not None else "--orchestration"
            raise ValueError(f"{word} needs --strategy tree or rollouts")


OPTIONS = {
    name: next(one for one in field.metadata if isinstance(one, Option))
    for name, field in RunConfig.model_fields.items()
}
ALIASES = {
    alias: name
    for name, option in OPTIONS.items()
    for alias in (option.flag, *option.aliases)
    if alias and alias != name
}


def flags_of(name: str) -> list[str]:
    """Return the command line options of a field, the preferred one first."""
    option = OPTIONS[name]
    words = dict.fromkeys((option.flag or name, name, *option.aliases))
    return [f"--{word.replace('_', '-')}" for word in words]


def canonical_names(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values under the fields' current names; raise if one field is given twice."""
    words: dict[str, Any] = {}
    for word, value in given.items():
        name = ALIASES.get(word, word)
        if name in words:
            raise ValueError(f"{name} is given twice, also under an older name")
        words[name] = value
    return words

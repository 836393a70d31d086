"""Public views of a run and its thread: validated records with ids and times, never stored.

What has a status changes it only by `moved`, along the arrows of its kind; a record is frozen, so a change is
a new record.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self, get_args
from uuid import NAMESPACE_URL, uuid5

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, JsonValue

from fathom.errors import IllegalTransition
from fathom.http.urls import parse_host
from fathom.search import Capability
from fathom.search.routing import HYBRID, KNOWN_ENGINES
from fathom.state import MAX_QUESTION_CHARS, Hit, RunConfig, RunState

QueryStatus = Literal["pending", "processing", "completed", "failed"]
ThreadStatus = Literal["active", "idle", "closed"]
AgentStatus = Literal["idle", "thinking", "working", "completed", "failed"]
AgentName = Literal["planner", "searcher", "reader", "analyzer", "judge", "writer"]
MessageType = Literal["request", "response", "notification", "error"]


def _in_order(numbers: list[int]) -> list[int]:
    if numbers != sorted(set(numbers)):
        raise ValueError("citation numbers are told once, in their order")
    return numbers


def _check_address(address: str) -> str:
    scheme, _, rest = address.partition(":")
    if scheme.lower() not in _SCHEMES or not rest.strip("/") or any(c.isspace() for c in address):
        raise ValueError(f"an address begins with one of {', '.join(sorted(_SCHEMES))}")
    if scheme.lower() in ("http", "https") and not parse_host(address):
        raise ValueError("an address of the web names a host")
    return address


def _check_source(source: str) -> str:
    if source.partition(":")[0] not in _SOURCES:
        raise ValueError(f"there is no source {source!r}; known are {', '.join(sorted(_SOURCES))}")
    return source


_SCHEMES = frozenset({"https", "http", "file", "mcp", "retriever"})
_SOURCES = frozenset({*KNOWN_ENGINES, *get_args(Capability), HYBRID})
Address = Annotated[str, AfterValidator(_check_address)]
SourceName = Annotated[str, AfterValidator(_check_source)]
NonEmptyText = Annotated[str, Field(min_length=1)]
Share = Annotated[float, Field(ge=0, le=1)]
CitationNumbers = Annotated[list[Annotated[int, Field(ge=1)]], AfterValidator(_in_order)]


def stable_id(*parts: str) -> str:
    """Return an id derived from the parts, the same each time a run is viewed."""
    return str(uuid5(NAMESPACE_URL, "\x1f".join(("fathom", *parts))))


class ViewPart(BaseModel):
    """Base class of views and their parts: frozen, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ViewRecord(ViewPart):
    """A view with an id."""

    id: NonEmptyText


class StatusView(ViewRecord):
    """A view with a status that may only go along its arrows."""

    arrows: ClassVar[Mapping[str, frozenset[str]]]
    called: ClassVar[str]

    status: str
    updated_at: AwareDatetime

    def moved(self, status: str, at: datetime, **changes: Any) -> Self:
        """The same with another status; raises IllegalTransition where no arrow leads to it."""
        if status not in self.arrows.get(self.status, frozenset()):
            raise IllegalTransition(f"A {self.called} that is {self.status} cannot become {status}.")
        if at < self.updated_at:
            raise IllegalTransition(f"A {self.called} cannot become {status} before it was {self.status}.")
        return self.model_validate({**self.model_dump(), "status": status, "updated_at": at, **changes})


class ResearchQuery(StatusView):
    """One question of a thread; its id is that of its run."""

    called = "research query"
    arrows = {"pending": frozenset({"processing"}), "processing": frozenset({"completed", "failed"})}

    thread_id: NonEmptyText
    content: str = Field(min_length=1, max_length=MAX_QUESTION_CHARS)
    search_sources: list[SourceName] = Field(min_length=1)
    created_at: AwareDatetime
    status: QueryStatus = "pending"


class AgentState(StatusView):
    """The state of one role of a run."""

    called = "agent"
    arrows = {
        "idle": frozenset({"thinking"}),
        "thinking": frozenset({"working", "failed"}),
        "working": frozenset({"completed", "failed"}),
        "completed": frozenset({"idle"}),  # another round may need it again
        "failed": frozenset({"idle"}),  # the run goes on
    }

    agent: AgentName
    query_id: NonEmptyText
    status: AgentStatus = "idle"
    progress: Share = 0.0
    current_task: str = ""
    intermediate_result: dict[str, JsonValue] = {}
    error: str = ""


class SearchResult(ViewRecord):
    """A source that a run found, read or not."""

    query_id: NonEmptyText
    source: SourceName
    engine: str = ""  # that found it
    title: NonEmptyText
    address: Address
    snippet: str
    authors: list[NonEmptyText] = []
    published: str | None = None
    pdf: Address | None = None
    image: Address | None = None
    retracted: str = ""  # who says so
    is_read: bool = True
    relevance: Share | None = None  # None: nothing in it answers the question
    created_at: AwareDatetime


class PlanStep(ViewPart):
    """One part of a plan."""

    number: int = Field(ge=1)
    description: NonEmptyText
    sources: list[SourceName]
    keywords: list[NonEmptyText]


class ResearchPlan(ViewRecord):
    """How a run means to find its answer."""

    query_id: NonEmptyText
    strategy: str
    keywords: list[NonEmptyText]
    steps: list[PlanStep]
    estimated_s: int | None = Field(ge=0)  # None: not estimated, as in an update
    created_at: AwareDatetime


class SourceCitation(ViewRecord):
    """A numbered source; its id is that of the search result."""

    number: int = Field(ge=1)
    title: NonEmptyText
    address: Address


class AnswerSection(ViewPart):
    """One part of an answer, and the numbers it cites."""

    heading: NonEmptyText
    content: str
    citations: CitationNumbers


class SynthesizedAnswer(ViewRecord):
    """What a run found, written down."""

    query_id: NonEmptyText
    thread_id: NonEmptyText
    content: str  # Markdown
    citations: list[SourceCitation]
    sections: list[AnswerSection]
    total_sources: int = Field(ge=0)
    by_source: dict[str, int]
    by_engine: dict[str, int] = {}
    word_count: int = Field(ge=0)
    created_at: AwareDatetime

    @property
    def opening(self) -> str:
        """The first words of its prose."""
        lines = (section.content.splitlines()[0] for section in self.sections if section.content)
        return next(lines, "").removeprefix("- ")


class AgentMessage(ViewRecord):
    """What one role told another, or all of them."""

    query_id: NonEmptyText
    sender: AgentName
    recipient: AgentName | None  # None: all
    type: MessageType
    content: dict[str, JsonValue]
    at: AwareDatetime


class PassageView(ViewPart):
    """A quote in the words around it, as the page was read."""

    before: str
    quote: str
    after: str
    title: str
    address: str


class ConversationThread(StatusView):
    """Questions and their answers that build on each other; its id is that of its first run."""

    called = "thread"
    arrows = {"active": frozenset({"idle", "closed"}), "idle": frozenset({"active", "closed"})}

    session_id: str = ""  # of the client that began it, such as a browser's tab; empty: none was named
    queries: list[ResearchQuery] = Field(min_length=1)
    answers: list[SynthesizedAnswer]
    created_at: AwareDatetime
    status: ThreadStatus = "active"


class RunViews(ViewPart):
    """Everything there is to see of one run."""

    query: ResearchQuery
    plan: ResearchPlan | None  # None: nothing was planned yet
    results: list[SearchResult]
    answer: SynthesizedAnswer | None  # None: nothing was written yet
    agents: list[AgentState]
    messages: list[AgentMessage]


@dataclass(frozen=True)
class ViewedRun:
    """What a database knows of a run: its state, when it began, when its last step was saved."""

    run: str
    thread: str
    question: str
    state: RunState
    began: datetime
    last: datetime
    is_over: bool
    found: Sequence[Hit] = ()  # also what was not read
    times: Mapping[str, datetime] = field(default_factory=dict)  # when "questions" or "round 1" came about

    @property
    def run_config(self) -> RunConfig:
        """The run's settings."""
        return RunConfig.model_validate(self.state.get("run_config") or {})

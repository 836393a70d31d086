"""What a run knows, as typed records: frozen, strict, and safe to checkpoint."""

import uuid
from hashlib import sha256
from typing import ClassVar, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter

Score = float

Role = Literal["plan", "read", "verify", "judge", "outline", "write", "check"]

SCOUT = "scout"  # the id of the quick search before the first plan

Family = Literal["web", "academic", "counter"]

LinkKind = Literal["citations", "references"]


def short_hash(*parts: str) -> str:
    """Return a stable twelve-character hash of the parts."""
    return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def short_id(run_id: str) -> str:
    """Return the first characters of a run's id, enough to tell runs apart.

    Ids made by `langgraph dev` begin with the time, so those of one minute share the first eight characters.
    """
    try:
        is_by_time = uuid.UUID(run_id).version == 7
    except ValueError:
        return run_id
    return run_id[: 13 if is_by_time else 8]


class Record(BaseModel):
    """Base class of records: frozen, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key_fields: ClassVar[tuple[str, ...]] = ()  # records with equal values here are the same one

    @property
    def key(self) -> str:
        """What makes two records the same when branches are merged."""
        values = [str(getattr(self, name)) for name in self.key_fields]
        if not values:
            raise TypeError(f"{type(self).__name__} is never merged")
        return values[0] if len(values) == 1 else short_hash(*values)


class SubQuestion(Record):
    """One part of the question that the report answers on its own."""

    key_fields = ("id",)

    id: str
    text: str
    needs: list[str] = []  # ids of those that must be answered before it can be asked
    perspective: str = ""


class Query(Record):
    """Words sent to a search engine on behalf of a sub-question."""

    key_fields = ("id",)

    id: str
    text: str
    question: str
    round: int
    family: Family = "web"
    links: list[LinkKind] = []  # of the papers it finds: who cites them, whom they cite


class Plan(Record):
    """What a planner wants to find out, and the queries for it.

    Its queries are candidates, unless they are settled: then code adds none, and only drops what was asked.
    """

    strategy: str
    questions: list[SubQuestion]
    queries: list[Query]
    perspectives: list[str] = []
    hypotheses: list[str] = []  # proposed answers, without evidence yet
    kind: str = ""  # how much effort the model advises
    is_settled: bool = False


class Hit(Record):
    """One place a search engine points to; nothing of it has been read yet."""

    key_fields = ("query", "engine", "address")

    query: str
    address: str
    title: str
    snippet: str
    engine: str
    rank: int
    published: str | None = None
    authors: list[str] = []
    doi: str = ""
    pdf: str = ""
    cited_by: int | None = None
    abstract: str = ""
    retracted: str = ""  # which catalogue says that the paper was retracted
    linked: str = ""  # "cites" or "cited by", and the paper it was found through
    image: str = ""  # an image on the page
    delivered: str = ""  # the hash of the page's text, if the engine gave it with the hit


_HITS = TypeAdapter(list[Hit])


def dump_hits(hits: list[Hit]) -> str:
    """Serialize hits, to be stored outside the state."""
    return _HITS.dump_json(hits, exclude_defaults=True).decode()


def load_hits(text: str) -> list[Hit]:
    """Parse serialized hits."""
    return _HITS.validate_json(text)


class Origin(Record):
    """Another source that a page names for part of its text, and links."""

    address: str
    words: str  # with which the page attributes: "according to", a footnote's mark
    start: int  # of the attributed part, in the page's text
    end: int


class Page(Record):
    """A source that was read; its text is stored outside the state, by its hash."""

    key_fields = ("address",)  # the same text at two addresses is two pages

    sha: str
    address: str
    title: str
    how: str
    chars: int
    fetched: str
    published: str | None = None
    author: str | None = None
    publisher: str | None = None
    doi: str = ""
    cited_by: int | None = None
    pdf: str = ""  # where the paper itself is, if the address only announces it
    gone: str = ""  # why it could not be read again, when an update tried
    sketch: str = ""  # what copies of the text have in common
    starts: list[int] = []  # where the printed pages begin in the text, if it has any
    origins: list[Origin] = []  # the sources that it names for words that claims quote
    engine: str = ""  # which found it
    round: int = 0  # in which it was read
    abstract: str = ""  # of a paper, as a catalogue has it
    retracted: str = ""  # which catalogue says that the paper was retracted
    linked: str = ""  # "cites" or "cited by", and the paper it was found through
    image: str = ""  # an image on it that was looked for


class Quote(Record):
    """The page's own words, and where they stand in its text."""

    page: str
    start: int
    end: int
    text: str
    heading: str = ""  # the headings it stands under, outermost first: "Managing databases > Tablespaces"


class Verdict(Record):
    """What checking a statement against its quotes found (Chain-of-Verification)."""

    is_explicit: bool
    is_same_scope: bool
    is_not_overstated: bool
    score: Score = Field(ge=0, le=1)
    reason: str = ""


class Claim(Record):
    """A statement with the quotes that carry it."""

    key_fields = ("id",)

    id: str
    statement: str
    question: str
    quotes: list[Quote] = Field(min_length=1)
    verdict: Verdict
    relevance: Score = Field(ge=0, le=1)
    resolved: str = ""  # which pronouns and relative dates the statement puts into words, and how


class Reason(Record):
    """A phrase of the message catalogue and the values for its places, for any language."""

    phrase: str
    values: dict[str, str] = Field({})


class Failure(Record):
    """Something that could not be searched, read or answered; the report lists it."""

    key_fields = ("where", "what", "why")  # the same loss told twice is one loss

    where: str
    what: str
    why: str
    code: str = ""  # of the error behind it (docs/errors.md), or of a reason that is Fathom's own
    told: Reason | None = None  # what failed, where the words are Fathom's own
    stand_in: str = ""  # the model or engine that did it instead, so that nothing is missing


class Cost(Record):
    """One finished call of a model or an engine, named by what was asked; some cost nothing."""

    key_fields = ("call",)  # a remembered call is not paid for twice

    call: str
    role: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0  # of those that went in
    tokens_reasoning: int = 0  # of those that came out: what the model thought
    usd: float = 0.0  # what this run paid for it
    is_priced: bool = True
    saved_usd: float = 0.0  # the cost avoided by reusing an answer
    is_reused: bool = False  # another run was answered the same, and this one did not ask
    node: str = ""
    round: int = 0
    # How the model was asked: schema, tool, words, repair …; called `rung` in earlier versions.
    strategy: str = Field("", validation_alias=AliasChoices("strategy", "rung"))
    results: int = 0  # what a search found
    credit: str = ""  # what is left of an engine's credit after it, if the engine says so


class Rejected(Record):
    """Claims of one page, or sentences of one section, that were refused, and why.

    A claim that was refused twice is told by itself, with its statement and the verifier's words.
    """

    page: str  # of claims
    count: int
    why: str
    section: str = ""  # of sentences
    statement: str = ""
    reason: str = ""

    @property
    def key(self) -> str:
        """One entry per place, reason and statement."""
        return short_hash(self.page, self.why, *filter(None, [self.section, self.statement]))


R = TypeVar("R", bound=Record)


def merge_records(left: list[R] | None, right: list[R] | None) -> list[R]:
    """Both lists as one, an entry per key: first seen keeps the place, last seen the content."""
    entries: dict[str, R] = {}
    for record in [*(left or []), *(right or [])]:
        entries[record.key] = record
    return list(entries.values())


def unite_lists(left: list[str] | None, right: list[str] | None) -> list[str]:
    """Both lists as one without repeats, in the order first seen."""
    return list(dict.fromkeys([*(left or []), *(right or [])]))

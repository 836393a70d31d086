"""Records made with one word, and plain stand-ins for everything a node may ask for.

Every fake gives what it was told to give, raises what it was told to raise, and refuses to run dry.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeVar

from fathom.budget.budget import Account
from fathom.errors import Unreadable
from fathom.llm.port import (
    NO_FACTS,
    Assessment,
    Brief,
    Case,
    CheckBrief,
    Draft,
    EditBrief,
    Evidence,
    Objection,
    PageFacts,
    Point,
    Refusal,
    Revision,
    SectionBrief,
    Thought,
)
from fathom.reading.port import Document
from fathom.search.port import Found
from fathom.state import (
    Claim,
    ClaimDraft,
    Cost,
    Earlier,
    Edit,
    Failure,
    Finding,
    Gap,
    Heading,
    Hit,
    Judgement,
    Known,
    Outline,
    Page,
    Plan,
    Query,
    Quote,
    Rubric,
    Section,
    Sentence,
    SubQuestion,
    Turn,
    Verdict,
    short_hash,
)

T = TypeVar("T")

RUBRIC = Rubric(evidence="E1", accuracy=4, relevance=4, completeness=4, consistency=4)
SOUND = Verdict(is_explicit=True, is_same_scope=True, is_not_overstated=True, score=0.9)
DOUBTED = Verdict(is_explicit=False, is_same_scope=True, is_not_overstated=True, score=0.3)


def clock() -> datetime:
    """Always the same moment."""
    return datetime(2025, 6, 1, 12, 0, tzinfo=UTC)


def sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def question(number: int = 1, text: str = "") -> SubQuestion:
    return SubQuestion(id=f"Q{number}", text=text or f"What is part {number}?")


def query(text: str = "tidal power", name: str = "r1q1", about: str = "Q1", number: int = 1) -> Query:
    return Query(id=name, text=text, question=about, round=number)


def hit(address: str = "https://a.example/x", rank: int = 1, query: str = "r1q1", **words: Any) -> Hit:
    given = {"title": "A page", "snippet": "words", "engine": "fake", **words}
    return Hit(query=query, address=address, rank=rank, **given)


def page(text: str = "page one", address: str = "https://a.example/x", **words: Any) -> Page:
    given = {"title": "A page", "how": "html", "fetched": "2025-06-01T12:00:00+00:00", **words}
    return Page(sha=sha(text), address=address, chars=len(text), **given)


def quote(text: str = "the plant makes 240 megawatts", of: str = "page one", start: int = 0) -> Quote:
    return Quote(page=sha(of), start=start, end=start + len(text), text=text)


def claim(statement: str = "The plant makes 240 megawatts.", name: str = "c1", **words: Any) -> Claim:
    """A claim that is its quote, unless told otherwise; `of` is the text of its page."""
    quotes = words.pop("quotes", None) or [quote(words.pop("said", statement), words.pop("of", "page one"))]
    given = {"question": "Q1", "verdict": SOUND, "relevance": 0.9, **words}
    return Claim(id=name, statement=statement, quotes=quotes, **given)


def draft(statement: str = "The plant makes power.", **words: Any) -> ClaimDraft:
    """A claim that nobody has verified yet; `of` is the text of its page, `said` its quote there."""
    of, said = words.pop("of", "page one"), words.pop("said", "")
    quotes = [quote(said, of, of.index(said))] if said else [quote(of=of)]
    given = {"question": "Q1", "relevance": 0.9, "quotes": quotes, "page": sha(of), **words}
    return ClaimDraft(id=short_hash(sha(of), statement), statement=statement, **given)


def points(*claims: Claim, tag: str = "LIKELY", voices: int = 1) -> list[Point]:
    """A finding a claim, in the order given."""
    words = {"confidence": 0.6, "tag": tag, "voices": [f"v{n}" for n in range(voices)]}
    return [
        Point(
            Finding.model_validate(
                {"id": c.id, "statement": c.statement, "question": c.question, "claims": [c.id], **words}
            ),
            [c],
        )
        for c in claims
    ]


def gap(priority: str = "high", description: str = "Costs are missing") -> Gap:
    return Gap.model_validate(
        {"description": description, "priority": priority, "suggested_query": "cost", "question": "Q1"}
    )


def cost(call: str = "call", usd: float = 0.01) -> Cost:
    return Cost(call=call, role="plan", model="m", tokens_in=10, tokens_out=5, usd=usd)


def judgement(number: int = 1, **words: Any) -> Judgement:
    scores = dict.fromkeys(("coverage", "diversity", "quality", "freshness", "overall"), 0.5)
    given = {"rubric": RUBRIC, "gaps": [], "claims": 1, "new_claims": 1, **words}
    return Judgement(round=number, **scores, **given)


def heading(*claims: str, name: str = "S1", title: str = "What is known") -> Heading:
    return Heading(id=name, title=title, question="Q1", claims=list(claims))


def sentence(text: str, *claims: str, status: str = "supported") -> Sentence:
    return Sentence.model_validate({"text": text, "claims": list(claims), "status": status})


def section_brief(*points: Point, **words: Any) -> SectionBrief:
    """What the writer of one part gets."""
    part = heading(*(claim_id for point in points for claim_id in point.ids))
    outline = Outline(title="T", headings=[part])
    return SectionBrief(
        **{"question": "What?", "heading": part, "points": points, "outline": outline, **words}
    )


def section(*sentences: Sentence, name: str = "S1", title: str = "What is known") -> Section:
    return Section(id=name, title=title, sentences=list(sentences))


def earlier(**words: Any) -> Earlier:
    """What an earlier run knew: one page, one claim, one section written from it."""
    given = {
        "pages": [page()],
        "claims": [claim()],
        "questions": [question()],
        "asked": [query()],
        "offered": [],
        "judgements": [judgement()],
        "rulings": [],
        "outline": Outline(title="T", headings=[heading("c1")]),
        "sections": [section(sentence("The plant makes 240 megawatts.", "c1"))],
        **words,
    }
    return Earlier(run="0a1b2c3d", ended="2025-05-01", **given)


def known(*turns: str, **words: Any) -> Known:
    """What a thread knew: these questions, one page and one claim."""
    asked = [
        Turn(run=f"run{n}", question=text, answer="240 megawatts.", ended="2025-05-01T12:00:00+00:00")
        for n, text in enumerate(turns or ("How strong is the plant?",), 1)
    ]
    given = {"pages": [page()], "claims": [claim()], **words}
    return Known(turns=asked, **given)


def plan(*queries: str, questions: Sequence[str] = ("What is part 1?",)) -> Plan:
    """A plan whose queries all serve the first sub-question."""
    asked = [SubQuestion(id=f"Q{n}", text=text) for n, text in enumerate(questions, 1)]
    return Plan(
        strategy="look", questions=asked, queries=[query(text, name="", about="Q1") for text in queries]
    )


@dataclass
class FakeModel:
    """Gives the thoughts it was given, verb by verb, and remembers what it was asked."""

    plans: list[Any] = field(default_factory=list)
    reads: list[Any] = field(default_factory=list)
    verdicts: list[Any] = field(default_factory=list)
    retries: list[Any] = field(default_factory=list)
    assessments: list[Any] = field(default_factory=list)
    outlines: list[Any] = field(default_factory=list)
    written: list[Any] = field(default_factory=list)
    objections: list[Any] = field(default_factory=list)
    refutations: list[Any] = field(default_factory=list)
    rewrites: list[Any] = field(default_factory=list)
    edits: list[Any] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    by: str = ""

    def _next(self, script: list[T], asked: object) -> Thought[T]:
        self.asked.append(asked)
        assert script, f"nothing was prepared for {asked!r}"
        value = script.pop(0)
        if isinstance(value, Exception):
            raise value
        if callable(value):
            value = value(asked)
        return Thought(value, list(self.costs), list(self.failures), self.by)

    async def plan(self, brief: Brief) -> Thought[Plan]:
        return self._next(self.plans, brief)

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> Thought[list[Draft]]:
        return self._next(self.reads, text)

    async def verify(self, evidence: Sequence[Evidence]) -> Thought[list[Verdict]]:
        return self._next(self.verdicts, list(evidence))

    async def retry(self, refusals: Sequence[Refusal]) -> Thought[list[Draft | None]]:
        return self._next(self.retries, list(refusals))

    async def judge(self, case: Case) -> Thought[Assessment]:
        return self._next(self.assessments, case)

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[Point]
    ) -> Thought[Outline]:
        return self._next(self.outlines, list(points))

    async def write(self, brief: SectionBrief) -> Thought[Section]:
        return self._next(self.written, brief)

    async def check(self, brief: CheckBrief) -> Thought[list[Objection]]:
        return self._next(self.objections, brief)

    async def refute(self, brief: CheckBrief) -> Thought[list[Objection]]:
        return self._next(self.refutations, brief)

    async def rewrite(self, revision: Revision) -> Thought[list[Sentence]]:
        return self._next(self.rewrites, revision)

    async def edit(self, brief: EditBrief) -> Thought[Edit]:
        return self._next(self.edits, brief)


@dataclass
class FakeEngines:
    """Answers each search with the next thing it was given."""

    answers: list[Any] = field(default_factory=list)
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def search(self, query: Query, *, limit: int) -> Found:
        self.asked.append((query.text, limit))
        assert self.answers, f"nothing was prepared for {query.text!r}"
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Found(answer, [], [])


@dataclass
class FakePages:
    """Texts by hash, in memory."""

    texts: dict[str, str] = field(default_factory=dict)

    async def put(self, text: str) -> str:
        self.texts[sha(text)] = text
        return sha(text)

    async def get(self, sha: str) -> str:
        if sha not in self.texts:
            raise Unreadable(f"The text of page {sha[:12]} is no longer in the database.")
        return self.texts[sha]


@dataclass
class FakeReader:
    """Reads one document, or fails."""

    answer: Document | Exception

    async def __call__(self, hit: Hit) -> Document:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@dataclass
class FakePageLeases:
    """What branches share, in memory; what `others` took is gone."""

    others: list[str] = field(default_factory=list)
    taken: dict[str, str] = field(default_factory=dict)

    async def begin(self) -> str:
        return "run"

    async def take(self, run: str, branch: str, addresses: Sequence[str], most: int) -> list[str]:
        free = [a for a in addresses if a not in self.others and self.taken.get(a, branch) == branch]
        self.taken |= dict.fromkeys(free[:most], branch)
        return free[:most]


@dataclass
class FakeRunConfigs:
    """Configurations by run, in memory."""

    configs: dict[str, str] = field(default_factory=dict)

    async def remember_config(self, run: str, config: str) -> None:
        self.configs[run] = config

    async def config_of(self, run: str) -> str | None:
        return self.configs.get(run)


@dataclass
class FakeSignals:
    """A person's orders for one run, as the test gives them."""

    queries: dict[int, str] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    is_pause: bool = False
    is_stop: bool = False
    places: list[str] = field(default_factory=list)

    async def added(self, number: int, place: str = "review") -> dict[int, str]:
        assert number >= 1
        self.places.append(place)
        return self.queries

    async def waiting(self) -> list[str]:
        return self.late

    async def is_pausing(self, place: str) -> bool:
        assert place
        return self.is_pause

    async def is_stopping(self, place: str = "") -> bool:
        self.places.append(place)
        return self.is_stop


NOBODY = FakeSignals()


@dataclass(frozen=True)
class FakeBudget:
    """A purse that stands where it was told."""

    usd: float = 0.0
    is_out: bool = False
    cut_off: tuple[Cost, ...] = ()

    async def account(self) -> Account:
        return Account(self.usd, self.is_out)

    async def untold(self, told: Iterable[Cost]) -> list[Cost]:
        known = {one.call for one in told}
        return [one for one in self.cut_off if one.call not in known]

"""Services."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from fakes.records import SOUND, sha

from fathom.budget import Account
from fathom.errors import Unreadable
from fathom.reading import Document
from fathom.report.sentence_checks import CheckInput
from fathom.search import SearchOutcome
from fathom.state import (
    Cost,
    Edit,
    Failure,
    Hit,
    Outline,
    Plan,
    Query,
    Section,
    Sentence,
    SubQuestion,
    Verdict,
)
from fathom.state.model_io import (
    NO_FACTS,
    Assessment,
    EditInput,
    ExtractedStatement,
    JudgeInput,
    ModelResult,
    Objection,
    PageFacts,
    PlanInput,
    RefusedClaim,
    ReportPoint,
    RewriteInput,
    VerificationItem,
    WriteInput,
)

T = TypeVar("T")


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

    def _next(self, script: list[T], asked: object) -> ModelResult[T]:
        self.asked.append(asked)
        assert script, f"nothing was prepared for {asked!r}"
        value = script.pop(0)
        if isinstance(value, Exception):
            raise value
        if callable(value):
            value = value(asked)
        return ModelResult(value, list(self.costs), list(self.failures), self.by)

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        return self._next(self.plans, brief)

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        return self._next(self.reads, text)

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        found = self._next(self.verdicts, list(evidence))
        if not isinstance(found.value, dict):
            return found
        # By statement; control items are found sound.
        return replace(found, value=[found.value.get(item.statement, SOUND) for item in evidence])

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        return self._next(self.retries, list(refusals))

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        return self._next(self.assessments, judge_input)

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[ReportPoint]
    ) -> ModelResult[Outline]:
        return self._next(self.outlines, list(points))

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        return self._next(self.written, brief)

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        return self._next(self.objections, brief)

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        return self._next(self.refutations, brief)

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        return self._next(self.rewrites, revision)

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        return self._next(self.edits, brief)


@dataclass
class FakeEngines:
    """Answers each search with the next thing it was given."""

    answers: list[Any] = field(default_factory=list)
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        self.asked.append((query.text, limit))
        assert self.answers, f"nothing was prepared for {query.text!r}"
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return SearchOutcome(answer, [], [])


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


@dataclass(frozen=True)
class FakeBudget:
    """A purse that stands where it was told."""

    usd: float = 0.0
    is_out: bool = False
    cut_off: tuple[Cost, ...] = ()

    async def account(self) -> Account:
        return Account(self.usd, self.is_out)

    async def unreported_costs(self, told: Iterable[Cost]) -> list[Cost]:
        known = {one.call for one in told}
        return [one for one in self.cut_off if one.call not in known]


NO_SIGNALS = FakeSignals()  # nobody steers

"""Parts of a run that a test holds in its hand: a library for a web, a clerk for a model.

Does not know settings, servers or command lines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeVar

from fathom.budget import Budget
from fathom.errors import OutOfBudget, ProviderError, Unreadable
from fathom.graph import CustomDependencies, Dependencies, DependencyFactory
from fathom.llm.extractive import ExtractiveModel
from fathom.llm.protocol import ResearchModel
from fathom.reading import Document
from fathom.search import SearchOutcome
from fathom.state import Cost, Forecast, Gap, Hit, Plan, Query, Rubric, RunConfig, SubQuestion, short_hash
from fathom.state.model_io import (
    NO_FACTS,
    Assessment,
    ExtractedStatement,
    JudgeInput,
    ModelResult,
    PageFacts,
    PlanInput,
)
from fathom.storage import open_storage
from fathom.storage.records import PaidCall
from fathom.text.sentences import split_sentences

T = TypeVar("T")


@dataclass
class Library:
    """Engines and reader in one: each round it offers the next books on the shelf."""

    books: Mapping[str, str]
    lost_queries: Sequence[str] = ()
    lost_books: Sequence[str] = ()
    searched: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    async def search(self, query: Query, *, limit: int) -> SearchOutcome:
        """The books of the query's round."""
        self.searched.append(query.text)
        if any(part in query.text for part in self.lost_queries):
            raise ProviderError("the catalogue is closed")
        start = (query.round - 1) * limit
        found = list(self.books)[start : start + limit]
        hits = [
            Hit(query=query.id, address=address, title=f"Book {rank}", snippet="", engine="shelf", rank=rank)
            for rank, address in enumerate(found, start=1)
        ]
        return SearchOutcome(hits, [], [])

    async def __call__(self, hit: Hit) -> Document:
        """The book's text."""
        self.read.append(hit.address)
        if hit.address in self.lost_books:
            raise Unreadable(f"{hit.address} is torn")
        return Document(text=self.books[hit.address], title=hit.title, how="shelf")


def gap(priority: str, number: int = 0) -> Gap:
    """Something missing; under each number something else."""
    name = short_hash(str(number))
    return Gap.model_validate(
        {"description": f"{name}a", "priority": priority, "suggested_query": f"{name}b", "question": "Q1"}
    )


@dataclass(frozen=True)
class ScriptedModel(ExtractiveModel):
    """A model that quotes; what it thinks of its work, what it asks and what it costs is up to the test."""

    missing: str | None = "high"
    is_repeating: bool = False
    usd_a_call: float = 0.0
    queries: int = 1
    quotes: int | None = None
    budget: Budget | None = None

    def within(self, budget: Budget) -> Self:
        """The same clerk, paid from this purse."""
        return replace(self, budget=budget)

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """One question, and as many queries a round as told."""
        number = 1 if self.is_repeating else brief.round
        queries = [
            Query(id="", text=f"{brief.question} {number}, shelf {place}", question="Q1", round=brief.round)
            for place in range(1, self.queries + 1)
        ]
        questions = [SubQuestion(id="Q1", text=brief.question)]
        plan = Plan(strategy="look", questions=questions, queries=queries, is_settled=True)
        return await self._paid(ModelResult(plan), f"plan {brief.round} {brief.question}")

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """As any quoting model does, or exactly as many sentences as told."""
        if self.quotes is None:
            thought = await super().read(question, questions, title, text, sought, facts)
        else:
            first = split_sentences(text)[1 : self.quotes + 1]
            thought = ModelResult([ExtractedStatement(s.text, s.text, "Q1", 0.9) for s in first])
        return await self._paid(thought, f"read {title} {text[:60]}")

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Fair marks, and what the test says is missing."""
        rubric = Rubric(evidence="E1", accuracy=3, relevance=3, completeness=3, consistency=3)
        gaps = [gap(self.missing, len(judge_input.claims))] if self.missing else []
        return await self._paid(
            ModelResult(Assessment(rubric, gaps)), f"judge {len(judge_input.claims)} {judge_input.question}"
        )

    async def _paid(self, thought: ModelResult[T], call: str) -> ModelResult[T]:
        if not self.usd_a_call or self.budget is None:
            return thought
        asked = PaidCall(call, call.split()[0], "clerk")
        try:
            hold = await self.budget.reserve(asked, self.usd_a_call, is_writing=False)
        except OutOfBudget:
            return thought  # quoting is free
        async with hold:
            await hold.settle(self.usd_a_call)
        cost = Cost(call=call, role=asked.role, model="clerk", tokens_in=100, usd=self.usd_a_call)
        return replace(thought, costs=[*thought.costs, cost])


def fixed_noon() -> datetime:
    """A time that does not pass."""
    return datetime(2026, 1, 2, 12, tzinfo=UTC)


async def empty_forecast(question: str, run: str) -> Forecast:
    """Of a question that costs nothing."""
    figures = dict.fromkeys(("expected_usd", "worst_usd", "expected_s", "worst_s"), 0.0)
    return Forecast(**figures, calls=0, tokens_in=0, tokens_out=0, because=f"{question} of {run}")


def make_dependencies(
    home: Path, library: Library, model: ResearchModel | Callable[[RunConfig], ResearchModel]
) -> DependencyFactory:
    """Kits that always hold these parts."""

    def kit_for(run_config: RunConfig) -> Dependencies:
        thinks = model(run_config) if callable(model) else model
        pages = open_storage(home / "fathom.sqlite").pages
        page_leases = open_storage(home / "fathom.sqlite").leases
        return Dependencies(
            run_config=run_config,
            model=thinks,
            engines=library,
            reader=library,
            pages=pages,
            clock=fixed_noon,
            page_leases=page_leases,
            run_configs=open_storage(home / "fathom.sqlite").runs,
            signals=open_storage(home / "fathom.sqlite").signals,
            storage=open_storage(home / "fathom.sqlite"),
            forecaster=empty_forecast,
        )

    return CustomDependencies(kit_for, open_storage(home / "fathom.sqlite").runs)

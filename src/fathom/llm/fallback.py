"""A mind that finishes what it began: where a model fails, a mind that needs none steps in, and says so.

Does not know either mind. The first plan is not stood in for when the model cannot be reached: nothing is
lost yet, and whoever asked for a model should hear that it is not there. Whoever limits the time wants a
report by then: a model that is there and does not answer is left for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from fathom.budget.budget import Budget, collect_receipts, is_paid_from_budget
from fathom.budget.time_budget import TimeBudget
from fathom.errors import OutOfBudget, OutOfTime, ProviderError, Unavailable, Unreachable, Unreadable
from fathom.evidence.grounding import QuoteFinder
from fathom.llm.protocol import ResearchModel
from fathom.report.sentence_checks import CheckInput
from fathom.state import Edit, Failure, Outline, Plan, Section, Sentence, SubQuestion, Verdict
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
    SectionInput,
    VerificationItem,
)

T = TypeVar("T")
_WRITING_STEPS = frozenset(
    {"judging", "outlining", "writing", "checking", "checking the conclusions", "rewriting", "editing"}
)
ModelCall = Callable[[ResearchModel], Awaitable[ModelResult[T]]]


@dataclass(frozen=True)
class FallbackModel:
    """The first mind if it can, the stand-in if not."""

    first: ResearchModel
    stand_in: ResearchModel
    watch: TimeBudget | None = None

    def with_time_budget(self, time_budget: TimeBudget) -> "FallbackModel":
        """The same mind in a run whose time is limited."""
        return replace(self, watch=watch)

    def within(self, budget: Budget) -> "FallbackModel":
        """The same mind, paying from this purse."""
        return replace(self, first=self.first.within(budget)) if is_paid_from_budget(self.first) else self

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """A plan; of the first one only an unusable one, one too dear or one too late is stood in for."""
        if self.watch and self.watch.is_late:
            return await self.stand_in.plan(brief)  # nothing will be looked for any more

        def is_bearable(error: ProviderError) -> bool:
            is_silent = isinstance(error, Unavailable) and not isinstance(error, Unreachable)
            is_late = isinstance(error, OutOfTime) or (self.watch is not None and is_silent)
            return brief.round > 1 or is_late or isinstance(error, Unreadable | OutOfBudget)

        return await self._either("planning", lambda mind: mind.plan(brief), is_bearable)

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """Claims of a page; quotes of which not one stands in it are no reading of it."""

        def fault(drafts: list[ExtractedStatement]) -> str:
            page = QuoteFinder("", text)
            is_quoted = not drafts or any(page.find(draft.quote) for draft in drafts)
            return "" if is_quoted else "The model gave quotes, but none of them is in the page."

        if self.watch and self.watch.is_late:
            raise OutOfTime("the time is used up")
        return await self._either(
            f"reading {title}",
            lambda mind: mind.read(question, questions, title, text, sought, facts),
            fault=fault,
        )

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Verdicts."""
        return await self._either("verifying", lambda mind: mind.verify(evidence))

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Refused claims restated; without a model none is."""
        return await self._either("restating", lambda mind: mind.retry(refusals))

    async def judge(self, case: JudgeInput) -> ModelResult[Assessment]:
        """Rubric and gaps."""
        return await self._either("judging", lambda mind: mind.judge(case))

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[ReportPoint]
    ) -> ModelResult[Outline]:
        """Headings."""
        return await self._either("outlining", lambda mind: mind.outline(question, questions, points))

    async def write(self, brief: SectionInput) -> ModelResult[Section]:
        """A section; one that cites none of its claims is not written from them."""

        def fault(section: Section) -> str:
            is_cited = any(sentence.claims for sentence in section.sentences)
            return "" if is_cited else "The model wrote a section that cites none of its claims."

        return await self._either("writing", lambda mind: mind.write(brief), fault=fault)

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Objections."""
        return await self._either("checking", lambda mind: mind.check(brief))

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """What speaks against the main conclusions."""
        return await self._either("checking the conclusions", lambda mind: mind.refute(brief))

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Sentences anew; of a model that gives none, quotes."""
        return await self._either("rewriting", lambda mind: mind.rewrite(revision))

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """A summary and changes; without the model the draft stays as it is."""
        return await self._either("editing", lambda mind: mind.edit(brief))

    async def _either(
        self,
        what: str,
        verb: ModelCall[T],
        is_bearable: Callable[[ProviderError], bool] = lambda _: True,
        fault: Callable[[T], str] = lambda _: "",
    ) -> ModelResult[T]:
        limit_s, told_late = self._limit(self.watch, what) if self.watch else (None, "")
        try:
            with collect_receipts() if self.watch else nullcontext() as receipts:
                try:
                    async with asyncio.timeout(limit_s) as time_limit:
                        thought = await verb(self.first)
                except TimeoutError:
                    if not time_limit.expired() or receipts is None:
                        raise
                    raise OutOfTime(told_late, await receipts.costs()) from None
            if wrong := fault(thought.value):
                raise Unreadable(wrong, thought.costs)
            return thought
        except ProviderError as error:
            if not is_bearable(error):
                raise
            thought = await verb(self.stand_in)
            told = Failure(where="model", what=f"{what}, done without the model", why=str(error))
            return ModelResult(thought.value, [*error.costs, *thought.costs], [told, *thought.failures])

    def _limit(self, watch: TimeBudget, what: str) -> tuple[float, str]:
        """How long the first mind may take, and what is said when it took longer."""
        if what == "planning":  # the other half is for what was planned
            return watch.half_s(), "There was no plan when half of the time left was over."
        return watch.left_s(what in _WRITING_STEPS), "The time is used up, also what was left for the report."

"""A research model that falls back to one without an LLM when the first fails, and records it.

The first plan has no fallback if the model cannot be reached: nothing is lost yet, and the caller should
know. In a run with a time limit, a model that does not answer in time is replaced as well.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from fathom.budget import Budget, collect_receipts, is_paid_from_budget
from fathom.budget.time_budget import TimeBudget
from fathom.errors import OutOfBudget, OutOfTime, ProviderError, Unavailable, Unreachable, Unreadable
from fathom.evidence.grounding import QuoteFinder
from fathom.llm.protocol import ResearchModel
from fathom.report.sentence_checks import CheckInput
from fathom.state import Edit, Outline, Plan, Reason, Section, Sentence, SubQuestion, Verdict
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
_WRITING_STEPS = frozenset(
    {"judging", "outlining", "writing", "checking", "checking conclusions", "rewriting", "editing"}
)
ModelCall = Callable[[ResearchModel], Awaitable[ModelResult[T]]]


@dataclass(frozen=True)
class FallbackModel:
    """Calls `first`; if it fails, `stand_in`."""

    first: ResearchModel
    stand_in: ResearchModel
    time_budget: TimeBudget | None = None

    def with_time_budget(self, time_budget: TimeBudget) -> "FallbackModel":
        """Return a copy for a run with a time limit."""
        return replace(self, time_budget=time_budget)

    def within(self, budget: Budget) -> "FallbackModel":
        """Return a copy that pays from this budget."""
        return replace(self, first=self.first.within(budget)) if is_paid_from_budget(self.first) else self

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """Plan a round. The first plan falls back only if it is unusable, too expensive or too late."""
        if self.time_budget and self.time_budget.is_late:
            return await self.stand_in.plan(brief)  # the search is over

        def is_bearable(error: ProviderError) -> bool:
            is_silent = isinstance(error, Unavailable) and not isinstance(error, Unreachable)
            is_late = isinstance(error, OutOfTime) or (self.time_budget is not None and is_silent)
            return brief.round > 1 or is_late or isinstance(error, Unreadable | OutOfBudget)

        return await self._either("planning", lambda model: model.plan(brief), is_bearable)

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """Read a page; an answer without any real quote of the page counts as failed."""

        def fault(drafts: list[ExtractedStatement]) -> str:
            page = QuoteFinder("", text)
            is_quoted = not drafts or any(page.find(draft.quote) for draft in drafts)
            return "" if is_quoted else "The model gave quotes, but none of them is in the page."

        if self.time_budget and self.time_budget.is_late:
            raise OutOfTime("the time is used up")
        return await self._either(
            "reading",
            lambda model: model.read(question, questions, title, text, sought, facts),
            fault=fault,
            title=title,
        )

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Verify statements."""
        return await self._either("verifying", lambda model: model.verify(evidence))

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Restate refused claims; the fallback restates none."""
        return await self._either("restating", lambda model: model.retry(refusals))

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Judge the round."""
        return await self._either("judging", lambda model: model.judge(judge_input))

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[ReportPoint]
    ) -> ModelResult[Outline]:
        """Outline the report."""
        return await self._either("outlining", lambda model: model.outline(question, questions, points))

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        """Write parts of the report; an answer that cites none of their claims counts as failed."""

        def fault(sections: list[Section]) -> str:
            is_cited = any(sentence.claims for section in sections for sentence in section.sentences)
            return "" if is_cited else "The model wrote a text that cites none of its claims."

        return await self._either("writing", lambda model: model.write(brief), fault=fault)

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Check sentences."""
        return await self._either("checking", lambda model: model.check(brief))

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Try to refute the main conclusions."""
        return await self._either("checking conclusions", lambda model: model.refute(brief))

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Rewrite sentences; the fallback gives quotes."""
        return await self._either("rewriting", lambda model: model.rewrite(revision))

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """Edit the draft; the fallback changes nothing."""
        return await self._either("editing", lambda model: model.edit(brief))

    async def _either(
        self,
        step: str,
        verb: ModelCall[T],
        is_bearable: Callable[[ProviderError], bool] = lambda _: True,
        fault: Callable[[T], str] = lambda _: "",
        title: str = "",
    ) -> ModelResult[T]:
        limit_s, late_message = self._limit(self.time_budget, step) if self.time_budget else (None, "")
        try:
            with collect_receipts() if self.time_budget else nullcontext() as receipts:
                try:
                    async with asyncio.timeout(limit_s) as time_limit:
                        result = await verb(self.first)
                except TimeoutError:
                    if not time_limit.expired() or receipts is None:
                        raise
                    raise OutOfTime(late_message, await receipts.costs()) from None
            if wrong := fault(result.value):
                raise Unreadable(wrong, result.costs)
            return result
        except ProviderError as error:
            if not is_bearable(error):
                raise
            result = await verb(self.stand_in)
            told = Reason(phrase="without_model", values={"step": step, "title": title})
            name = f"{step} {title}".strip()
            failure = error.failure("model", f"{name}, done without the model", told)
            return ModelResult(result.value, [*error.costs, *result.costs], [failure, *result.failures])

    def _limit(self, time_budget: TimeBudget, what: str) -> tuple[float, str]:
        """Return the time limit of the first model, and the message when it is exceeded."""
        if what == "planning":  # the other half is for carrying out the plan
            return time_budget.half_s(), "There was no plan when half of the time left was over."
        return time_budget.left_s(
            what in _WRITING_STEPS
        ), "The time is used up, also what was left for the report."

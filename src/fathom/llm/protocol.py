"""The research model protocol: the methods that nodes call."""

from collections.abc import Sequence
from typing import Protocol

from fathom.report.sentence_checks import CheckInput
from fathom.state import Edit, Outline, Plan, Section, Sentence, SubQuestion, Verdict
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


class ResearchModel(Protocol):
    """Answers the nodes' questions; raises a ProviderError when it cannot."""

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """Return sub-questions and the next queries."""

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """Extract what one page says about the sub-questions, and about the query that found it."""

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Return one verdict per item, in order."""

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Return each refused claim restated or with other quotes, in order; None if that fails."""

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Return the quality by rubric, and the gaps."""

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[ReportPoint]
    ) -> ModelResult[Outline]:
        """Return headings, each with its claims."""

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        """Write parts of the report in blocks, each sentence with its claims."""

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Return the sentences that their claims do not support."""

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Return the main conclusions that the evidence speaks against."""

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Return each sentence rewritten, in order; without text if nothing can be said instead."""

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """Return a summary and changes that make the draft one text; citations stay as they are."""

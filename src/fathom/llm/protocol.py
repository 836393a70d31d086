"""What every mind promises: the verbs the nodes need, and what they give and get.

Does not know models, prompts or graphs.
"""

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
    SectionInput,
    VerificationItem,
)


class ResearchModel(Protocol):
    """Thinks; raises a ProviderError when it cannot."""

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """Sub-questions and the next queries."""

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """What one page says about the sub-questions, and about the follow-up that found it."""

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """One verdict for each piece of evidence, in order."""

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Each refused claim restated or with other quotes, in order; None where nothing can be mended."""

    async def judge(self, case: JudgeInput) -> ModelResult[Assessment]:
        """Quality by rubric, and the gaps."""

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[ReportPoint]
    ) -> ModelResult[Outline]:
        """Headings, each with the claims it is written from."""

    async def write(self, brief: SectionInput) -> ModelResult[Section]:
        """One part of the report in blocks, each sentence with the claims it stands on."""

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """The sentences that their claims do not carry."""

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """The same from the other side: what the evidence gives against the main conclusions."""

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Each sentence anew, in order; one without text where nothing can be said instead."""

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """A summary, and what would make the draft read as one text; citations are not the editor's."""

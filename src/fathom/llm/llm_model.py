"""A research model on chat models: one prompt per method, one chat model per role.

Models see short keys instead of addresses; unknown keys in answers are ignored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fathom.budget import Budget
from fathom.errors import ProviderError, Unreadable
from fathom.llm.prompt_budget import (
    NONE,
    CuttableText,
    PromptBudget,
    PromptLines,
    PromptPassages,
    list_lines,
    list_questions,
)
from fathom.llm.roles import answer_forms, judge, planner, writer
from fathom.llm.roles.evidence import (
    checker_prompt,
    describe_evidence,
    describe_page,
    describe_refusals,
    read_objections,
    read_refutations,
    read_restatement,
    read_statements,
    read_verdict,
)
from fathom.llm.roles.writer import claims_for_keys, describe_weight, key_points
from fathom.llm.structured_output import F, FormAnswer, StructuredOutput, ask_in_batches
from fathom.prompts import load_prompt
from fathom.report.sentence_checks import CheckInput
from fathom.state import (
    Edit,
    Heading,
    Outline,
    Plan,
    Reason,
    Role,
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
    SentenceToCheck,
    VerificationItem,
    WriteInput,
)
from fathom.text.languages import describe_wrong_language
from fathom.text.ranking import PAGE_TOKENS

T = TypeVar("T")


@dataclass(frozen=True)
class LLMResearchModel:
    """The research model for runs with an LLM."""

    outputs_by_role: Mapping[Role, StructuredOutput]
    language: str = "the language of the question"

    def within(self, budget: Budget) -> "LLMResearchModel":
        """Return a copy that pays from this budget."""
        paying = {id(output): output.within(budget) for output in self.outputs_by_role.values()}
        by_role = {role: paying[id(output)] for role, output in self.outputs_by_role.items()}
        return replace(self, outputs_by_role=by_role)

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """Plan sub-questions and queries from what is known and missing."""
        prompt_budget = planner.build_prompt(brief, self.language)
        answer = await self.outputs_by_role["plan"].ask("plan", prompt_budget, answer_forms.PlanAnswer)
        return ModelResult(planner.read_plan(answer.form, brief), answer.costs, answer.failures)

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """Extract claims with quotes, and controls for the verifier, from as much of the page as fits."""
        wanted = [*questions, sought] if sought else questions
        fixed = {
            "question": question,
            "facts": describe_page(title, facts),
            "sought": f"for {sought.id}: {sought.text}" if sought else "nothing else",
            "language": self.language,
        }
        passages = PromptPassages(text, [q.text for q in wanted], PAGE_TOKENS)
        prompt_budget = PromptBudget(
            "reader", fixed, {"questions": list_questions(questions), "passages": passages}
        )
        answer = await self.outputs_by_role["read"].ask("read", prompt_budget, answer_forms.ReadAnswer)
        return ModelResult(read_statements(answer.form), answer.costs, answer.failures)

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Return one verdict per item; an item that the model skips is not verified."""

        def build_prompt(items: Sequence[tuple[int, VerificationItem]]) -> PromptBudget:
            parts = describe_evidence([item for _, item in items])
            return PromptBudget(
                "verifier", {}, {"evidence": PromptLines(parts, between="\n\n")}, batched="evidence"
            )

        # Group items by source, so that each source is shown once.
        sources = list(dict.fromkeys(item.context for item in evidence))
        grouped = sorted(enumerate(evidence), key=lambda pair: sources.index(pair[1].context))
        batches = await self._in_batches("verify", grouped, build_prompt, answer_forms.VerifyAnswer)
        verdicts: dict[int, Verdict] = {}
        for answer, items in batches:
            found = {verdict.item: verdict for verdict in answer.form.verdicts}
            verdicts |= {place: read_verdict(found.get(n)) for n, (place, _) in enumerate(items, 1)}
        result = _join_answers([verdicts[place] for place in range(len(evidence))], [a for a, _ in batches])
        model = result.costs[-1].model if result.costs else "unnamed"
        return replace(result, by=f"{model}, verifier@{load_prompt('verifier').revision}")

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Restate all refused claims in one call, each with its reason and passage."""

        def build_prompt(items: Sequence[RefusedClaim]) -> PromptBudget:
            parts = describe_refusals(items)
            evidence = {"refused": PromptLines(parts, between="\n\n")}
            return PromptBudget("retry", {"language": self.language}, evidence, batched="refused")

        batches = await self._in_batches("read", refusals, build_prompt, answer_forms.RetryAnswer)
        anew: list[ExtractedStatement | None] = []
        for answer, items in batches:
            found = {form.item: read_restatement(form) for form in answer.form.restated}
            anew += [found.get(n) for n in range(1, len(items) + 1)]
        return _join_answers(anew, [answer for answer, _ in batches])

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Return rubric, gaps, rulings and outline in one call."""
        keyed = judge.key_claims(judge_input)
        evidence: dict[str, CuttableText] = {
            "questions": list_questions(judge_input.questions),
            "sources": judge.source_lines(keyed, judge_input.pages),
            "claims": judge.claim_lines(keyed, judge_input),
            "rejected": judge.rejected_lines(judge_input.rejected, judge_input.pages),
            "checks": list_lines(judge.check_lines(judge_input.checks)),
            "hypotheses": list_lines(judge.hypothesis_lines(judge_input.hypotheses)),
            "outline": judge.outline_lines(judge_input.outline, keyed),
            "gaps": list_lines(judge.gap_lines(judge_input.gaps)),
        }
        fixed = {
            "kind": judge_input.kind,
            "limits": judge_input.limits or NONE,
            "today": judge_input.today or NONE,
        }
        prompt_budget = self._budget_prompt("judge", judge_input.question, evidence, **fixed)
        answer = await self.outputs_by_role["judge"].ask("judge", prompt_budget, answer_forms.JudgeAnswer)
        assessment = judge.read_assessment(answer.form, judge_input, keyed)
        return ModelResult(assessment, answer.costs, answer.failures)

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[ReportPoint]
    ) -> ModelResult[Outline]:
        """Group findings under headings."""
        by_key = key_points(points)
        claims = list_lines(
            (
                f"{key} (for {p.finding.question}): {p.finding.statement} ({describe_weight(p)})"
                for key, p in by_key.items()
            ),
            weight=4,
        )
        prompt_budget = self._budget_prompt(
            "outline", question, {"questions": list_questions(questions), "claims": claims}
        )
        answer = await self.outputs_by_role["outline"].ask(
            "outline", prompt_budget, answer_forms.OutlineAnswer
        )
        headings = [
            Heading(
                id="",
                title=s.title,
                question=s.question,
                claims=claims_for_keys(s.claims, by_key),
                aim=s.aim,
                priority=judge.read_priority(s.priority),
                is_conclusion=s.is_conclusion,
            )
            for s in answer.form.sections
        ]
        outline = Outline(title=answer.form.title, headings=headings)
        return ModelResult(outline, answer.costs, answer.failures)

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        """Write all parts in one call; in several if the window is small, or if the answer left some out.

        Citing a finding cites all of its claims.
        """
        by_key = key_points(brief.points)

        def build_prompt(headings: Sequence[Heading]) -> PromptBudget:
            return writer.writer_prompt(brief, headings, by_key, self.language)

        def complaint(form: answer_forms.WriteAnswer) -> str:
            texts = [
                s.text for b in form.blocks for s in [*b.sentences, *(c for r in b.rows for c in r.cells)]
            ]
            return describe_wrong_language(" ".join(texts), self.language, brief.question)

        written: dict[str, Section] = {}
        found: list[FormAnswer[answer_forms.WriteAnswer]] = []
        missing: Sequence[Heading] = brief.headings
        while missing and len(found) <= len(brief.headings):
            try:
                batches = await self._in_batches(
                    "write", missing, build_prompt, answer_forms.WriteAnswer, complaint
                )
            except ProviderError as error:
                if not written:
                    raise
                titles = ", ".join(heading.title for heading in missing)
                failure = error.failure(
                    "model", f"writing: {titles}", Reason(phrase="writing_parts", values={"title": titles})
                )
                found.append(FormAnswer(answer_forms.WriteAnswer(blocks=[]), error.costs, [failure]))
                break
            found += [answer for answer, _ in batches]
            for answer, headings in batches:
                sections = writer.read_sections(answer.form, headings, by_key, brief.limits)
                written |= {section.id: section for section in sections if section.sentences}
            left = [heading for heading in brief.headings if heading.id not in written]
            missing = left if len(left) < len(missing) else []
        return _join_answers([written[h.id] for h in brief.headings if h.id in written], found)

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Return the sentences that say more than their evidence."""
        return await self._objections("checker", brief, answer_forms.CheckAnswer, read_objections)

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Return the main conclusions that their evidence contradicts, with what can be said instead."""
        return await self._objections(
            "refuter", brief, answer_forms.RefuteAnswer, read_refutations, language=self.language
        )

    async def _objections(
        self,
        name: str,
        brief: CheckInput,
        form: type[F],
        read: Callable[[F], list[Objection]],
        **fixed: str,
    ) -> ModelResult[list[Objection]]:
        def build_prompt(items: Sequence[SentenceToCheck]) -> PromptBudget:
            return checker_prompt(name, brief, items, **fixed)

        batches = await self._in_batches("check", brief.items, build_prompt, form)
        objections: list[Objection] = []
        done = 0
        for answer, items in batches:
            found = (o for o in read(answer.form) if 1 <= o.sentence <= len(items))
            objections += [replace(o, sentence=done + o.sentence - 1) for o in found]
            done += len(items)
        return _join_answers(objections, [answer for answer, _ in batches])

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Rewrite all failed sentences in one call, each with its reason and quotes."""
        by_key = key_points(revision.points)

        def build_prompt(sentences: Sequence[Sentence]) -> PromptBudget:
            return writer.rewriter_prompt(revision, sentences, by_key, self.language)

        batches = await self._in_batches(
            "write", revision.sentences, build_prompt, answer_forms.RewriteAnswer
        )
        nothing = Sentence(text="", claims=[], status="unsupported")
        found = [
            sentence
            for answer, own in batches
            for sentence in writer.read_rewrites(answer.form, own, by_key, revision.limits)
        ]
        result = _join_answers([one or nothing for one in found], [answer for answer, _ in batches])
        if all(one is None for one in found):
            raise Unreadable("The model rewrote none of the sentences.", result.costs)
        return result

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """Edit the whole draft in one call."""

        def complaint(form: answer_forms.EditAnswer) -> str:
            return describe_wrong_language(
                " ".join(s.text for s in form.summary), self.language, brief.question
            )

        prompt_budget = writer.editor_prompt(brief, self.language)
        answer = await self.outputs_by_role["write"].ask(
            "write", prompt_budget, answer_forms.EditAnswer, complaint
        )
        return ModelResult(writer.read_edit(answer.form), answer.costs, answer.failures)

    async def _in_batches(
        self,
        role: Role,
        items: Sequence[T],
        build_prompt: Callable[[Sequence[T]], PromptBudget],
        form: type[F],
        complaint: Callable[[F], str] = lambda _: "",
    ) -> list[tuple[FormAnswer[F], Sequence[T]]]:
        return await ask_in_batches(self.outputs_by_role[role], role, items, build_prompt, form, complaint)

    def _budget_prompt(
        self, name: str, question: str, evidence: Mapping[str, CuttableText], **fixed: str
    ) -> PromptBudget:
        return PromptBudget(name, {"question": question, "language": self.language, **fixed}, evidence)


def _join_answers(value: list[T], found: Sequence[FormAnswer[Any]]) -> ModelResult[list[T]]:
    """Merge several answers into one result."""
    return ModelResult(
        value, [c for a in found for c in a.costs], [failure for a in found for failure in a.failures]
    )

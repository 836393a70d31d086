"""A mind that asks models: one prompt a verb, one model a role.

Does not know servers, files or graphs. Models see short keys, never addresses; unknown keys mean nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fathom.budget.budget import Budget
from fathom.errors import ProviderError, Unreadable
from fathom.llm import answers, drafting, judging, planned
from fathom.llm.keys import ids_of, keyed, weight
from fathom.llm.pairing import rulings_of, shown
from fathom.llm.passages import PAGE_TOKENS
from fathom.llm.planned import listed
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
from fathom.llm.sheets import NONE, Lines, Passages, Sheet
from fathom.llm.sheets import Evidence as Cuttable
from fathom.llm.sources import (
    describe_evidence,
    describe_page,
    describe_refusals,
    drafts_of,
    restated_of,
)
from fathom.llm.structured_output import Answer, F, StructuredOutput
from fathom.llm.tongue import foreign
from fathom.prompts import load
from fathom.report.drafts import CheckItem
from fathom.state import (
    Edit,
    Heading,
    Outline,
    Plan,
    Role,
    Section,
    Sentence,
    SubQuestion,
    Verdict,
)

T = TypeVar("T")


@dataclass(frozen=True)
class LLMResearchModel:
    """The mind that most runs think with."""

    ladders: Mapping[Role, StructuredOutput]
    language: str = "the language of the question"

    def within(self, budget: Budget) -> "LLMResearchModel":
        """The same mind, paying from this purse."""
        own = {id(ladder): ladder for ladder in self.ladders.values()}
        paying = {name: ladder.within(budget) for name, ladder in own.items()}
        return replace(self, ladders={role: paying[id(ladder)] for role, ladder in self.ladders.items()})

    async def plan(self, brief: Brief) -> Thought[Plan]:
        """Sub-questions and queries, from what is known and missing when the round begins."""
        sheet = planned.sheet_of(brief, self.language)
        answer = await self.ladders["plan"].ask("plan", sheet, answers.PlanAnswer)
        return Thought(planned.plan_of(answer.form, brief), answer.costs, answer.failures)

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> Thought[list[Draft]]:
        """Claims with quotes, and statements to test a verifier with, from as much as fits of the page."""
        wanted = [*questions, sought] if sought else questions
        fixed = {
            "question": question,
            "facts": describe_page(title, facts),
            "sought": f"for {sought.id}: {sought.text}" if sought else "nothing else",
            "language": self.language,
        }
        passages = Passages(text, [q.text for q in wanted], PAGE_TOKENS)
        sheet = Sheet("reader", fixed, {"questions": _questions(questions), "passages": passages})
        answer = await self.ladders["read"].ask("read", sheet, answers.ReadAnswer)
        return Thought(drafts_of(answer.form), answer.costs, answer.failures)

    async def verify(self, evidence: Sequence[Evidence]) -> Thought[list[Verdict]]:
        """One verdict for each; what the model passes over is not verified."""

        def sheet_of(items: Sequence[tuple[int, Evidence]]) -> Sheet:
            parts = describe_evidence([item for _, item in items])
            return Sheet("verifier", {}, {"evidence": Lines(parts, between="\n\n")}, batched="evidence")

        # The items of one source together, so that it is shown once.
        sources = list(dict.fromkeys(item.context for item in evidence))
        grouped = sorted(enumerate(evidence), key=lambda pair: sources.index(pair[1].context))
        batches = await self._in_batches("verify", grouped, sheet_of, answers.VerifyAnswer)
        verdicts: dict[int, Verdict] = {}
        for answer, items in batches:
            found = {verdict.item: verdict for verdict in answer.form.verdicts}
            verdicts |= {place: _verdict(found.get(n)) for n, (place, _) in enumerate(items, 1)}
        thought = _thought([verdicts[place] for place in range(len(evidence))], [a for a, _ in batches])
        model = thought.costs[-1].model if thought.costs else "unnamed"
        return replace(thought, by=f"{model}, verifier@{load('verifier').revision}")

    async def retry(self, refusals: Sequence[Refusal]) -> Thought[list[Draft | None]]:
        """All refused claims in one call, each with its reason and its passage."""

        def sheet_of(items: Sequence[Refusal]) -> Sheet:
            parts = describe_refusals(items)
            evidence = {"refused": Lines(parts, between="\n\n")}
            return Sheet("retry", {"language": self.language}, evidence, batched="refused")

        batches = await self._in_batches("read", refusals, sheet_of, answers.RetryAnswer)
        anew: list[Draft | None] = []
        for answer, items in batches:
            found = {form.item: restated_of(form) for form in answer.form.restated}
            anew += [found.get(n) for n in range(1, len(items) + 1)]
        return _thought(anew, [answer for answer, _ in batches])

    async def judge(self, case: Case) -> Thought[Assessment]:
        """Rubric, gaps, rulings and the outline in one call."""
        keyed = judging.claims_by_key(case)
        evidence: dict[str, Cuttable] = {
            "questions": _questions(case.questions),
            "sources": judging.sources_shown(keyed, case.pages),
            "claims": judging.claims_shown(keyed, case.pages, len(case.claims) - len(keyed)),
            "rejected": judging.rejected_shown(case.rejected, case.pages),
            "pairs": shown(case.pairs),
            "checks": listed(judging.checks_shown(case.checks)),
            "hypotheses": listed(judging.hypotheses_shown(case.hypotheses)),
            "outline": judging.outline_shown(case.outline, keyed),
            "gaps": listed(judging.gaps_shown(case.gaps)),
        }
        fixed = {"kind": case.kind, "limits": case.limits or NONE, "today": case.today or NONE}
        sheet = self._sheet("judge", case.question, evidence, **fixed)
        answer = await self.ladders["judge"].ask("judge", sheet, answers.JudgeAnswer)
        form = answer.form
        assessment = Assessment(
            judging.rubric_of(form, keyed),
            judging.gaps_of(form.gaps, case),
            rulings_of(form.rulings, case.pairs),
            form.confidence,
            judging.bearings_of(form.hypotheses, case.hypotheses, keyed),
            outline=judging.outline_of(form, case, keyed),
            failed=judging.failed_of(form.failed_checks, case.checks),
        )
        return Thought(assessment, answer.costs, answer.failures)

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[Point]
    ) -> Thought[Outline]:
        """Headings over findings."""
        by_key = keyed(points)
        claims = listed(
            (
                f"{key} (for {p.finding.question}): {p.finding.statement} ({weight(p)})"
                for key, p in by_key.items()
            ),
            weight=4,
        )
        sheet = self._sheet("outline", question, {"questions": _questions(questions), "claims": claims})
        answer = await self.ladders["outline"].ask("outline", sheet, answers.OutlineAnswer)
        headings = [
            Heading(
                id="",
                title=s.title,
                question=s.question,
                claims=ids_of(s.claims, by_key),
                aim=s.aim,
                priority=judging.priority_of(s.priority),
                is_conclusion=s.is_conclusion,
            )
            for s in answer.form.sections
        ]
        outline = Outline(title=answer.form.title, headings=headings)
        return Thought(outline, answer.costs, answer.failures)

    async def write(self, brief: SectionBrief) -> Thought[Section]:
        """One part, from its findings only; whoever cites one cites every claim that says it."""
        by_key = keyed(brief.points)
        sheet = drafting.write_sheet(brief, by_key, self.language)

        def complaint(form: answers.WriteAnswer) -> str:
            texts = [
                s.text for b in form.blocks for s in [*b.sentences, *(c for r in b.rows for c in r.cells)]
            ]
            return foreign(" ".join(texts), self.language, brief.question)

        answer = await self.ladders["write"].ask("write", sheet, answers.WriteAnswer, complaint)
        written = drafting.section_of(answer.form, brief, by_key)
        return Thought(written, answer.costs, answer.failures)

    async def check(self, brief: CheckBrief) -> Thought[list[Objection]]:
        """The sentences that say more than their evidence."""
        return await self._objections("checker", brief)

    async def refute(self, brief: CheckBrief) -> Thought[list[Objection]]:
        """The main conclusions that their evidence speaks against."""
        return await self._objections("refuter", brief)

    async def _objections(self, prompt: str, brief: CheckBrief) -> Thought[list[Objection]]:
        def sheet_of(items: Sequence[CheckItem]) -> Sheet:
            return drafting.check_sheet(prompt, brief, items)

        batches = await self._in_batches("check", brief.items, sheet_of, answers.CheckAnswer)
        objections: list[Objection] = []
        done = 0
        for answer, items in batches:
            found = (o for o in answer.form.objections if 1 <= o.sentence <= len(items))
            objections += [Objection(done + o.sentence - 1, o.why) for o in found]
            done += len(items)
        return _thought(objections, [answer for answer, _ in batches])

    async def rewrite(self, revision: Revision) -> Thought[list[Sentence]]:
        """All sentences that were sent back in one call, each with the reason and the quotes."""
        by_key = keyed(revision.points)

        def sheet_of(sentences: Sequence[Sentence]) -> Sheet:
            return drafting.rewrite_sheet(revision, sentences, by_key, self.language)

        batches = await self._in_batches("write", revision.sentences, sheet_of, answers.RewriteAnswer)
        nothing = Sentence(text="", claims=[], status="unsupported")
        found = [s for answer, own in batches for s in drafting.rewritten(answer.form, own, by_key)]
        thought = _thought([one or nothing for one in found], [answer for answer, _ in batches])
        if all(one is None for one in found):
            raise Unreadable("The model rewrote none of the sentences.", thought.costs)
        return thought

    async def edit(self, brief: EditBrief) -> Thought[Edit]:
        """One call over the whole draft."""

        def complaint(form: answers.EditAnswer) -> str:
            return foreign(" ".join(s.text for s in form.summary), self.language, brief.question)

        sheet = drafting.edit_sheet(brief, self.language)
        answer = await self.ladders["write"].ask("write", sheet, answers.EditAnswer, complaint)
        return Thought(drafting.edit_of(answer.form), answer.costs, answer.failures)

    async def _in_batches(
        self, role: Role, items: Sequence[T], sheet_of: Callable[[Sequence[T]], Sheet], form: type[F]
    ) -> list[tuple[Answer[F], Sequence[T]]]:
        """Answers about all items: in one call where the window holds them, else in as many as it takes."""
        found: list[tuple[Answer[F], Sequence[T]]] = []
        rest = items
        while rest:
            sheet = sheet_of(rest)
            try:
                answer = await self.ladders[role].ask(role, sheet, form)
            except ProviderError as error:
                error.costs = [c for before, _ in found for c in before.costs] + error.costs
                raise
            kept = max(1, answer.kept.get(sheet.batched, len(rest)))
            found.append((answer, rest[:kept]))
            rest = rest[kept:]
        return found

    def _sheet(
        self, name: str, question: str, evidence: Mapping[str, Cuttable], batched: str = "", **fixed: str
    ) -> Sheet:
        return Sheet(name, {"question": question, "language": self.language, **fixed}, evidence, batched)


def _questions(questions: Sequence[SubQuestion]) -> Lines:
    return listed(f"{q.id}: {q.text}" for q in questions)


def _thought(value: list[T], found: Sequence[Answer[Any]]) -> Thought[list[T]]:
    """What several answers make together."""
    return Thought(
        value, [c for a in found for c in a.costs], [failure for a in found for failure in a.failures]
    )


def _verdict(form: answers.VerdictForm | None) -> Verdict:
    if form is None:
        return Verdict(
            is_explicit=False, is_same_scope=False, is_not_overstated=False, score=0.0, reason="not verified"
        )
    is_sound = form.is_explicit and form.is_same_scope and form.is_not_overstated
    score = min(1.0, max(0.0, form.score))
    return Verdict(
        is_explicit=form.is_explicit,
        is_same_scope=form.is_same_scope,
        is_not_overstated=form.is_not_overstated,
        score=score if is_sound else min(score, 0.6),
        reason=form.reason,
    )

"""A mind that asks models: one prompt a verb, one model a role.

Does not know servers, files or graphs. Models see short keys, never addresses; unknown keys mean nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fathom.budget.budget import Budget
from fathom.errors import ProviderError, Unreadable
from fathom.llm import answers, judging, planned
from fathom.llm.keys import (
    ids_of,
    keyed,
    refused,
    sentence_of,
    weight,
    with_quotes,
)
from fathom.llm.pairing import rulings_of, shown
from fathom.llm.passages import PAGE_TOKENS
from fathom.llm.planned import listed
from fathom.llm.port import (
    NO_FACTS,
    Assessment,
    Brief,
    Case,
    Draft,
    Evidence,
    Objection,
    PageFacts,
    Point,
    Refusal,
    Revision,
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
from fathom.state import (
    Claim,
    Heading,
    Outline,
    Plan,
    Quote,
    Role,
    Section,
    Sentence,
    SubQuestion,
    Verdict,
)

_MOST_QUOTES = 6
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
            "claims": judging.claims_shown(keyed, case.pages),
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
            Heading(id="", title=s.title, question=s.question, claims=ids_of(s.claims, by_key))
            for s in answer.form.sections
        ]
        outline = Outline(title=answer.form.title, headings=headings)
        return Thought(outline, answer.costs, answer.failures)

    async def write(self, question: str, heading: Heading, points: Sequence[Point]) -> Thought[Section]:
        """One section, from its findings only; whoever cites one cites every claim that says it."""
        by_key = keyed(points)
        sheet = self._sheet("writer", question, {"claims": with_quotes(by_key)}, heading=heading.title)

        def complaint(form: answers.WriteAnswer) -> str:
            return foreign(" ".join(s.text for s in form.sentences), self.language, question)

        answer = await self.ladders["write"].ask("write", sheet, answers.WriteAnswer, complaint)
        sentences = [sentence_of(s, by_key) for s in answer.form.sentences]
        written = Section(id=heading.id, title=heading.title, sentences=sentences)
        return Thought(written, answer.costs, answer.failures)

    async def check(self, section: Section, claims: Sequence[Claim]) -> Thought[list[Objection]]:
        """The sentences of a section that say more than their quotes."""
        quotes = {c.id: c.quotes for c in claims}
        doubtful = [
            f"Sentence {place}: {s.text}\n"
            + "\n".join(f"  quote: {q}" for q in _few([q for c in s.claims for q in quotes.get(c, [])]))
            for place, s in enumerate(section.sentences)
            if s.status == "supported"
        ]

        def sheet_of(parts: Sequence[str]) -> Sheet:
            return Sheet("checker", {}, {"sentences": Lines(parts, between="\n\n")}, batched="sentences")

        batches = await self._in_batches("check", doubtful, sheet_of, answers.CheckAnswer)
        objections = [Objection(o.sentence, o.why) for answer, _ in batches for o in answer.form.objections]
        return _thought(objections, [answer for answer, _ in batches])

    async def rewrite(self, revision: Revision) -> Thought[list[Sentence]]:
        """All sentences that were sent back in one call, each with the reason and the quotes."""
        by_key = keyed(revision.points)
        claims = with_quotes(by_key)

        def sheet_of(sentences: Sequence[Sentence]) -> Sheet:
            evidence: dict[str, Cuttable] = {"sentences": refused(sentences, by_key), "claims": claims}
            heading = revision.heading.title
            return self._sheet("rewriter", revision.question, evidence, batched="sentences", heading=heading)

        batches = await self._in_batches("write", revision.sentences, sheet_of, answers.RewriteAnswer)
        nothing = Sentence(text="", claims=[], status="unsupported")
        anew: list[Sentence] = []
        for answer, sentences in batches:
            found = {form.sentence: sentence_of(form, by_key) for form in answer.form.rewrites}
            anew += [found.get(n, nothing) for n in range(1, len(sentences) + 1)]
        thought = _thought(anew, [answer for answer, _ in batches])
        if all(sentence is nothing for sentence in anew):
            raise Unreadable("The model rewrote none of the sentences.", thought.costs)
        return thought

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


def _few(quotes: Sequence[Quote]) -> list[str]:
    """The first quotes: what a hundred sources say needs no hundred quotes to be checked."""
    return [quote.text for quote in quotes[:_MOST_QUOTES]]


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

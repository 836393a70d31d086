"""A mind that asks models: one prompt a verb, one model a role.

Does not know servers, files or graphs. Models see short keys, never addresses; unknown keys mean nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fathom.errors import Unreadable
from fathom.memory.semantic import in_mind, sure_of
from fathom.minds import answers, planned
from fathom.minds.judging import bearings_of, checks_shown, hypotheses_shown, rubric_of
from fathom.minds.keys import (
    CLAIM_TOKENS,
    MOST_CLAIMS,
    ids_of,
    keyed,
    refused,
    sentence_of,
    weight,
    with_quotes,
)
from fathom.minds.ladder import F, Ladder
from fathom.minds.pairing import rulings_of, shown
from fathom.minds.passages import best_passages
from fathom.minds.planned import NONE, listed
from fathom.minds.port import Assessment, Brief, Case, Draft, Evidence, Objection, Point, Revision, Thought
from fathom.prompts import load
from fathom.spend.purse import Purse
from fathom.state import (
    Charge,
    Claim,
    Gap,
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
from fathom.text.fitting import fitting_entries

_PAGE_TOKENS = 3_500
_MOST_QUOTES = 6
_PROMPTS: dict[Role, str] = {
    "plan": "planner", "read": "reader", "verify": "verifier", "judge": "judge", "outline": "outline",
    "write": "writer", "check": "checker",
}  # fmt: skip


@dataclass(frozen=True)
class Prompted:
    """The mind that most runs think with."""

    ladders: Mapping[Role, Ladder]
    language: str = "the language of the question"

    def within(self, purse: Purse) -> "Prompted":
        """The same mind, paying from this purse."""
        return replace(self, ladders={role: ladder.within(purse) for role, ladder in self.ladders.items()})

    async def plan(self, brief: Brief) -> Thought[Plan]:
        """Sub-questions and queries, grounded in what a first search showed.

        In later rounds the judge has just said what to search for; a model is asked only if that is stale.
        """
        if next_plan := planned.follow_up(brief):
            return Thought(next_plan)
        answer, charges = await self._ask(
            "plan", answers.PlanAnswer, language=self.language, **planned.shown(brief)
        )
        return Thought(planned.plan_of(answer, brief), charges)

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
    ) -> Thought[list[Draft]]:
        """Claims with quotes, from the passages of the page that fit what is asked and was searched best."""
        wanted = [*questions, sought] if sought else questions
        answer, charges = await self._ask(
            "read",
            answers.ReadAnswer,
            question=question,
            questions=listed(f"{q.id}: {q.text}" for q in questions),
            title=title,
            passages="\n\n[…]\n\n".join(best_passages(text, [q.text for q in wanted], _PAGE_TOKENS)),
            sought=f"for {sought.id}: {sought.text}" if sought else "nothing else",
            language=self.language,
        )
        return Thought([Draft(c.statement, c.quote, c.question, c.relevance) for c in answer.claims], charges)

    async def verify(self, evidence: Sequence[Evidence]) -> Thought[list[Verdict]]:
        """One verdict for each; what the model passes over is not verified."""
        items = (
            f"Item {n}\nStatement: {e.statement}\nQuote: {e.quote}\nAround it: {e.context}"
            for n, e in enumerate(evidence, 1)
        )
        answer, charges = await self._ask("verify", answers.VerifyAnswer, evidence="\n\n".join(items))
        found = {verdict.item: verdict for verdict in answer.verdicts}
        return Thought([_verdict(found.get(n)) for n in range(1, len(evidence) + 1)], charges)

    async def judge(self, case: Case) -> Thought[Assessment]:
        """Rubric and gaps in one call."""
        keyed = _by_key(case)
        answer, charges = await self._ask(
            "judge",
            answers.JudgeAnswer,
            **self._material(case.question, case.questions),
            claims=listed(f"{k} (for {c.question}): {c.statement}" for k, c in keyed.items()),
            pairs=shown(case.pairs) or NONE,
            checks=listed(checks_shown(case.checks)),
            hypotheses=listed(hypotheses_shown(case.hypotheses)),
        )
        known = {q.id for q in case.questions}
        gaps = [
            Gap(
                description=gap.description,
                priority=_priority(gap.priority),
                suggested_query=gap.suggested_query,
                question=gap.question if gap.question in known else "",
            )
            for gap in answer.gaps
        ]
        rulings = rulings_of(answer.rulings, case.pairs)
        bearings = bearings_of(answer.hypotheses, case.hypotheses, keyed)
        rubric = rubric_of(answer, keyed)
        return Thought(Assessment(rubric, gaps, rulings, answer.confidence, bearings), charges)

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[Point]
    ) -> Thought[Outline]:
        """Headings over findings."""
        by_key = keyed(points)
        answer, charges = await self._ask(
            "outline",
            answers.OutlineAnswer,
            **self._material(question, questions),
            claims=listed(
                f"{key} (for {p.finding.question}): {p.finding.statement} ({weight(p)})"
                for key, p in by_key.items()
            ),
        )
        headings = [
            Heading(id="", title=s.title, question=s.question, claims=ids_of(s.claims, by_key))
            for s in answer.sections
        ]
        return Thought(Outline(title=answer.title, headings=headings), charges)

    async def write(self, question: str, heading: Heading, points: Sequence[Point]) -> Thought[Section]:
        """One section, from its findings only; whoever cites one cites every claim that says it."""
        by_key = keyed(points)
        answer, charges = await self._ask(
            "write",
            answers.WriteAnswer,
            question=question,
            heading=heading.title,
            claims=with_quotes(by_key),
            language=self.language,
        )
        sentences = [sentence_of(s, by_key) for s in answer.sentences]
        return Thought(Section(id=heading.id, title=heading.title, sentences=sentences), charges)

    async def check(self, section: Section, claims: Sequence[Claim]) -> Thought[list[Objection]]:
        """The sentences of a section that say more than their quotes."""
        quotes = {c.id: c.quotes for c in claims}
        shown = [
            f"Sentence {place}: {s.text}\n"
            + "\n".join(f"  quote: {q}" for q in _few([q for c in s.claims for q in quotes.get(c, [])]))
            for place, s in enumerate(section.sentences)
            if s.status == "supported"
        ]
        if not shown:
            return Thought([])
        answer, charges = await self._ask("check", answers.CheckAnswer, sentences="\n\n".join(shown))
        return Thought([Objection(o.sentence, o.why) for o in answer.objections], charges)

    async def rewrite(self, revision: Revision) -> Thought[list[Sentence]]:
        """All sentences that were sent back in one call, each with the reason and the quotes."""
        by_key = keyed(revision.points)
        answer, charges = await self._ask(
            "write",
            answers.RewriteAnswer,
            prompt="rewriter",
            question=revision.question,
            heading=revision.heading.title,
            sentences=refused(revision.sentences, by_key),
            claims=with_quotes(by_key),
            language=self.language,
        )
        anew = {form.sentence: sentence_of(form, by_key) for form in answer.rewrites}
        numbers = range(1, len(revision.sentences) + 1)
        if not anew.keys() & set(numbers):
            raise Unreadable("The model rewrote none of the sentences.", charges)
        nothing = Sentence(text="", claims=[], status="unsupported")
        return Thought([anew.get(n, nothing) for n in numbers], charges)

    async def _ask(
        self, role: Role, form: type[F], prompt: str = "", **inputs: str
    ) -> tuple[F, list[Charge]]:
        return await self.ladders[role].ask(role, load(prompt or _PROMPTS[role]).fill(**inputs), form)

    def _material(self, question: str, questions: Sequence[SubQuestion]) -> dict[str, str]:
        return {
            "question": question,
            "questions": listed(f"{q.id}: {q.text}" for q in questions),
            "language": self.language,
        }


def _by_key(case: Case) -> dict[str, Claim]:
    """The claims worth having in mind under short keys; a model never sees an address or a hash."""
    best = in_mind(case.claims, [q.text for q in case.questions], sure_of(case.findings), MOST_CLAIMS)
    lines = {f"E{n}": claim.statement for n, claim in enumerate(best, 1)}
    return dict(zip(fitting_entries(lines, CLAIM_TOKENS), best, strict=False))


def _few(quotes: Sequence[Quote]) -> list[str]:
    """The first quotes: what a hundred sources say needs no hundred quotes to be checked."""
    return [quote.text for quote in quotes[:_MOST_QUOTES]]


def _priority(word: str) -> Literal["high", "medium", "low"]:
    match word.strip().lower():
        case "high":
            return "high"
        case "low":
            return "low"
        case _:
            return "medium"


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

"""A mind without any model: it splits, ranks, quotes and counts.

Does not understand, and never claims to: every statement it makes is a sentence of a source. It is what works
with no key, and what finishes a report when a model is gone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fathom.evidence.bearing import bearings
from fathom.evidence.facts import is_verbatim, names
from fathom.evidence.flaws import flaws
from fathom.evidence.settling import settled
from fathom.evidence.support import SUPPORTED_FROM, support
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
from fathom.llm.questions import parts_of, with_topic
from fathom.llm.quoting import quotable
from fathom.llm.rubric import computed
from fathom.llm.seeking import sought_in, together
from fathom.llm.telling import worth_telling
from fathom.report.drafts import quoted
from fathom.report.passage_lines import extract_section
from fathom.state import Edit, Heading, Outline, Plan, Query, Section, Sentence, SubQuestion, Verdict
from fathom.text.normal import one_line
from fathom.text.ranking import terms

_LONGEST_TITLE = 120
_FEW_WORDS = 3
_NEW_WAY = "new way"


@dataclass(frozen=True)
class ExtractiveModel:
    """The mind that needs nothing."""

    most_points: int = 3

    async def plan(self, brief: Brief) -> Thought[Plan]:
        """The question's own parts first; then what is still open, and names the sources brought up."""
        plan = _first_plan(brief) if brief.round == 1 else _next_plan(brief)
        if brief.feedback:
            way = [SubQuestion(id=_NEW_WAY, text=brief.feedback)] if brief.is_new_way else []
            about = _NEW_WAY if way else ""
            extra = Query(id="", text=brief.feedback, question=about, round=brief.round)
            changed = {"questions": [*plan.questions, *way], "queries": [extra, *plan.queries]}
            plan = plan.model_copy(update=changed)
        # It has ranked its queries by what it knows; code that knows no more adds nothing to them.
        return Thought(plan.model_copy(update={"is_settled": True}))

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> Thought[list[Draft]]:
        """The sentences of the page that answer best, what it was searched for first."""
        drafts = await asyncio.to_thread(quotable, questions, title, text)
        if sought is None:
            return Thought(drafts)
        return Thought(together(await asyncio.to_thread(sought_in, question, sought, title, text), drafts))

    async def verify(self, evidence: Sequence[Evidence]) -> Thought[list[Verdict]]:
        """Whether the quote carries the statement as far as code can tell; strict, since it cannot read."""
        return Thought([_verdict(e.statement, e.quote.split("\n")) for e in evidence])

    async def retry(self, refusals: Sequence[Refusal]) -> Thought[list[Draft | None]]:
        """Nothing is restated: that takes somebody who understands it."""
        return Thought([None for _ in refusals])

    async def judge(self, case: Case) -> Thought[Assessment]:
        """Marks and gaps from counts; from what was read, whether its leads are worth following."""
        assessment = replace(computed(case), bearings=bearings(case.hypotheses, case.claims))
        if case.trails is None or not case.trails.best:
            return Thought(assessment)
        is_open = any(gap.priority != "low" for gap in assessment.gaps)
        answered = [] if is_open else [question.text for question in case.questions]
        why = settled(case.trails, case.before, answered)
        still = "" if why or not case.trails.leads else "evidence that is linked and complete"
        return Thought(replace(assessment, settled=why, unsettled=still))

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[Point]
    ) -> Thought[Outline]:
        """One heading a sub-question that has evidence, the answer first, then what is worth telling."""
        headings = []
        for asked in questions:
            own = worth_telling(asked.text, _serving(points, asked), self.most_points)
            ids = [claim_id for point in own for claim_id in point.ids]
            headings.append(Heading(id="", title=asked.text, question=asked.id, claims=ids))
        return Thought(Outline(title=one_line(question)[:_LONGEST_TITLE], headings=headings))

    async def write(self, brief: SectionBrief) -> Thought[Section]:
        """The best passages as they stand; what a model stated in its own words is a list of statements."""
        heading = brief.heading
        told = worth_telling(heading.title, brief.points, self.most_points)
        firsts = [point.claims[0] for point in told]
        if all(is_verbatim(claim.statement, [quote.text for quote in claim.quotes]) for claim in firsts):
            return Thought(extract_section(heading.id, heading.title, firsts))
        sentences = [
            Sentence(text=point.claims[0].statement, claims=point.ids, status="supported") for point in told
        ]
        return Thought(Section(id=heading.id, title=heading.title, sentences=sentences, is_list=True))

    async def check(self, brief: CheckBrief) -> Thought[list[Objection]]:
        """A sentence is objected to that its quotes do not carry as far as code can tell."""
        known = {c.id: c for c in brief.claims}
        objections = []
        for place, item in enumerate(brief.items):
            own = [known[c] for c in item.claims if c in known]
            said = [text for c in own for text in (c.statement, *(q.text for q in c.quotes))]
            verdict = _verdict(item.statement, said)
            if item.kind == "inference" or (own and verdict.score < SUPPORTED_FROM):
                objections.append(Objection(place, verdict.reason))
        return Thought(objections)

    async def refute(self, brief: CheckBrief) -> Thought[list[Objection]]:
        """Nothing: code that cannot read has no second opinion."""
        return Thought([])

    async def edit(self, brief: EditBrief) -> Thought[Edit]:
        """Nothing: quotes stay as they are."""
        return Thought(Edit())

    async def rewrite(self, revision: Revision) -> Thought[list[Sentence]]:
        """The quote of each sentence's first claim in its place; nothing where it has no claim."""
        known = {claim.id: claim for point in revision.points for claim in point.claims}
        nothing = Sentence(text="", claims=[], status="unsupported")
        firsts = (next((known[c] for c in s.claims if c in known), None) for s in revision.sentences)
        return Thought([quoted(claim) if claim else nothing for claim in firsts])


def _serving(points: Sequence[Point], asked: SubQuestion) -> list[Point]:
    """The points that have claims for a sub-question, with those claims only."""
    own = [Point(p.finding, [c for c in p.claims if c.question == asked.id]) for p in points]
    return [point for point in own if point.claims]


def _first_plan(brief: Brief) -> Plan:
    parts = parts_of(brief.question)
    questions = [SubQuestion(id=f"Q{n}", text=part) for n, part in enumerate(parts, 1)]
    queries = [
        Query(id="", text=with_topic(q.text, _about(brief)), question=q.id, round=1) for q in questions
    ]
    return Plan(
        strategy="Search each part of the question, read what ranks best, quote what answers.",
        questions=questions,
        queries=queries,
    )


def _next_plan(brief: Brief) -> Plan:
    """What is still open, then the names that the best pages bring up, with what those pages leave open."""
    texts = {q.id: q.text for q in brief.questions}
    open_ids = [gap.question for gap in brief.gaps if gap.question in texts] or [brief.questions[0].id]
    pairs = [(q, with_topic(texts[q], _about(brief))) for q in open_ids]
    pairs += [(open_ids[0], lead) for lead in brief.leads]
    return Plan(
        strategy="Search for what is still open, with names the sources brought up.",
        questions=list(brief.questions),
        queries=[Query(id="", text=text, question=q, round=brief.round) for q, text in pairs],
        is_settled=True,
    )


def _about(brief: Brief) -> str:
    """The question; a follow-up of few words that names nothing is about what the one before it names."""
    if not brief.thread or names(brief.question) or len(terms(brief.question)) > _FEW_WORDS:
        return brief.question
    return f"{brief.question} {brief.thread[-1].question}"


def _verdict(statement: str, quotes: Sequence[str]) -> Verdict:
    wrong = flaws(statement, quotes)
    score = 0.0 if wrong else support(statement, quotes)
    return Verdict(
        is_explicit=score >= SUPPORTED_FROM,
        is_same_scope=not wrong,
        is_not_overstated=not wrong,
        score=score,
        reason="; ".join(wrong) or f"its quotes carry it to {score:.0%}",
    )

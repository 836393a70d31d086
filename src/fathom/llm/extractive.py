"""A research model without an LLM: it splits, ranks, quotes and counts.

Every statement it makes is a sentence of a source. It runs without any key, and takes over when a model
fails.
"""

import asyncio
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from fathom.evidence.answer_kinds import find_asked_thing, is_factual_question, score_directness
from fathom.evidence.checks.strict import find_flaws
from fathom.evidence.grounding import is_verbatim
from fathom.evidence.link_paths import find_convergence
from fathom.evidence.quote_selection import join_statements, select_quotes, select_sought_quotes
from fathom.evidence.scoring import compute_assessment
from fathom.evidence.support import SUPPORTED_FROM, score_support
from fathom.planning.hypotheses import find_bearings
from fathom.planning.queries import mark_academic
from fathom.planning.questions import add_missing_names, split_question
from fathom.report.drafting import quote_claim
from fathom.report.passages import extract_section
from fathom.report.sentence_checks import CheckInput
from fathom.state import Edit, Heading, Outline, Plan, Query, Section, Sentence, SubQuestion, Verdict
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
from fathom.text.mentions import extract_numbers, find_name_words, is_negated
from fathom.text.messages import messages_for
from fathom.text.normalization import one_line
from fathom.text.ranking import jaccard_similarity, terms

_DIRECT_BONUS, _DOUBT_FACTOR, _SOURCE_BONUS, _MAX_COUNTED_SOURCES = 0.1, 0.7, 0.05, 3
_ANSWERS_FROM = 0.3
_DEFINES_FROM = 0.5
_FLOOR = 0.9  # of the section's first point
_DISPUTED_FLOOR = 0.5  # the same for a disputed point
_SAME_WORDS, _CONTAINED_WORDS = 0.6, 0.8


def choose_points(question: str, points: Sequence[ReportPoint], most: int) -> list[ReportPoint]:
    """Return the best few points, best first, without repeats and without those far below the best.

    A contradicting point is shown beside the other, even beyond `most` and below the floor. Idempotent.
    """
    ranked = sorted(points, key=lambda p: -_point_worth(question, p))
    if is_factual_question(question):
        ranked = [p for p in ranked if _is_direct(question, p)] or ranked
    if thing := find_asked_thing(question):
        ranked = _keep_definitions(question, thing, ranked)
    best = _point_strength(ranked[0]) if ranked else 0.0
    kept: list[ReportPoint] = []
    for point in ranked:
        is_disputed = point.finding.tag == "CONTRADICTED"
        if len(kept) >= most and not is_disputed:
            continue
        is_good = _point_strength(point) >= (_DISPUTED_FLOOR if is_disputed else _FLOOR) * best
        if is_good and not any(_repeats(point, other) or _overlaps(point, other) for other in kept):
            kept.append(point)
    return kept


def _keep_definitions(question: str, thing: str, ranked: list[ReportPoint]) -> list[ReportPoint]:
    """If some point defines the thing, keep only definitions, its own entries and contradicted points."""
    if not any(score_directness(question, _statement_of(point)) >= _DEFINES_FROM for point in ranked):
        return ranked
    return [
        point
        for point in ranked
        if score_directness(question, _statement_of(point)) >= _DEFINES_FROM
        or terms(_statement_of(point).partition(":")[0]) == terms(thing)
        or point.finding.tag == "CONTRADICTED"
    ]


def _statement_of(point: ReportPoint) -> str:
    return point.claims[0].statement


def _is_direct(question: str, point: ReportPoint) -> bool:
    quotes = (quote.text for quote in point.claims[0].quotes)
    return any(score_directness(question, said) >= _ANSWERS_FROM for said in (_statement_of(point), *quotes))


def _point_worth(question: str, point: ReportPoint) -> float:
    """Return a point's strength, raised for a direct answer, lowered for a weak quote or an objection."""
    doubt = _DOUBT_FACTOR if point.finding.tag == "UNCERTAIN" else 1.0
    return (
        doubt
        * _point_strength(point)
        * (1 + _DIRECT_BONUS * score_directness(question, _statement_of(point)))
    )


def _point_strength(point: ReportPoint) -> float:
    """Score a point by relevance and number of sources."""
    others = min(len(point.finding.independent_sources), _MAX_COUNTED_SOURCES) - 1
    return max(claim.relevance for claim in point.claims) + _SOURCE_BONUS * max(0, others)


def _repeats(point: ReportPoint, other: ReportPoint) -> bool:
    """Tell whether both say the same; other figures or a negation make another statement."""
    ours, theirs = _statement_of(point), _statement_of(other)
    if not set(extract_numbers(ours)) <= set(extract_numbers(theirs)) or is_negated(ours) != is_negated(
        theirs
    ):
        return False
    left, right = terms(ours), terms(theirs)
    return jaccard_similarity(left, right) >= _SAME_WORDS or len(left & right) >= _CONTAINED_WORDS * len(left)


def _overlaps(point: ReportPoint, another: ReportPoint) -> bool:
    """Tell whether their quotes overlap."""
    one, other = point.claims[0].quotes[0].text, another.claims[0].quotes[0].text
    return one in other or other in one


_LONGEST_TITLE = 120
_FEW_WORDS = 3
_MOST_POINTS = 3  # of a part
_NEW_DIRECTION = "new way"


@dataclass(frozen=True)
class ExtractiveModel:
    """The research model that needs no LLM."""

    async def plan(self, brief: PlanInput) -> ModelResult[Plan]:
        """Plan the question's own parts first; later what is still open, and names from the sources."""
        plan = _first_plan(brief) if brief.round == 1 else _next_plan(brief)
        if brief.feedback:
            way = [SubQuestion(id=_NEW_DIRECTION, text=brief.feedback)] if brief.is_new_way else []
            about = _NEW_DIRECTION if way else ""
            extra = Query(id="", text=brief.feedback, question=about, round=brief.round)
            changed = {"questions": [*plan.questions, *way], "queries": [extra, *plan.queries]}
            plan = plan.model_copy(update=changed)
        queries = [mark_academic(query) for query in plan.queries]
        # Its queries are already ranked, so the planner adds none.
        return ModelResult(plan.model_copy(update={"queries": queries, "is_settled": True}))

    async def read(
        self,
        question: str,
        questions: Sequence[SubQuestion],
        title: str,
        text: str,
        sought: SubQuestion | None = None,
        facts: PageFacts = NO_FACTS,
    ) -> ModelResult[list[ExtractedStatement]]:
        """Return the sentences of the page that answer best, for the sought question first."""
        drafts = await asyncio.to_thread(select_quotes, questions, title, text)
        if sought is None:
            return ModelResult(drafts)
        return ModelResult(
            join_statements(
                await asyncio.to_thread(select_sought_quotes, question, sought, title, text), drafts
            )
        )

    async def verify(self, evidence: Sequence[VerificationItem]) -> ModelResult[list[Verdict]]:
        """Accept a statement only if code finds it supported by its quote."""
        return ModelResult([_verdict(e.statement, e.quote.split("\n")) for e in evidence])

    async def retry(self, refusals: Sequence[RefusedClaim]) -> ModelResult[list[ExtractedStatement | None]]:
        """Return None for all: restating needs an LLM."""
        return ModelResult([None for _ in refusals])

    async def judge(self, judge_input: JudgeInput) -> ModelResult[Assessment]:
        """Compute rubric and gaps from counts, and from the pages whether their links are worth following."""
        assessment = replace(
            compute_assessment(judge_input),
            bearings=find_bearings(judge_input.hypotheses, judge_input.claims),
        )
        if judge_input.link_paths is None or not judge_input.link_paths.best:
            return ModelResult(assessment)
        is_open = any(gap.priority != "low" for gap in assessment.gaps)
        answered = [] if is_open else [question.text for question in judge_input.questions]
        why = find_convergence(judge_input.link_paths, judge_input.before, answered)
        still = "" if why or not judge_input.link_paths.leads else "evidence that is linked and complete"
        return ModelResult(replace(assessment, settled=why, why_not_converged=still))

    async def outline(
        self, question: str, questions: Sequence[SubQuestion], points: Sequence[ReportPoint]
    ) -> ModelResult[Outline]:
        """Return one heading per sub-question with evidence, the main answer first."""
        headings = []
        for asked in questions:
            answering = {c.id for point in points for c in point.claims if c.question == asked.id}
            own = choose_points(asked.text, _limit_points(points, answering), _MOST_POINTS)
            ids = [claim_id for point in own for claim_id in point.ids]
            headings.append(Heading(id="", title=asked.text, question=asked.id, claims=ids))
        return ModelResult(Outline(title=one_line(question)[:_LONGEST_TITLE], headings=headings))

    async def write(self, brief: WriteInput) -> ModelResult[list[Section]]:
        """Return the best passages verbatim; statements that a model phrased become a list."""
        return ModelResult([self._write_part(heading, brief.points) for heading in brief.headings])

    def _write_part(self, heading: Heading, points: Sequence[ReportPoint]) -> Section:
        own = _limit_points(points, heading.claims)
        chosen = choose_points(heading.title, own, _MOST_POINTS)
        firsts = [point.claims[0] for point in chosen]
        if all(is_verbatim(claim.statement, [quote.text for quote in claim.quotes]) for claim in firsts):
            return extract_section(heading.id, heading.title, firsts)
        sentences = [
            Sentence(text=point.claims[0].statement, claims=point.ids, status="supported") for point in chosen
        ]
        return Section(id=heading.id, title=heading.title, sentences=sentences, is_list=True)

    async def check(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Object to sentences that code does not find supported by their quotes."""
        known = {c.id: c for c in brief.claims}
        objections = []
        for place, item in enumerate(brief.items):
            own = [known[c] for c in item.claims if c in known]
            said = [text for c in own for text in (c.statement, *(q.text for q in c.quotes))]
            verdict = _verdict(item.statement, said)
            if item.kind == "inference" or (own and verdict.score < SUPPORTED_FROM):
                objections.append(Objection(place, verdict.reason))
        return ModelResult(objections)

    async def refute(self, brief: CheckInput) -> ModelResult[list[Objection]]:
        """Return nothing: a second opinion needs an LLM."""
        return ModelResult([])

    async def edit(self, brief: EditInput) -> ModelResult[Edit]:
        """Return no changes: quotes stay as they are."""
        return ModelResult(Edit())

    async def rewrite(self, revision: RewriteInput) -> ModelResult[list[Sentence]]:
        """Replace each sentence by the quote of its first claim, or by nothing if it has none."""
        known = {claim.id: claim for point in revision.points for claim in point.claims}
        nothing = Sentence(text="", claims=[], status="unsupported")
        firsts = (next((known[c] for c in s.claims if c in known), None) for s in revision.sentences)
        return ModelResult([quote_claim(claim) if claim else nothing for claim in firsts])


def _limit_points(points: Sequence[ReportPoint], ids: Container[str]) -> list[ReportPoint]:
    """Return the points with some of these claims, limited to them."""
    own = [ReportPoint(point.finding, [c for c in point.claims if c.id in ids]) for point in points]
    return [point for point in own if point.claims]


def _first_plan(brief: PlanInput) -> Plan:
    parts = split_question(brief.question)
    questions = [SubQuestion(id=f"Q{n}", text=part) for n, part in enumerate(parts, 1)]
    queries = [
        Query(id="", text=add_missing_names(q.text, _question_with_topic(brief)), question=q.id, round=1)
        for q in questions
    ]
    return Plan(
        strategy=messages_for(brief.question, None)("plan.extract_first"),
        questions=questions,
        queries=queries,
    )


def _next_plan(brief: PlanInput) -> Plan:
    """Plan what is still open, then names from the best pages with their open parts."""
    texts = {q.id: q.text for q in brief.questions}
    open_ids = [gap.question for gap in brief.gaps if gap.question in texts] or [brief.questions[0].id]
    pairs = [(q, add_missing_names(texts[q], _question_with_topic(brief))) for q in open_ids]
    pairs += [(open_ids[0], lead) for lead in brief.leads]
    return Plan(
        strategy=messages_for(brief.question, None)("plan.extract_next"),
        questions=list(brief.questions),
        queries=[Query(id="", text=text, question=q, round=brief.round) for q, text in pairs],
        is_settled=True,
    )


def _question_with_topic(brief: PlanInput) -> str:
    """Return the question; a short follow-up without names gets the topic of the one before."""
    if not brief.thread or find_name_words(brief.question) or len(terms(brief.question)) > _FEW_WORDS:
        return brief.question
    return f"{brief.question} {brief.thread[-1].question}"


def _verdict(statement: str, quotes: Sequence[str]) -> Verdict:
    wrong = find_flaws(statement, quotes)
    score = 0.0 if wrong else score_support(statement, quotes)
    return Verdict(
        is_explicit=score >= SUPPORTED_FROM,
        is_same_scope=not wrong,
        is_not_overstated=not wrong,
        score=score,
        reason="; ".join(wrong) or f"its quotes carry it to {score:.0%}",
    )

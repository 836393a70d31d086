"""The planner's role: show a bounded view of the run, and read the plan from the answer."""

from collections.abc import Sequence
from dataclasses import replace

from fathom.evidence.scoring import ANSWERED_FROM
from fathom.llm.prompt_budget import NONE, CuttableText, PromptBudget, PromptLines, list_lines
from fathom.llm.roles.answer_forms import PlanAnswer
from fathom.planning.effort import describe_kind
from fathom.planning.memory import best_lessons, choose_relevant_claims, failed_lessons, recall_claims
from fathom.planning.queries import read_family
from fathom.state import Claim, Gap, Heading, Hypothesis, Lesson, Plan, Query, SubQuestion
from fathom.state.model_io import PlanInput
from fathom.text.messages import ENGLISH
from fathom.text.normalization import one_line

_MAX_ASKED = 30
_MAX_FINDINGS = 30
_MAX_RECALLED = 10
_MAX_LINE_CHARS = 300
_MAX_HYPOTHESES = 5
_MAX_TURNS = 10


def build_prompt(brief: PlanInput, language: str) -> PromptBudget:
    """Build the planner's prompt; the question and a user's feedback always stay."""
    evidence: dict[str, CuttableText] = {
        "thread": list_lines(
            (f"{turn.question} {turn.answer}" for turn in brief.thread[-_MAX_TURNS:]), 2, is_newest_last=True
        ),
        "known": list_lines(map(_question, brief.questions), weight=2),
        "answers": list_lines(f"{name}: {phrase}" for name, phrase in brief.answers.items()),
        "asked": list_lines(brief.memory, is_newest_last=True) if brief.memory else _asked_lines(brief.asked),
        "lessons": _lesson_lines(brief.lessons),
        "gaps": list_lines(map(_gap, brief.gaps), weight=2),
        "parts": list_lines((_part(h) for h in brief.outline.headings) if brief.outline else []),
        "rereads": list_lines(reread.sought.text for reread in brief.rereads),
        "hypotheses": list_lines(map(_hypothesis, brief.hypotheses)),
        "findings": _finding_lines(brief),
        "scouted": list_lines((f"{h.title}: {h.snippet[:_MAX_LINE_CHARS]}" for h in brief.scouted), weight=2),
        "outlines": list_lines(brief.outlines),
    }
    fixed = {
        "question": brief.question,
        "language": language,
        "round": str(brief.round),
        "limit": str(brief.limit),
        "limits": brief.limits or NONE,
        "today": brief.today or NONE,
        "effort": describe_kind(brief.effort) if brief.effort else NONE,
        "tool": f"{brief.tool.name}, because {brief.tool.because}" if brief.tool else NONE,
        "approach": ENGLISH.tell("note", brief.approach) if brief.approach else NONE,
        "feedback": _describe_feedback(brief),
    }
    return PromptBudget("planner", fixed, evidence)


def read_plan(answer: PlanAnswer, brief: PlanInput) -> Plan:
    """Return the plan of an answer; its queries are candidates."""
    return Plan(
        strategy=answer.strategy,
        kind=answer.kind,
        perspectives=answer.perspectives,
        hypotheses=[text for h in answer.hypotheses if (text := one_line(h))][:_MAX_HYPOTHESES],
        questions=[
            SubQuestion(id=q.id, text=q.text, needs=q.needs, perspective=q.perspective)
            for q in answer.questions
        ],
        queries=[
            Query(
                id="",
                text=q.text,
                question=q.question,
                round=brief.round,
                family=read_family(q.family, q.text),
            )
            for q in answer.queries
        ],
    )


def _question(question: SubQuestion) -> str:
    needs = f" (after {', '.join(question.needs)})" if question.needs else ""
    seen_from = f" [{question.perspective}]" if question.perspective else ""
    return f"{question.id}: {question.text}{needs}{seen_from}"


def _gap(gap: Gap) -> str:
    tried = f", not closed by {gap.tried} rounds" if gap.tried else ""
    found = "; found, but refused by verification" if gap.is_rejected else ""
    return f"({gap.priority}{tried}) {gap.description}{found}; try: {gap.suggested_query}"


def _part(heading: Heading) -> str:
    lacks = f"; lacks: {heading.lacks}" if heading.lacks else ""
    return f"({heading.priority}) {heading.title}: {len(heading.claims)} claims{lacks}"


def _hypothesis(hypothesis: Hypothesis) -> str:
    evidence = f"{len(hypothesis.supporting)} for it, {len(hypothesis.contradicting)} against it"
    return f"{hypothesis.statement} (confidence {hypothesis.confidence:.2f}; {evidence})"


def _asked_lines(queries: Sequence[Query]) -> PromptLines:
    hidden = len(queries) - _MAX_ASKED
    told_too = [f"(and {hidden} before these)"] if hidden > 0 else []
    return list_lines(
        [*told_too, *(q.text[:_MAX_LINE_CHARS] for q in queries[-_MAX_ASKED:])], is_newest_last=True
    )


def _lesson_lines(lessons: Sequence[Lesson]) -> PromptLines:
    good = (
        f"worked: {n.text[:_MAX_LINE_CHARS]} ({n.pages} pages, {n.claims} claims)"
        for n in best_lessons(lessons)
    )
    bad = (f"{_describe_failed_lesson(n)}: {n.text[:_MAX_LINE_CHARS]}" for n in failed_lessons(lessons))
    return list_lines([*good, *bad])


def _describe_failed_lesson(lesson: Lesson) -> str:
    return f"failed ({lesson.pages} pages, no claim)" if lesson.pages else "led to no page that was not read"


def _relevant_findings(brief: PlanInput) -> list[Claim]:
    """Return findings relevant to open sub-questions, and older ones relevant to gaps."""
    answered = {c.question for c in brief.findings if c.relevance >= ANSWERED_FROM}
    wanted = {gap.question for gap in brief.gaps}
    still_open = [q.text for q in brief.questions if q.id in wanted or q.id not in answered]
    best = choose_relevant_claims(brief.findings, still_open or [brief.question], brief.sure, _MAX_FINDINGS)
    missing = [gap.suggested_query for gap in brief.gaps if gap.suggested_query.strip()]
    return [*best, *recall_claims(brief.findings, missing, _MAX_RECALLED, beside=best)]


def _finding_lines(brief: PlanInput) -> PromptLines:
    """Return the relevant findings in the order they were found, so that the prompt's prefix stays stable."""
    telling, places = _relevant_findings(brief), {claim.id: n for n, claim in enumerate(brief.findings)}
    lines = list_lines((claim.statement for claim in telling), weight=2)
    return replace(lines, places=[places[claim.id] for claim in telling])


def _describe_feedback(brief: PlanInput) -> str:
    if not brief.feedback:
        return NONE
    said = f"\n(Said {brief.times_said} times now; the plans so far did not meet it.)"
    again = said if brief.times_said > 1 else ""
    return f"{brief.feedback}{again}\n(The queries it speaks of: {'; '.join(q.text for q in brief.proposed)})"

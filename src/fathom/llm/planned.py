"""A plan in a model's words: what it is shown, bounded however long the run, and what is made of its answer.

Does not know models.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fathom.evidence.sufficiency import ANSWERED_FROM
from fathom.llm.answers import PlanAnswer
from fathom.llm.port import Brief
from fathom.llm.sheets import NONE, Evidence, Lines, Sheet
from fathom.memory.archival import recalled
from fathom.memory.semantic import in_mind
from fathom.planning.effort import describe_kind
from fathom.planning.families import named_family
from fathom.planning.reflexion import failed, worked
from fathom.state import Claim, Gap, Heading, Hypothesis, Lesson, Plan, Query, SubQuestion
from fathom.text.normal import one_line

_ASKED = 30
_FINDINGS = 30
_RECALLED = 10
_LONGEST = 300
_HYPOTHESES = 5
_TURNS = 10


def sheet_of(brief: Brief, language: str) -> Sheet:
    """What the planner is shown: the question and what a person said stay, however small the window."""
    evidence: dict[str, Evidence] = {
        "thread": listed(
            (f"{turn.question} {turn.answer}" for turn in brief.thread[-_TURNS:]), 2, is_newest_last=True
        ),
        "known": listed(map(_question, brief.questions), weight=2),
        "answers": listed(f"{name}: {phrase}" for name, phrase in brief.answers.items()),
        "asked": listed(brief.memory, is_newest_last=True) if brief.memory else _asked(brief.asked),
        "lessons": _lessons(brief.lessons),
        "gaps": listed(map(_gap, brief.gaps), weight=2),
        "parts": listed((_part(h) for h in brief.outline.headings) if brief.outline else []),
        "rereads": listed(reread.sought.text for reread in brief.rereads),
        "hypotheses": listed(map(_hypothesis, brief.hypotheses)),
        "findings": _findings(brief),
        "scouted": listed((f"{h.title}: {h.snippet[:_LONGEST]}" for h in brief.scouted), weight=2),
        "outlines": listed(brief.outlines),
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
        "approach": brief.approach or NONE,
        "feedback": _feedback(brief),
    }
    return Sheet("planner", fixed, evidence)


def plan_of(answer: PlanAnswer, brief: Brief) -> Plan:
    """The plan in an answer; its queries are candidates."""
    return Plan(
        strategy=answer.strategy,
        kind=answer.kind,
        perspectives=answer.perspectives,
        hypotheses=[text for h in answer.hypotheses if (text := one_line(h))][:_HYPOTHESES],
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
                family=named_family(q.family, q.text),
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
    voices = f"{len(hypothesis.supporting)} for it, {len(hypothesis.contradicting)} against it"
    return f"{hypothesis.statement} (confidence {hypothesis.confidence:.2f}; {voices})"


def _asked(queries: Sequence[Query]) -> Lines:
    hidden = len(queries) - _ASKED
    told_too = [f"(and {hidden} before these)"] if hidden > 0 else []
    return listed([*told_too, *(q.text[:_LONGEST] for q in queries[-_ASKED:])], is_newest_last=True)


def _lessons(lessons: Sequence[Lesson]) -> Lines:
    good = (f"worked: {n.text[:_LONGEST]} ({n.pages} pages, {n.claims} claims)" for n in worked(lessons))
    bad = (f"{_failing(n)}: {n.text[:_LONGEST]}" for n in failed(lessons))
    return listed([*good, *bad])


def _failing(lesson: Lesson) -> str:
    return f"failed ({lesson.pages} pages, no claim)" if lesson.pages else "led to no page that was not read"


def _telling(brief: Brief) -> list[Claim]:
    """The findings worth having in mind for what is open, and older ones that bear on what is missing."""
    answered = {c.question for c in brief.findings if c.relevance >= ANSWERED_FROM}
    wanted = {gap.question for gap in brief.gaps}
    still_open = [q.text for q in brief.questions if q.id in wanted or q.id not in answered]
    best = in_mind(brief.findings, still_open or [brief.question], brief.sure, _FINDINGS)
    missing = [gap.suggested_query for gap in brief.gaps if gap.suggested_query.strip()]
    return [*best, *recalled(brief.findings, missing, _RECALLED, beside=best)]


def _findings(brief: Brief) -> Lines:
    """The telling findings, shown in the order they were found in: what was shown before stays in front."""
    telling, places = _telling(brief), {claim.id: n for n, claim in enumerate(brief.findings)}
    lines = listed((claim.statement for claim in telling), weight=2)
    return replace(lines, places=[places[claim.id] for claim in telling])


def _feedback(brief: Brief) -> str:
    if not brief.feedback:
        return NONE
    said = f"\n(Said {brief.times_said} times now; the plans so far did not meet it.)"
    again = said if brief.times_said > 1 else ""
    return f"{brief.feedback}{again}\n(The queries it speaks of: {'; '.join(q.text for q in brief.proposed)})"


def listed(lines: Iterable[str], weight: float = 1.0, *, is_newest_last: bool = False) -> Lines:
    """The lines as a model is shown them."""
    return Lines([f"- {one_line(line)}" for line in lines], weight, is_newest_last=is_newest_last)

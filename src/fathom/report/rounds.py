"""A round for a person to read: the newest findings, what to ask next, and a few sentences.

Does not know who shows them: a review, an event, a page of the research folder.
"""

from collections.abc import Sequence

from fathom.planning.effort import describe_effort
from fathom.report.certainty import describe_progress
from fathom.state import Claim, Contradiction, Finding, Heading, Judgement, Outline, ResearchState, RunConfig
from fathom.text.messages import ENGLISH, format_count

_MOST_FINDINGS = 5
_MOST_SUGGESTED = 3
REVIEW_ANSWERS = ["approve", "edit", "feedback", "add", "finish"]


def key_findings(findings: Sequence[Finding], claims: Sequence[Claim]) -> list[Finding]:
    """The five that were found or confirmed last, as they are known now."""
    place = {claim.id: number for number, claim in enumerate(claims)}
    newest = sorted(findings, key=lambda finding: max(place.get(name, -1) for name in finding.claims))
    return newest[-_MOST_FINDINGS:]


def suggested_queries(judgement: Judgement) -> list[str]:
    """The three best queries for what is missing."""
    return [gap.suggested_query for gap in judgement.gaps[:_MOST_SUGGESTED]]


def summarize_round(
    judgement: Judgement, findings: Sequence[Finding], contradictions: Sequence[Contradiction]
) -> str:
    """Where a run stands after a round, in a few sentences."""
    thing = "passage" if judgement.is_by_words else "claim"
    drawn = f"{format_count(judgement.claims, thing)} from {format_count(judgement.pages, 'page')}"
    told_apart = f", saying {format_count(len(findings), 'different thing')}" if findings else ""
    has_high_gap = any(gap.importance == "high" for gap in judgement.gaps)
    progress = describe_progress(judgement.coverage, has_high_gap, ENGLISH, is_by_words=judgement.is_by_words)
    words = [
        f"After round {judgement.round} there are {drawn}{told_apart}, {judgement.new_claims} of them new.",
        f"{progress}." if judgement.is_by_words else f"{progress}; the score is {judgement.overall:.2f}.",
    ]
    if disputed := sum(entry.is_open for entry in contradictions):
        words.append(f"Sources disagree about {format_count(disputed, 'thing')}.")
    if judgement.gaps:
        words.append(f"What is missing most: {judgement.gaps[0].description.rstrip('.')}.")
    if tired := [gap.description.rstrip(".") for gap in judgement.gaps if gap.lowered_from]:
        words.append(f"Not closed after several rounds, and lowered: {'; '.join(tired)}.")
    if judgement.stop:
        words.append(f"That is enough: {judgement.stop} ({judgement.because}).")
    return " ".join(words)


def outline_lines(outline: Outline | None) -> list[str]:
    """The report as it takes form, a line a part: its title, what it rests on, and what it still lacks."""
    return [_outline_line(part) for part in outline.headings] if outline else []


def _outline_line(part: Heading) -> str:
    lacks = f"; still lacks: {part.lacks}" if part.lacks else ""
    return f"{part.title} ({part.priority}; {format_count(len(part.claims), 'claim')}{lacks})"


def review_details(
    state: ResearchState,
    run_config: RunConfig,
    spent_usd: float,
    *,
    why: str = "review",
    answers: Sequence[str] = REVIEW_ANSWERS,
) -> dict[str, object]:
    """What a person is shown who is asked about a plan: the plan, what is known, and what it has cost."""
    judgements, claims, findings = state.get("judgements", []), state.get("claims", []), _findings(state)
    gaps = judgements[-1].gaps if judgements else []
    return {
        "why": why,
        "round": len(judgements) + 1,
        "question": state["question"],
        "strategy": state.get("strategy", ""),
        "effort": describe_effort(state["effort"]) if "effort" in state else "",
        "perspectives": state.get("perspectives", []),
        "tool": f"{tool.name}, because {tool.because}" if (tool := state.get("tool")) else "",
        "questions": [q.text for q in state.get("questions", [])],
        "queries": [q.text for q in state.get("queries", [])],
        "waiting": [q.text for q in state.get("waiting", [])],
        "findings": [f"{f.statement} ({f.tag})" for f in key_findings(findings, claims)],
        "gaps": [gap.description for gap in gaps],
        "outline": outline_lines(state.get("outline")),
        "suggested": suggested_queries(judgements[-1]) if judgements else [],
        "summary": summarize_round(judgements[-1], findings, state.get("contradictions", []))
        if judgements
        else _summary_before_search(state),
        "spent_usd": round(spent_usd, 6),
        "budget_usd": run_config.budget_usd,
        "forecast": expected.model_dump() if (expected := state.get("forecast")) else {},
        "answers": list(answers),
    }


def _findings(state: ResearchState) -> list[Finding]:
    return state.get("findings", [])


def _summary_before_search(state: ResearchState) -> str:
    """Before anything was looked for."""
    queries = len(state.get("queries", []))
    searches = "1 query is" if queries == 1 else f"{queries} queries are"
    if state.get("directions"):
        branches = "1 branch is" if queries == 1 else f"{queries} branches are"
        return f"Nothing was read yet; {branches} ready to be sent out."
    parts = format_count(len(state.get("questions", [])), "sub-question")
    return f"Nothing was read yet; the question has {parts}, and {searches} ready to be sent."

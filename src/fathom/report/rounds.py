"""A round for a person to read: the newest findings, what to ask next, and a few sentences.

Does not know who shows them: a review, an event, a page of the research folder.
"""

from collections.abc import Sequence

from fathom.planning.effort import describe_effort
from fathom.report.certainty import describe_progress
from fathom.state import (
    ENOUGH,
    Claim,
    Contradiction,
    Finding,
    Heading,
    Judgement,
    Outline,
    ResearchState,
    RunConfig,
    ThinkingTool,
)
from fathom.text.messages import ENGLISH, Messages, messages_for

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
    judgement: Judgement,
    findings: Sequence[Finding],
    contradictions: Sequence[Contradiction],
    say: Messages = ENGLISH,
) -> str:
    """Where a run stands after a round, in a few sentences."""
    drawn = say("live.passages" if judgement.is_by_words else "live.claims", count=judgement.claims)
    apart = say("round.apart", count=len(findings)) if findings else ""
    pages, new = say("live.pages", count=judgement.pages), judgement.new_claims
    has_high_gap = any(gap.importance == "high" for gap in judgement.gaps)
    progress = describe_progress(judgement.coverage, has_high_gap, say, is_by_words=judgement.is_by_words)
    score = f"{judgement.overall:.2f}"
    words = [
        say(
            "round.over",
            count=judgement.claims,
            round=judgement.round,
            drawn=drawn,
            pages=pages,
            apart=apart,
            new=new,
        ),
        f"{progress}." if judgement.is_by_words else say("round.scored", progress=progress, score=score),
    ]
    if disputed := sum(entry.is_open for entry in contradictions):
        words.append(say("round.disputed", count=disputed))
    if judgement.gaps:
        words.append(say("round.missing", gap=judgement.gaps[0].description.rstrip(".")))
    if tired := [gap.description.rstrip(".") for gap in judgement.gaps if gap.lowered_from]:
        words.append(say("round.lowered", gaps="; ".join(tired)))
    if judgement.stop:
        rule, because = say.name("rule", judgement.stop), say.because(judgement)
        ending = "round.enough" if judgement.stop in ENOUGH else "round.end"
        words.append(say(ending, rule=rule, because=because))
    return " ".join(words)


def outline_lines(outline: Outline | None, say: Messages = ENGLISH) -> list[str]:
    """The report as it takes form, a line a part: its title, what it rests on, and what it still lacks."""
    return [_outline_line(part, say) for part in outline.headings] if outline else []


def _outline_line(part: Heading, say: Messages) -> str:
    lacks = say("round.lacks", lacks=part.lacks) if part.lacks else ""
    claims, priority = say("live.claims", count=len(part.claims)), say.name("priority", part.priority)
    return say("round.part", title=part.title, priority=priority, claims=claims, lacks=lacks)


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
    say = messages_for(state["question"], run_config.language)
    return {
        "why": why,
        "round": len(judgements) + 1,
        "question": state["question"],
        "language": run_config.language,
        "strategy": state.get("strategy", ""),
        "effort": describe_effort(state["effort"], run_config, say) if "effort" in state else "",
        "perspectives": state.get("perspectives", []),
        "tool": _describe_tool(tool, say) if (tool := state.get("tool")) else "",
        "questions": [q.text for q in state.get("questions", [])],
        "queries": [q.text for q in state.get("queries", [])],
        "waiting": [q.text for q in state.get("waiting", [])],
        "findings": [f"{f.statement} ({say.name('tag', f.tag)})" for f in key_findings(findings, claims)],
        "gaps": [gap.description for gap in gaps],
        "outline": outline_lines(state.get("outline"), say),
        "suggested": suggested_queries(judgements[-1]) if judgements else [],
        "summary": summarize_round(judgements[-1], findings, state.get("contradictions", []), say)
        if judgements
        else _summary_before_search(state, say),
        "spent_usd": round(spent_usd, 6),
        "budget_usd": run_config.budget_usd,
        "forecast": expected.model_dump() if (expected := state.get("forecast")) else {},
        "answers": list(answers),
    }


def _findings(state: ResearchState) -> list[Finding]:
    return state.get("findings", [])


def _describe_tool(tool: ThinkingTool, say: Messages) -> str:
    why = say.tell("tool_reason", tool.reason) if tool.reason else tool.because
    return say("plan.tool_because", tool=say.name("tool", tool.name), why=why)


def _summary_before_search(state: ResearchState, say: Messages) -> str:
    """Before anything was looked for."""
    queries = len(state.get("queries", []))
    if state.get("directions"):
        return say("plan.branches", count=queries)
    parts = say("plan.parts", count=len(state.get("questions", [])))
    return say("plan.nothing_read", parts=parts, queries=say("plan.ready", count=queries))

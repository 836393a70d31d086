"""The review: a person's word on the plan, when it was asked for."""

from langgraph.types import interrupt

from fathom.planning.effort import told
from fathom.state import Knobs, Query, ResearchState, ReviewAnswer

_FINDINGS = 5
_SUGGESTED = 3


async def review(state: ResearchState, *, knobs: Knobs) -> ResearchState:
    """Show the plan and wait for an answer; pass through when nobody asked for review.

    Nothing that costs money stands in front of the interrupt, since the node runs again from its start.

    Reads:  question, strategy, effort, perspectives, tool, questions, queries, waiting, claims, judgements
    Writes: queries, feedback, is_finishing
    """
    is_first = not state.get("judgements")
    if knobs.review == "off" or (knobs.review == "plan" and not is_first):
        return {}
    answer = ReviewAnswer.model_validate(interrupt(_on_the_table(state), response_schema=ReviewAnswer))
    queries = state.get("queries", [])
    if answer.action == "finish":
        return {"is_finishing": True}
    if answer.action == "feedback":
        return {"feedback": answer.text.strip()}
    if answer.action == "edit":
        return {"queries": _as_queries(answer.queries, state)}
    if answer.action == "add":
        return {"queries": [*queries, *_as_queries([answer.text], state, first=len(queries) + 1)]}
    return {}


def _on_the_table(state: ResearchState) -> dict[str, object]:
    judgements = state.get("judgements", [])
    gaps = judgements[-1].gaps if judgements else []
    return {
        "round": len(judgements) + 1,
        "question": state["question"],
        "strategy": state.get("strategy", ""),
        "effort": told(state["effort"]) if "effort" in state else "",
        "perspectives": state.get("perspectives", []),
        "tool": f"{tool.name}, because {tool.because}" if (tool := state.get("tool")) else "",
        "questions": [q.text for q in state.get("questions", [])],
        "queries": [q.text for q in state.get("queries", [])],
        "waiting": [q.text for q in state.get("waiting", [])],
        "findings": [c.statement for c in state.get("claims", [])[-_FINDINGS:]],
        "gaps": [g.description for g in gaps],
        "suggested": [g.suggested_query for g in gaps[:_SUGGESTED]],
        "answers": ["approve", "edit", "feedback", "add", "finish"],
    }


def _as_queries(texts: list[str], state: ResearchState, first: int = 1) -> list[Query]:
    """A person's queries; one that was in the plan keeps its sub-question, or is the branch it was."""
    number = len(state.get("judgements", [])) + 1
    planned = {q.text: q for q in state.get("queries", [])}
    fallback = Query(
        id="", text="", question=next((q.id for q in state.get("questions", [])), ""), round=number
    )
    branches = planned if state.get("directions") else {}
    name = "w" if branches else f"r{number}q"  # a wish, beside directions that have names of their own
    kept = [text.strip() for text in texts if text.strip()]
    return [
        branches.get(text)
        or Query(id=f"{name}{n}", text=text, question=planned.get(text, fallback).question, round=number)
        for n, text in enumerate(kept, first)
    ]

"""Finish-branch node: return a branch's results under ids that no other branch uses."""

from langgraph.types import Overwrite

from fathom.planning.tree import follow_up_queries, is_off_angle
from fathom.state import Claim, Direction, Query, ResearchState


async def finish_branch(state: ResearchState) -> ResearchState:
    """Prefix the ids of the branch's own sub-questions and queries, and score its direction.

    Reads:  direction, question, read_for, questions, asked, claims, pages, judgements
    Writes: directions, questions, asked, claims
    """
    branch = state["direction"].id
    asked_of_pages = [*state.get("read_for", []), *state.get("questions", [])]
    questions = [q.model_copy(update={"id": _branch_id(branch, q.id)}) for q in asked_of_pages]
    asked = [
        q.model_copy(update={"id": _branch_id(branch, q.id), "question": _branch_id(branch, q.question)})
        for q in _own_queries(state)
    ]
    claims = [
        c.model_copy(update={"question": _branch_id(branch, _question_of(c, state))})
        for c in _own_claims(state)
    ]
    return {
        "directions": [_explored_direction(state)],
        "questions": Overwrite(questions),  # type: ignore[typeddict-item]
        "asked": Overwrite(asked),  # type: ignore[typeddict-item]
        "claims": Overwrite(claims),  # type: ignore[typeddict-item]
    }


def _own_queries(state: ResearchState) -> list[Query]:
    """Return the queries of this branch, without those that another branch handed over."""
    return [query for query in state.get("asked", []) if "/" not in query.id]


def _own_claims(state: ResearchState) -> list[Claim]:
    return [claim for claim in state.get("claims", []) if claim.id not in state["direction"].given]


def _question_of(claim: Claim, state: ResearchState) -> str:
    """Return the sub-question that a claim answers.

    A claim that says nothing about the branch's angle answers the plain question, if there is exactly one.
    """
    plain = state.get("read_for", [])
    asked = next((q.text for q in state.get("questions", []) if q.id == claim.question), "")
    is_angle = len(plain) == 1 and asked == state["question"]
    return plain[0].id if is_angle and is_off_angle(claim.statement, asked) else claim.question


def _branch_id(branch: str, name: str) -> str:
    return f"{branch}/{name}" if name else ""


def _explored_direction(state: ResearchState) -> Direction:
    direction = state["direction"]
    own, asked = _own_claims(state), _own_queries(state)
    given = {q.page for c in state.get("claims", []) if c.id in direction.given for q in c.quotes}
    last = state["judgements"][-1]
    return direction.model_copy(
        update={
            "status": "explored" if own else "empty",
            "visits": 1,
            "asked": len(asked),
            "pages": sum(page.sha not in given for page in state.get("pages", [])),
            "claims": len(own),
            "value": len(own) / max(1, len(asked)),
            "leads": follow_up_queries(state["question"], last.gaps, own, asked) if own else [],
            "because": f"{last.stop} ({last.because})" if last.stop else "",
        }
    )

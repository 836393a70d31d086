"""The delivery: what a branch brings back, under names that no other branch uses."""

from langgraph.types import Overwrite

from fathom.planning.seeds import is_beside
from fathom.planning.tree import leads
from fathom.state import Claim, Direction, Query, ResearchState


async def deliver(state: ResearchState) -> ResearchState:
    """Name the branch's own sub-questions and queries after it, and say what its direction was worth.

    Reads:  direction, question, read_for, questions, asked, claims, pages, judgements
    Writes: directions, questions, asked, claims
    """
    branch = state["direction"].id
    asked_of_pages = [*state.get("read_for", []), *state.get("questions", [])]
    questions = [q.model_copy(update={"id": _of(branch, q.id)}) for q in asked_of_pages]
    asked = [
        q.model_copy(update={"id": _of(branch, q.id), "question": _of(branch, q.question)})
        for q in _own_queries(state)
    ]
    claims = [c.model_copy(update={"question": _of(branch, _about(c, state))}) for c in _own_claims(state)]
    return {
        "directions": [_explored(state)],
        "questions": Overwrite(questions),  # type: ignore[typeddict-item]
        "asked": Overwrite(asked),  # type: ignore[typeddict-item]
        "claims": Overwrite(claims),  # type: ignore[typeddict-item]
    }


def _own_queries(state: ResearchState) -> list[Query]:
    """Not those handed to it, which have the name of another branch."""
    return [query for query in state.get("asked", []) if "/" not in query.id]


def _own_claims(state: ResearchState) -> list[Claim]:
    return [claim for claim in state.get("claims", []) if claim.id not in state["direction"].given]


def _about(claim: Claim, state: ResearchState) -> str:
    """What a claim answers: of an angle that it says nothing of, the plain question, if there is just one."""
    plain = state.get("read_for", [])
    asked = next((q.text for q in state.get("questions", []) if q.id == claim.question), "")
    is_angle = len(plain) == 1 and asked == state["question"]
    return plain[0].id if is_angle and is_beside(claim.statement, asked) else claim.question


def _of(branch: str, name: str) -> str:
    return f"{branch}/{name}" if name else ""


def _explored(state: ResearchState) -> Direction:
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
            "leads": leads(state["question"], last.gaps, own, asked) if own else [],
            "because": f"{last.stop} ({last.because})" if last.stop else "",
        }
    )

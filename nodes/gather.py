"""The gathering: what branches brought becomes one body of evidence, and the next branches are chosen."""

from langgraph.types import Overwrite

from fathom.nodes.ports import Budget, ControlSignals
from fathom.planning.editing import wished
from fathom.planning.repeats import plain
from fathom.planning.tree import grown
from fathom.state import Direction, Query, ResearchState, RunConfig, SubQuestion


async def gather(
    state: ResearchState, *, run_config: RunConfig, signals: ControlSignals, budget: Budget
) -> ResearchState:
    """Make one list of sub-questions out of all branches', and let the tree grow when its level is done.

    A query that a person added meanwhile is a branch of this level; once they said stop, none is sent.

    Reads:  questions, claims, asked, directions, queries, judgements
    Writes: questions, claims, asked, directions, queries, is_finishing, is_spent
    """
    back = sum(direction.status != "open" for direction in state.get("directions", []))
    level = len(state.get("judgements", [])) + 1
    # What was taken before and is in no plan any more was taken out by a person: each gathering has its own.
    added = wished(await signals.added(level, f"gathering of {back} in"), state)
    state = {**state, "queries": [*state.get("queries", []), *added]}
    questions, names = _as_one(state.get("questions", []))
    update: dict[str, object] = {
        "questions": Overwrite(questions),
        "claims": [
            c.model_copy(update={"question": names[c.question]})
            for c in state.get("claims", [])
            if c.question in names
        ],
        "asked": [
            q.model_copy(update={"question": names[q.question]})
            for q in state.get("asked", [])
            if q.question in names
        ],
    }
    if added:
        update["queries"] = state["queries"]
    if await signals.is_stopping():
        update["is_finishing"] = True
    if (await budget.account()).is_out:
        update["is_spent"] = True
    return {**update, **_next(state, run_config)}  # type: ignore[typeddict-item]


def _as_one(questions: list[SubQuestion]) -> tuple[list[SubQuestion], dict[str, str]]:
    """Sub-questions that say the same are one; every name of one leads to the name it has from now on."""
    kept: dict[str, SubQuestion] = {}
    names: dict[str, str] = {}
    for question in questions:
        one = kept.setdefault(plain(question.text), question.model_copy(update={"id": f"Q{len(kept) + 1}"}))
        names[question.id] = one.id
    return list(kept.values()), names


def _next(state: ResearchState, run_config: RunConfig) -> ResearchState:
    directions, queries = state.get("directions", []), state.get("queries", [])
    told = {direction.id for direction in directions if direction.status != "open"}
    waiting = [query for query in queries if query.id not in told]
    if waiting:
        return _built_on(directions, queries, waiting[0]) if run_config.orchestration == "handoff" else {}
    kept = [_unwanted(direction, queries) for direction in directions]
    if run_config.strategy != "tree":
        return {"directions": kept}
    level = queries[0].round + 1 if queries else 1
    tree, chosen = grown(kept, level, run_config.branches or run_config.step)
    return {"directions": tree, "queries": [direction.query() for direction in chosen]}


def _unwanted(direction: Direction, queries: list[Query]) -> Direction:
    """A start that stands in no plan any more was taken out by a person."""
    is_start = not direction.parent and direction.status == "open"
    if not is_start or direction.id in {query.id for query in queries}:
        return direction
    return direction.model_copy(update={"status": "pruned", "because": "taken out of the plan"})


def _built_on(directions: list[Direction], queries: list[Query], after: Query) -> ResearchState:
    """Hand-off: the next branch asks with what the branch before it would have asked next."""
    before = [direction for direction in directions if direction.status == "explored"]
    heir = next((direction for direction in directions if direction.id == after.id), None)
    if not before or not before[-1].leads or heir is None:
        return {}
    new = [word for word in before[-1].leads[0].split() if word.casefold() not in heir.text.casefold()]
    passed = heir.model_copy(update={"text": " ".join([heir.text, *new]), "parent": before[-1].id})
    return {"directions": [passed], "queries": [passed.query() if q.id == after.id else q for q in queries]}
